import { act, fireEvent, screen, waitFor, within } from '@testing-library/react';
import { describe, expect, it, vi } from 'vitest';
import { AppError } from '#src/lib/appError.ts';
import { type ConversationEvent, chatEventsAtom } from '#src/store/chatEvents.ts';
import {
  activeChatAtom,
  type Chat,
  chatsAtom,
  type MessageEvidence,
  type MessageView,
} from '#src/store/chats.ts';
import { presenceAtom } from '#src/store/connection.ts';
import { contactsAtom } from '#src/store/contacts.ts';
import { preferencesAtom } from '#src/store/preferences.ts';
import { aino, chat, kaisa, loaded, message, veikko } from '../support/app.tsx';
import { openVeikko, showMessages, shownMessages } from '../support/messagesTab.tsx';

const agreed = (confirmed: number, others: number): MessageEvidence['log'] => ({
  kind: 'agreed',
  confirmed,
  others,
});

const finding: ConversationEvent = {
  conversationId: 'direct:aino-id:veikko-id',
  seq: 2,
  senderId: veikko.id,
  senderDeviceId: 'device',
  timestamp: '2026-06-01T12:00:00.000Z',
  change: { kind: 'missing', count: 2 },
};

describe('a log that differs from the other person’s', () => {
  const event = (change: ConversationEvent['change'], senderId: string = veikko.id): ConversationEvent => ({
    ...finding,
    senderId,
    change,
  });

  it.each([
    [
      event({ kind: 'missing', count: 1 }),
      '1 message from veikko did not arrive.',
      /has given this browser fewer/,
    ],
    [
      event({ kind: 'missing', count: 3 }),
      '3 messages from veikko did not arrive.',
      /Ask veikko in another way/,
    ],
    [event({ kind: 'diverged' }), 'You and veikko were shown different conversations.', /something else/],
    [event({ kind: 'withheld', count: 2, upTo: 4 }), '2 messages did not arrive.', /too young for that/],
    [event({ kind: 'withheld', count: 0, upTo: 4 }, aino.id), 'Something did not arrive.', /Compare the two/],
    [
      event({ kind: 'diverged' }, aino.id),
      'This browser and another one of yours were shown different conversations.',
      /Compare the two browsers/,
    ],
  ])('is said calmly, and why on asking: %o', async (finding, line, why) => {
    const { store, user } = await openVeikko(message(veikko.id, 'Hello'));
    act(() => store.set(chatEventsAtom, { [veikko.id]: [finding] }));
    expect(
      shownMessages().getByText((_, element) => element?.textContent === line && element.tagName === 'P'),
    ).toBeVisible();
    await user.click(shownMessages().getByRole('button', { name: 'Why?' }));
    expect(
      shownMessages().getByText(
        (_, element) => element?.tagName === 'P' && why.test(element.textContent ?? ''),
      ),
    ).toBeVisible();
  });

  it('asks before it sends on', async () => {
    const { actions, store, user } = await openVeikko(message(veikko.id, 'Hello'));
    expect(screen.queryByRole('region', { name: 'Sending waits' })).toBeNull();
    act(() =>
      store.set(chatsAtom, (chats) => {
        const { messages } = chats[veikko.id] as Chat;
        return { ...chats, [veikko.id]: chat(messages, { isDoubted: true }) };
      }),
    );
    await user.click(screen.getByRole('button', { name: 'Send anyway' }));
    expect(actions.settleDoubt).toHaveBeenCalledExactlyOnceWith(veikko.id, 'sendAnyway');
  });
});

describe('an open chat', () => {
  it('leads the focus back to its row when it closes', async () => {
    const { user } = await openVeikko();
    await user.click(screen.getByRole('button', { name: 'Back to contacts' }));
    expect(screen.getByRole('button', { name: /veikko/ })).toHaveFocus();
  });

  it('restores the reader’s place, unless something is unread', async () => {
    const { user, store } = await openVeikko(...Array.from({ length: 200 }, () => message(veikko.id, 'Old')));
    const top = () => screen.getByRole('region', { name: 'Messages with veikko' }).scrollTop;
    const visitKaisa = async () => {
      await user.click(screen.getByRole('button', { name: /kaisa/ }));
      await user.click(screen.getByRole('button', { name: /veikko/ }));
    };
    const end = top();
    act(() => screen.getByRole('region', { name: 'Messages with veikko' }).scrollTo({ top: 3000 }));
    await visitKaisa();
    expect(top()).toBe(3000);
    act(() =>
      store.set(chatsAtom, (chats) => {
        const { messages } = chats[veikko.id] as Chat;
        return { ...chats, [veikko.id]: chat(messages, { unread: 2 }) };
      }),
    );
    await visitKaisa();
    expect(top()).toBe(end);
  });

  it('opens on a click and closes by the way back to the list', async () => {
    const { actions, user, store } = showMessages();
    expect(
      screen.getByText('Select a contact from the list to start a secure conversation'),
    ).toBeInTheDocument();
    await user.click(screen.getByRole('button', { name: /veikko/ }));
    expect(store.get(activeChatAtom)).toBe(veikko.id);
    expect(await screen.findByText(/No messages yet with/)).toHaveTextContent('No messages yet with veikko');
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

  it('shows messages with their author, time and state', async () => {
    const sent = message(aino.id, 'First');
    await openVeikko(
      sent,
      message(aino.id, 'Second', { seq: 1000 }),
      message(aino.id, 'Third', { status: 'sending', seq: null }),
      message(veikko.id, 'Fourth', { timestamp: new Date(2026, 5, 1, 9, 7).toISOString() }),
    );
    const bubble = (text: string) => shownMessages().getByText(text).closest('article');
    expect(bubble('First')).toHaveTextContent(/^You:.*Sent$/);
    expect(bubble('Third')).toHaveTextContent(/Sending$/);
    expect(bubble('Fourth')).toHaveTextContent(/^veikko:.*9:07 AM$/);
  });

  it('shows the sender’s time, and both where it can’t be right', async () => {
    const moment = (hour: number, minute: number, day = 1) =>
      new Date(2026, 5, day, hour, minute).toISOString();
    const timestamp = moment(12, 4);
    const by = (hour: number, minute: number, isBelieved: boolean, day = 1) => ({
      timestamp,
      clock: { sentAt: moment(hour, minute, day), isBelieved },
    });
    await openVeikko(
      message(veikko.id, 'First', by(12, 2, true)),
      message(veikko.id, 'Second', by(9, 31, false)),
      message(aino.id, 'Third', by(9, 31, false)),
      message(veikko.id, 'Fourth', by(9, 31, false, 2)),
    );
    const bubble = (text: string) => shownMessages().getByText(text).closest('article');
    expect(bubble('First')).toHaveTextContent(/12:02 PM$/);
    expect(bubble('Second')).toHaveTextContent(/12:04 PM, by veikko’s clock 9:31 AM$/);
    expect(bubble('Third')).toHaveTextContent(/12:04 PM, by your own clock 9:31 AM\s*Sent$/);
    expect(bubble('Fourth')).toHaveTextContent(/12:04 PM, by veikko’s clock June 2, 2026 9:31 AM$/);
  });

  it('marks messages that the other person has received or read, by their receipts', async () => {
    const { store } = await openVeikko(
      message(aino.id, 'First', { seq: 5 }),
      message(aino.id, 'Second', { seq: 6 }),
      message(aino.id, 'Third', { seq: 7 }),
    );
    const receipts = [{ userId: veikko.id, deliveredSeq: 6, readSeq: 5 }];
    act(() => {
      const before = store.get(chatsAtom)[veikko.id] as Chat;
      store.set(chatsAtom, { [veikko.id]: { ...before, ...chat(before.messages, { receipts }) } });
    });
    const bubble = (text: string) => shownMessages().getByText(text).closest('article');
    expect(bubble('First')).toHaveTextContent(/Read$/);
    expect(bubble('Second')).toHaveTextContent(/Delivered$/);
    expect(bubble('Third')).toHaveTextContent(/Sent$/);
    act(() => store.set(preferencesAtom, { readReceipts: false }));
    for (const text of ['First', 'Second', 'Third']) expect(bubble(text)).toHaveTextContent(/Sent$/);
    act(() => store.set(preferencesAtom, { readReceipts: true }));
  });

  it('offers to retry or discard a message that was not sent', async () => {
    const failed = message(aino.id, 'Lost', { status: 'failed', seq: null });
    const { actions, user, toasts } = await openVeikko(failed);
    actions.retryMessage.mockRejectedValue(new AppError('network', 'Network error.'));
    await user.click(screen.getByRole('button', { name: 'Retry' }));
    expect(actions.retryMessage).toHaveBeenCalledExactlyOnceWith(veikko.id, failed.messageId);
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

  it('shows the person’s name and presence above the messages', async () => {
    const { store } = await openVeikko();
    const header = () => screen.getByRole('heading', { level: 2, name: 'veikko' }).parentElement;
    expect(header()).toHaveTextContent(/veikko$/);
    // The initial, in the picture beside.
    expect(header()?.previousElementSibling).toHaveTextContent(/^V$/);
    act(() => store.set(presenceAtom, { online: {}, listed: true }));
    expect(header()).toHaveTextContent('veikkoOffline');
    act(() => store.set(presenceAtom, { online: { [veikko.id]: true }, listed: true }));
    expect(header()).toHaveTextContent('veikkoOnline');
  });

  it('shows a single emoji large, and nothing else', async () => {
    await openVeikko(message(veikko.id, '👍🏽'), message(veikko.id, '👍👍'));
    expect(shownMessages().getByText('👍🏽')).toHaveClass('emoji');
    expect(shownMessages().getByText('👍👍')).not.toHaveClass('emoji');
  });

  it('has texts for content of a newer version and for blank content', async () => {
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

  it('makes links of addresses, without a referrer', async () => {
    await openVeikko(message(veikko.id, 'See https://аpple.com/login <b>now</b>'));
    const link = shownMessages().getByRole('link', { name: 'https://аpple.com/login' });
    expect(link).toHaveAttribute('href', 'https://xn--pple-43d.com/login');
    expect(link).toHaveAttribute('target', '_blank');
    expect(link).toHaveAttribute('rel', 'noopener noreferrer nofollow');
    expect(link).toHaveAttribute('referrerpolicy', 'no-referrer');
    expect(link.querySelector('bdi')).toHaveAttribute('dir', 'ltr');
    expect(link.closest('p')).toHaveTextContent(
      'See https://аpple.com/login (goes to xn--pple-43d.com) <b>now</b>',
    );
    expect(shownMessages().getByText('(goes to xn--pple-43d.com)').tagName).toBe('BDI');
  });

  it.each([
    ['markup', '<script>alert(1)</script><img src=x onerror=alert(1)>'],
    ['marks that turn the direction', 'abc \u202E\u2066 gpj.exe \u200F\u061C'],
    ['joiners that draw nothing', 'a\u200D\u200B\u2060\uFEFF\u200Cb'],
    ['no spaces', 'ä'.repeat(32 * 1024)],
    ['lone surrogates', 'a\uD800b\uDFFF'],
    ['a heap of combining marks', `Z${'\u0301\u0489'.repeat(5000)}`],
    ['what looks like an escape or a value of a text', '\\u202e {name} <name/> \\x41'],
  ])('holds %s in messages, previews, announcements and names', async (_, hostile) => {
    const world = showMessages({ [kaisa.id]: chat([message(kaisa.id, hostile)]) });
    act(() => world.store.set(contactsAtom, loaded(veikko, { ...kaisa, username: hostile })));
    const conversations = within(screen.getByRole('region', { name: 'Conversations' }));
    const row = conversations.getAllByRole('button').at(1) as HTMLElement;
    await world.user.click(row);
    await screen.findByRole('article');
    const shown = [...document.querySelectorAll('article p[dir=auto]')].map((text) => text.textContent);
    expect(shown).toHaveLength(1);
    expect(hostile.startsWith(shown[0]?.replace(/…$/, '') ?? '?')).toBe(true);
    // Each by itself, so that it turns nothing that stands beside it; and the preview short.
    const [name, preview] = row.querySelectorAll('bdi');
    expect(hostile).toContain(name?.textContent.slice(0, 1));
    expect(preview?.textContent.length).toBeLessThanOrEqual(141);
    expect(document.querySelector('script, img, b')).toBeNull();
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

  describe('the menu of a message', () => {
    async function openMenu(shown: MessageView) {
      const world = await openVeikko(shown);
      await world.user.click(screen.getByRole('button', { name: 'Message actions' }));
      await screen.findByRole('menu');
      return world;
    }

    it('copies its text, and says so', async () => {
      const { user, toasts } = await openMenu(message(veikko.id, 'Copy <b>me</b>'));
      await user.click(screen.getByRole('menuitem', { name: 'Copy text' }));
      expect(await navigator.clipboard.readText()).toBe('Copy <b>me</b>');
      await waitFor(() => expect(toasts()).toEqual(['success: Message copied']));
    });

    it('says when the browser does not let it copy', async () => {
      const { user, toasts } = await openMenu(message(veikko.id, 'Copy me'));
      vi.spyOn(navigator.clipboard, 'writeText').mockRejectedValueOnce(new Error('denied'));
      await user.click(screen.getByRole('menuitem', { name: 'Copy text' }));
      await waitFor(() => expect(toasts()).toEqual(['error: The message could not be copied.']));
    });

    it('offers no text to copy where there is none', async () => {
      await openMenu(message(veikko.id, { kind: 'unknown' }));
      expect(screen.getByRole('menuitem', { name: 'Message details' })).toBeVisible();
      expect(screen.queryByRole('menuitem', { name: 'Copy text' })).toBeNull();
    });

    it('shows a message’s time, author and state', async () => {
      const { user } = await openMenu(
        message(aino.id, 'Mine', { timestamp: new Date(2026, 5, 1, 9, 7).toISOString() }),
      );
      await user.click(screen.getByRole('menuitem', { name: 'Message details' }));
      const dialog = await screen.findByRole('dialog', { name: 'Message details' });
      expect(dialog).toHaveTextContent(/From.*You.*Time.*June 1, 2026.*9:07.*Status.*Sent/);
      await user.keyboard('{Escape}');
      await waitFor(() => expect(screen.queryByRole('dialog', { name: 'Message details' })).toBeNull());
    });

    it.each<[string, Partial<MessageEvidence>, RegExp]>([
      ['agreed on by one browser', { log: agreed(0, 3) }, /Compared.*At least one other browser was shown/],
      ['agreed on by some', { log: agreed(1, 3) }, /Compared.*1 of 3 others have confirmed so far that they/],
      ['agreed on by all', { log: agreed(3, 3) }, /Compared.*All 3 others were shown the same up to here/],
      ['agreed on by the other one', { log: agreed(1, 1) }, /Compared.*The other person was shown the same/],
      ['not confirmed yet', { log: { kind: 'open' } }, /Compared.*Nothing differs so far/],
      [
        'not the same for everybody',
        { log: { kind: 'finding', event: finding } },
        /Compared.*2 messages from veikko did not arrive/,
      ],
    ])('shows what speaks for a message that is %s', async (_, rest, words) => {
      const sentAt = new Date(2026, 5, 1, 12, 2).toISOString();
      const said = message(veikko.id, 'Hello', { seq: 1234, clock: { sentAt, isBelieved: true } });
      const { actions, user } = await openMenu(said);
      actions.messageEvidence.mockResolvedValue({
        seq: 1234,
        senderId: veikko.id,
        senderDeviceId: '1a2b3c4d-0000-4000-8000-000000000000',
        isThisDevice: false,
        epoch: 12,
        suite: 0xf04d,
        log: agreed(0, 1),
        pinned: null,
        ...rest,
      });
      await user.click(screen.getByRole('menuitem', { name: 'Message details' }));
      const dialog = await screen.findByRole('dialog', { name: 'Message details' });
      await waitFor(() => expect(dialog).toHaveTextContent(words));
      expect(actions.messageEvidence).toHaveBeenCalledWith(said.conversationId, 1234);
      expect(dialog).toHaveTextContent(/Browser.*A browser of veikko \(1a2b3c4d\)/);
      expect(dialog).toHaveTextContent(/Written.*12:02.*, by veikko’s clock.*At the server/);
      expect(dialog).toHaveTextContent(/Place.*No. 1,234 in this conversation/);
      expect(dialog).toHaveTextContent(/also against quantum computers. With key set 12/);
    });

    it('opens where the pointer asks for it, and leaves links to the browser', async () => {
      await openVeikko(message(veikko.id, 'Look at https://example.com/'));
      expect(fireEvent.contextMenu(screen.getByRole('link', { name: 'https://example.com/' }))).toBe(true);
      expect(screen.queryByRole('menu')).toBeNull();
      expect(fireEvent.contextMenu(shownMessages().getByText(/Look at/))).toBe(false);
      expect(await screen.findByRole('menu')).toBeVisible();
    });
  });

  it('fetches older messages by itself, and after a failure when asked', async () => {
    const { actions, store, user, toasts } = await openVeikko(message(veikko.id, 'Newest'));
    actions.loadOlderMessages.mockRejectedValueOnce(new Error('boom'));
    act(() => {
      store.set(chatsAtom, (chats) => ({ [veikko.id]: { ...(chats[veikko.id] as Chat), hasOlder: true } }));
    });
    await waitFor(() =>
      expect(toasts()).toEqual(['error: Older messages could not be loaded. Please try again.']),
    );
    expect(actions.loadOlderMessages).toHaveBeenCalledExactlyOnceWith(veikko.id);
    actions.loadOlderMessages.mockImplementation(() => new Promise(() => undefined));
    await user.click(screen.getByRole('button', { name: 'Load older messages' }));
    expect(actions.loadOlderMessages).toHaveBeenCalledTimes(2);
    expect(screen.getByText('Loading older messages...')).toBeVisible();
  });
});
