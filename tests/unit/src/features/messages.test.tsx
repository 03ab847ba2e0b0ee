import { act, screen, waitFor, within } from '@testing-library/react';
import { useState } from 'react';
import { describe, expect, it, vi } from 'vitest';
import { MessagesTab } from '../../../../src/features/messages/MessagesTab.tsx';
import { AppError } from '../../../../src/lib/appError.ts';
import { activeChatAtom, type Chat, chatsAtom, type MessageView } from '../../../../src/store/chats.ts';
import { presenceAtom } from '../../../../src/store/connection.ts';
import { contactsAtom } from '../../../../src/store/contacts.ts';
import { currentUserAtom } from '../../../../src/store/session.ts';
import { aino, chat, createWorld, kaisa, loaded, message, veikko } from '../support/app.tsx';

/** The tab as the dashboard holds it: what is asked for opens, and takes the focus. */
function Tab({ onFindContacts = () => undefined }: { onFindContacts?: () => void }) {
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
function showMessages(chats: Record<string, Chat> = {}) {
  const world = createWorld();
  world.store.set(contactsAtom, loaded(veikko, kaisa));
  world.store.set(chatsAtom, chats);
  world.actions.openChat.mockImplementation(async (userId) => world.store.set(activeChatAtom, userId));
  const onFindContacts = vi.fn<() => void>();
  const user = world.show(<Tab onFindContacts={onFindContacts} />);
  return { ...world, user, onFindContacts };
}

async function openVeikko(...messages: MessageView[]) {
  const world = showMessages({ [veikko.id]: chat(messages) });
  await world.user.click(screen.getByRole('button', { name: /veikko/ }));
  return { ...world, input: screen.getByRole('textbox', { name: 'Message to veikko' }) };
}

/** The list repeats the newest message, so look in the chat. */
function shownMessages() {
  return within(screen.getByRole('region', { name: 'Messages with veikko' }));
}

describe('the list of conversations', () => {
  it('shows presence, what was said last and how much is unread, the newest first', () => {
    const { store } = showMessages({
      [kaisa.id]: chat([message(kaisa.id, 'The dog sends its regards.')], { unread: 3 }),
      [veikko.id]: chat([message(aino.id, 'On my way', { timestamp: '2026-05-01T12:00:00.000Z' })]),
    });
    act(() => store.set(presenceAtom, { [veikko.id]: true }));
    const rows = within(screen.getByRole('region', { name: 'Conversations' })).getAllByRole('listitem');
    expect(rows[0]).toHaveTextContent(/kaisa.*Offline.*The dog sends its regards\..*3 unread/);
    expect(rows[1]).toHaveTextContent(/veikko.*Online.*You: On my way/);
  });

  it('filters by name while its search is on', async () => {
    const { user } = showMessages();
    await user.click(screen.getByRole('button', { name: 'Search in contacts' }));
    await user.type(screen.getByRole('searchbox'), 'VEIK');
    expect(screen.queryByRole('button', { name: /kaisa/ })).toBeNull();
    await user.type(screen.getByRole('searchbox'), 'zz');
    expect(screen.getByText('No contacts found matching "VEIKzz"')).toBeVisible();
    await user.click(screen.getByRole('button', { name: 'Search in contacts' }));
    expect(screen.getByRole('button', { name: /kaisa/ })).toBeVisible();
  });

  it('says that contacts load, but for 5 seconds at most', async () => {
    vi.useFakeTimers();
    try {
      createWorld().show(<Tab />);
      expect(screen.getByText('Loading contacts...')).toBeVisible();
      await act(() => vi.advanceTimersByTimeAsync(4999));
      expect(screen.queryByText('No contacts yet')).toBeNull();
      await act(() => vi.advanceTimersByTimeAsync(1));
      expect(screen.queryByText('Loading contacts...')).toBeNull();
      expect(screen.getByText('No contacts yet')).toBeVisible();
    } finally {
      vi.useRealTimers();
    }
  });

  it('leads to finding people when there is nobody', async () => {
    const { store, user, onFindContacts } = showMessages();
    act(() => store.set(contactsAtom, loaded()));
    await user.click(screen.getByRole('button', { name: 'Find Contacts' }));
    expect(onFindContacts).toHaveBeenCalledOnce();
  });

  it('keeps a conversation with somebody who is no contact any more, and leaves groups to their own tab', () => {
    showMessages({
      'former-id': chat([message('former-id', 'Farewell')]),
      'group-1': chat([message(veikko.id, 'For all of you')]),
    });
    expect(screen.getByRole('button', { name: /Unknown User.*Farewell/ })).toBeVisible();
    expect(screen.queryByText('For all of you')).toBeNull();
  });
});

describe('an open chat', () => {
  it('is asked for by a click and closed when the tab goes away', async () => {
    const { actions, user, store } = showMessages();
    expect(
      screen.getByText('Select a contact from the list to start a secure conversation'),
    ).toBeInTheDocument();
    await user.click(screen.getByRole('button', { name: /veikko/ }));
    expect(store.get(activeChatAtom)).toBe(veikko.id);
    expect(screen.getByText(/No messages yet with/)).toHaveTextContent('No messages yet with veikko');
    await user.click(screen.getByRole('button', { name: 'Back to contacts' }));
    expect(actions.openChat).toHaveBeenLastCalledWith(null);
  });

  it('says when it cannot be loaded', async () => {
    const { actions, user, toasts } = showMessages();
    actions.openChat.mockRejectedValue(new Error('boom'));
    await user.click(screen.getByRole('button', { name: /veikko/ }));
    await waitFor(() => expect(toasts()).toEqual(['error: Failed to load messages. Please try again.']));
    await user.click(screen.getByRole('button', { name: /veikko/ }));
    expect(actions.openChat).toHaveBeenCalledTimes(2);
  });

  it('shows messages with their author, time and fate', async () => {
    const sent = message(aino.id, 'First');
    await openVeikko(
      sent,
      message(aino.id, 'Second', { seq: 1000 }),
      message(aino.id, 'Third', { status: 'sending', seq: null }),
      message(veikko.id, 'Fourth', { timestamp: new Date(2026, 5, 1, 9, 7).toISOString() }),
    );
    const bubble = (text: string) => shownMessages().getByText(text).closest('li');
    expect(bubble('First')).toHaveTextContent(/^You:.*Sent$/);
    expect(bubble('Third')).toHaveTextContent(/Sending$/);
    expect(bubble('Fourth')).toHaveTextContent(/^veikko:.*9:07 AM$/);
  });

  it('tells what the other person has read', async () => {
    const { store } = await openVeikko(
      message(aino.id, 'First', { seq: 5 }),
      message(aino.id, 'Second', { seq: 6 }),
    );
    act(() => {
      const before = store.get(chatsAtom)[veikko.id] as Chat;
      store.set(chatsAtom, { [veikko.id]: { ...before, ...chat(before.messages, { peerReadSeq: 5 }) } });
    });
    expect(shownMessages().getByText('First').closest('li')).toHaveTextContent(/Read$/);
    expect(shownMessages().getByText('Second').closest('li')).toHaveTextContent(/Sent$/);
  });

  it('offers what to do about a message that was not sent', async () => {
    const failed = message(aino.id, 'Lost', { status: 'failed', seq: null });
    const { actions, user, toasts } = await openVeikko(failed);
    actions.retryMessage.mockRejectedValue(new AppError('network', 'Network error.'));
    await user.click(screen.getByRole('button', { name: 'Retry' }));
    expect(actions.retryMessage).toHaveBeenCalledExactlyOnceWith(failed.messageId);
    await waitFor(() => expect(toasts()).toEqual(['error: Network error.']));
    await user.click(screen.getByRole('button', { name: 'Discard' }));
    expect(actions.discardMessage).toHaveBeenCalledExactlyOnceWith(failed.messageId);
  });

  it.each([
    ['before-join', /sent before this browser became one of your devices/],
    ['storage-erased', /stored messages were erased/],
    ['damaged', /damaged or changed on its way/],
    ['unknown-device', /not proven to belong to its sender/],
    ['rules', /breaks the rules of this conversation/],
  ] as const)('explains what it cannot decrypt: %s', async (reason, explanation) => {
    const { user } = await openVeikko(message(veikko.id, { kind: 'undecryptable', reason }));
    const bubble = shownMessages();
    expect(bubble.getByText("Message couldn't be decrypted")).toBeVisible();
    expect(screen.queryByText(explanation)).toBeNull();
    await user.click(bubble.getByRole('button', { name: 'Why?' }));
    expect(await screen.findByText(explanation)).toBeVisible();
  });

  it('has words for content of a newer version and for none', async () => {
    await openVeikko(message(veikko.id, { kind: 'unknown' }), message(veikko.id, ' \n '));
    const messages = shownMessages();
    expect(messages.getByText('Update the app to see this message')).toBeVisible();
    expect(messages.getByText('No message content')).toBeVisible();
  });

  it('shows markup as text, and lets each text choose its direction', async () => {
    const markup = '<img src=x onerror="alert(1)"><b>bold</b>';
    await openVeikko(message(veikko.id, markup), message(veikko.id, 'שלום\u202E!'));
    const messages = shownMessages();
    expect(messages.getByText(markup)).toBeVisible();
    expect(document.querySelector('img, b')).toBeNull();
    expect(messages.getByText(/שלום/)).toHaveAttribute('dir', 'auto');
  });

  it('folds a text of 64 KiB', async () => {
    const text = 'x'.repeat(64 * 1024);
    const { user } = await openVeikko(message(veikko.id, text));
    const messages = shownMessages();
    expect(messages.getByText(/^x+…$/).textContent.length).toBeLessThan(2000);
    await user.click(messages.getByRole('button', { name: 'Show more' }));
    expect(messages.getByText(text)).toBeVisible();
    await user.click(messages.getByRole('button', { name: 'Show less' }));
    expect(messages.queryByText(text)).toBeNull();
  });

  it('fetches older messages', async () => {
    const { actions, store, user, toasts } = await openVeikko(message(veikko.id, 'Newest'));
    act(() => {
      store.set(chatsAtom, (chats) => ({ [veikko.id]: { ...(chats[veikko.id] as Chat), hasOlder: true } }));
    });
    actions.loadOlderMessages.mockRejectedValueOnce(new Error('boom'));
    await user.click(screen.getByRole('button', { name: 'Load older messages' }));
    expect(actions.loadOlderMessages).toHaveBeenCalledExactlyOnceWith(veikko.id);
    await waitFor(() =>
      expect(toasts()).toEqual(['error: Older messages could not be loaded. Please try again.']),
    );
  });
});

describe('writing', () => {
  it('sends the trimmed text on Enter and empties the input', async () => {
    const { actions, user, input } = await openVeikko();
    await user.type(input, '  Sauna at seven?  {Enter}');
    expect(actions.sendMessage).toHaveBeenCalledExactlyOnceWith(veikko.id, 'Sauna at seven?');
    expect(input).toHaveValue('');
    expect(input).toHaveFocus();
  });

  it('starts a new line on Shift and Enter', async () => {
    const { actions, user, input } = await openVeikko();
    await user.type(input, 'one{Shift>}{Enter}{/Shift}two');
    expect(actions.sendMessage).not.toHaveBeenCalled();
    await user.click(screen.getByRole('button', { name: 'Send' }));
    expect(actions.sendMessage).toHaveBeenCalledExactlyOnceWith(veikko.id, 'one\ntwo');
  });

  it('sends nothing that is blank', async () => {
    const { actions, user, input } = await openVeikko();
    expect(input).toHaveAttribute('placeholder', 'Type a message...');
    expect(screen.getByRole('button', { name: 'Send' })).toBeDisabled();
    await user.type(input, '   {Shift>}{Enter}{/Shift} {Enter}');
    expect(screen.getByRole('button', { name: 'Send' })).toBeDisabled();
    expect(actions.sendMessage).not.toHaveBeenCalled();
  });

  it('leaves Enter to the input method while it composes', async () => {
    const { actions, input } = await openVeikko();
    act(() => {
      input.focus();
      input.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', isComposing: true, bubbles: true }));
    });
    expect(actions.sendMessage).not.toHaveBeenCalled();
  });

  it('gives the text back when it could not even be queued', async () => {
    const { actions, user, input, toasts } = await openVeikko();
    actions.sendMessage.mockRejectedValue(new AppError('not-signed-in', 'Please log in to send messages.'));
    await user.type(input, 'Hello{Enter}');
    await waitFor(() => expect(input).toHaveValue('Hello'));
    expect(toasts()).toEqual(['error: Please log in to send messages.']);
  });

  it('keeps a draft for each chat', async () => {
    const { user, input } = await openVeikko();
    await user.type(input, 'For Veikko');
    await user.click(screen.getByRole('button', { name: /kaisa/ }));
    expect(screen.getByRole('textbox', { name: 'Message to kaisa' })).toHaveValue('');
    await user.click(screen.getByRole('button', { name: /veikko/ }));
    expect(screen.getByRole('textbox', { name: 'Message to veikko' })).toHaveValue('For Veikko');
  });

  it('shows no draft of one person to the next', async () => {
    const { user, input, store } = await openVeikko();
    await user.type(input, 'Secret');
    act(() => store.set(currentUserAtom, { ...aino, id: 'somebody-else' }));
    expect(input).toHaveValue('');
    act(() => store.set(currentUserAtom, aino));
    expect(input).toHaveValue('');
  });

  it('takes the focus whenever its chat is asked for', async () => {
    const { user, input } = await openVeikko();
    expect(input).toHaveFocus();
    await user.click(screen.getByRole('button', { name: 'Search in contacts' }));
    expect(input).not.toHaveFocus();
    await user.click(screen.getByRole('button', { name: /veikko/ }));
    expect(input).toHaveFocus();
  });

  it('refuses what the relay would not carry, counted in bytes', async () => {
    const { actions, user, input } = await openVeikko();
    await user.click(input);
    await user.paste('ä'.repeat(32 * 1024));
    expect(screen.getByRole('button', { name: 'Send' })).toBeEnabled();
    await user.type(input, 'x{Enter}');
    expect(screen.getByRole('alert')).toHaveTextContent('This message is too long to send.');
    expect(input).toBeInvalid();
    expect(actions.sendMessage).not.toHaveBeenCalled();
  });
});
