import { act, screen, waitFor, within } from '@testing-library/react';
import { describe, expect, it, vi } from 'vitest';
import { ContactsTab } from '#src/features/contacts/ContactsTab.tsx';
import { chatEventsAtom } from '#src/store/chatEvents.ts';
import { chatsAtom, type MessageView } from '#src/store/chats.ts';
import { contactsAtom } from '#src/store/contacts.ts';
import { draftsAtom } from '#src/store/drafts.ts';
import { aino, chat, createWorld, loaded, message } from '../support/app.tsx';
import { showMessages } from '../support/messagesTab.tsx';

const conversations = () => within(screen.getByRole('region', { name: 'Conversations' }));
const row = () => conversations().queryByRole('button', { name: /Notes to self/ });

async function openNotes(...notes: MessageView[]) {
  const world = showMessages({ [aino.id]: chat(notes) });
  await world.user.click(screen.getByRole('button', { name: 'Search in contacts' }));
  await world.user.type(screen.getByRole('searchbox'), 'notes');
  await world.user.click(row()!);
  const input = await screen.findByRole('textbox', { name: 'Write a note' });
  return { ...world, input };
}

describe('the notes in the list of conversations', () => {
  it('are there once something is in them, with the newest as a preview, and as nobody’s message', () => {
    showMessages({ [aino.id]: chat([message(aino.id, 'Lamp oil')]) });
    expect(row()).toHaveTextContent(/Notes to self.*Lamp oil/);
    expect(row()).not.toHaveTextContent(/You:|Online|Offline|unread|Unknown/);
  });

  it('wait for a search until they are used, be it with a draft', async () => {
    const { store, user } = showMessages({ [aino.id]: chat([]) });
    expect(row()).toBeNull();
    await user.click(screen.getByRole('button', { name: 'Search in contacts' }));
    await user.type(screen.getByRole('searchbox'), 'SELF');
    expect(row()).toHaveTextContent('No notes yet');
    await user.clear(screen.getByRole('searchbox'));
    expect(row()).toBeNull();
    act(() => store.set(draftsAtom, { [aino.id]: 'Lamp' }));
    expect(row()).toHaveTextContent(/Draft: Lamp/);
  });

  it('leave the way to people where it was for who has none', () => {
    const { store } = showMessages({ [aino.id]: chat([message(aino.id, 'Lamp oil')]) });
    act(() => store.set(contactsAtom, loaded()));
    expect(screen.getByRole('button', { name: 'Find Contacts' })).toBeVisible();
    expect(row()).toBeVisible();
  });
});

describe('the notes', () => {
  it('say, while there are none, that own browsers alone read them, and take the next line', async () => {
    const { actions, input, user } = await openNotes();
    expect(actions.openChat).toHaveBeenLastCalledWith(aino.id);
    expect(screen.getByText(/Only your own browsers can read it/)).toBeVisible();
    await user.type(input, 'Lamp oil{Enter}');
    await waitFor(() => expect(actions.sendMessage).toHaveBeenCalledExactlyOnceWith(aino.id, 'Lamp oil'));
  });

  it('are all the person’s own, sent and never delivered or read, whichever browser wrote them', async () => {
    const { input } = await openNotes(
      message(aino.id, 'from here'),
      message(aino.id, 'from the phone', { status: 'received' }),
    );
    expect(input).toBeVisible();
    expect(screen.getByText('End-to-end encrypted. Only your own browsers can read it.')).toBeVisible();
    const list = within(screen.getByRole('region', { name: 'Notes' }));
    expect(list.getAllByRole('article')).toHaveLength(2);
    expect(list.queryByText(/Delivered|Read|Received/)).toBeNull();
    expect(screen.queryByRole('button', { name: /afety/ })).toBeNull();
  });

  it('show where another of the person’s browsers was shown something else, and hold nothing back', async () => {
    const { store } = await openNotes(message(aino.id, 'from here'));
    act(() => {
      store.set(chatsAtom, (chats) => ({
        ...chats,
        [aino.id]: chat([message(aino.id, 'x')], { isDoubted: true }),
      }));
      store.set(chatEventsAtom, {
        [aino.id]: [
          {
            conversationId: `self:${aino.id}`,
            seq: 1,
            senderId: aino.id,
            senderDeviceId: 'phone',
            timestamp: '2026-05-01T12:00:00.000Z',
            change: { kind: 'diverged' },
          },
        ],
      });
    });
    expect(screen.getByText(/another one of yours were shown different conversations/)).toBeVisible();
    expect(screen.queryByRole('button', { name: 'Send anyway' })).toBeNull();
  });
});

it('the contacts offer the notes beside the way to other people', async () => {
  const world = createWorld();
  world.store.set(contactsAtom, loaded());
  const onMessage = vi.fn<(userId: string) => void>();
  const user = world.show(
    <ContactsTab view="management" onViewChange={() => undefined} onMessage={onMessage} />,
  );
  await user.click(screen.getByRole('button', { name: 'Notes to self' }));
  expect(onMessage).toHaveBeenCalledExactlyOnceWith(aino.id);
});
