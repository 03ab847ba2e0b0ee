import { screen, within } from '@testing-library/react';
import { useState } from 'react';
import { vi } from 'vitest';
import { MessagesTab } from '#src/features/messages/MessagesTab.tsx';
import { type Chat, chatsAtom, type MessageView } from '#src/store/chats.ts';
import { contactsAtom } from '#src/store/contacts.ts';
import { chat, createWorld, kaisa, loaded, veikko, withOpening } from './app.tsx';

/** The tab as the dashboard holds it: what is asked for opens, and takes the focus. */
export function Tab({ onFindContacts = () => undefined }: { onFindContacts?: () => void }) {
  const [open, setOpen] = useState<string | null>(null);
  const [focusRequest, setFocusRequest] = useState(0);
  return (
    <MessagesTab
      open={open}
      focusRequest={focusRequest}
      onOpen={(userId) => {
        setOpen(userId);
        setFocusRequest(focusRequest + 1);
      }}
      onClose={() => setOpen(null)}
      onFindContacts={onFindContacts}
    />
  );
}

/** Aino's messages with contacts Veikko and Kaisa; Veikko's chat opens when asked for. */
export function showMessages(chats: Record<string, Chat> = {}) {
  const world = createWorld();
  world.store.set(contactsAtom, loaded(veikko, kaisa));
  world.store.set(chatsAtom, chats);
  withOpening(world);
  const onFindContacts = vi.fn<() => void>();
  const user = world.show(<Tab onFindContacts={onFindContacts} />);
  return { ...world, user, onFindContacts };
}

export async function openVeikko(...messages: MessageView[]) {
  const world = showMessages({ [veikko.id]: chat(messages) });
  await world.user.click(screen.getByRole('button', { name: /veikko/ }));
  return { ...world, input: await screen.findByRole('textbox', { name: 'Message to veikko' }) };
}

/** The list repeats the newest message, so look in the chat. */
export function shownMessages() {
  return within(screen.getByRole('region', { name: 'Messages with veikko' }));
}
