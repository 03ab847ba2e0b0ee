import { act, screen, within } from '@testing-library/react';
import { useState } from 'react';
import { vi } from 'vitest';
import { EmojiMemoryProvider } from '#src/features/emoji/EmojiMemoryProvider.tsx';
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
  const user = world.show(
    <EmojiMemoryProvider>
      <Tab onFindContacts={onFindContacts} />
    </EmojiMemoryProvider>,
  );
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

export type World = Awaited<ReturnType<typeof openVeikko>>;

/** The bubble with a text, or the sentence in its place. */
export function bubble(text: string): HTMLElement {
  const article = shownMessages().getByText(text, { selector: 'p' }).closest('article');
  if (article === null) throw new Error(`no bubble says ${text}`);
  return article;
}

/** Opens the menu of a message. */
export async function openMenu({ user }: World, text: string) {
  await user.click(within(bubble(text)).getByRole('button', { name: 'Message actions' }));
  return within(await screen.findByRole('menu', { name: 'Message actions' }));
}

/** Chooses an item of a message's menu. */
export async function choose(world: World, text: string, item: string) {
  const menu = await openMenu(world, text);
  await world.user.click(menu.getByRole('menuitem', { name: item }));
}

/** Opens the menu of a message, and answers its items without the row of emojis. */
export async function items(world: World, text: string) {
  const menu = await openMenu(world, text);
  return menu.getAllByRole('menuitem').flatMap(({ textContent }) => textContent || []);
}

/** Changes messages of the open chat as the services do. */
export function change(
  { store }: World,
  chosen: (message: MessageView) => boolean,
  rest: Partial<MessageView>,
) {
  act(() =>
    store.set(chatsAtom, (chats) => {
      const before = chats[veikko.id] as Chat;
      const messages = before.messages.map((one) => (chosen(one) ? { ...one, ...rest } : one));
      return { ...chats, [veikko.id]: { ...before, messages } };
    }),
  );
}
