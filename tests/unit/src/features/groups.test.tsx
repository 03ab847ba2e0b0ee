import { act, screen, waitFor, within } from '@testing-library/react';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { MessageAnnouncer } from '#src/features/messages/Announcer.tsx';
import { type ConversationEvent, chatEventsAtom } from '#src/store/chatEvents.ts';
import { activeGroupAtom, chatsAtom, type MessageView } from '#src/store/chats.ts';
import { contactsAtom } from '#src/store/contacts.ts';
import { groupsAtom } from '#src/store/groups.ts';
import { memberNamesAtom } from '#src/store/names.ts';
import { aino, chat, createWorld, kaisa, loaded, message, veikko } from '../support/app.tsx';
import { byKaisa, group, memberNames, members } from '../support/groups.ts';
import { openGroup, showGroups } from '../support/groupsTab.tsx';
import { setWindowWidth } from '../support/windowWidth.ts';

function event(seq: number, timestamp: string, change: ConversationEvent['change']): ConversationEvent {
  const conversationId = 'group:group-1';
  return { conversationId, seq, senderId: veikko.id, senderDeviceId: 'device', timestamp, change };
}

const shownMessages = () => within(screen.getByRole('region', { name: 'Messages in Sailing' }));

beforeEach(() => {
  setWindowWidth(1440);
});

afterEach(() => {
  vi.restoreAllMocks();
});

describe('an open group', () => {
  it('shows messages by day with who wrote them', async () => {
    const now = new Date();
    const yesterday = new Date(now.getFullYear(), now.getMonth(), now.getDate() - 1, 12).toISOString();
    await openGroup({}, [
      message(kaisa.id, 'Wind from the south', { timestamp: '2026-01-02T12:00:00.000Z' }),
      message(veikko.id, 'Sails are dry', { timestamp: yesterday }),
      message(aino.id, 'Leaving at six', { timestamp: now.toISOString() }),
    ]);
    const messages = shownMessages();
    expect(messages.getAllByRole('heading').map(({ textContent }) => textContent)).toEqual([
      expect.stringMatching(/2026/),
      'Yesterday',
      'Today',
    ]);
    expect(messages.getByText('Wind from the south').closest('article')).toHaveTextContent(/^kaisa:/);
    expect(messages.getByText('Leaving at six').closest('article')).toHaveTextContent(/^You:/);
    expect(messages.getByText('kaisa')).toBeVisible();
  });

  it('sends to the group, and offers to retry or discard a message that was not sent', async () => {
    const failed = message(aino.id, 'Lost', { status: 'failed', seq: null });
    const { actions, user } = await openGroup({}, [failed]);
    await user.type(screen.getByRole('textbox', { name: 'Message to Sailing' }), ' Ahoy {Enter}');
    expect(actions.sendMessage).toHaveBeenCalledExactlyOnceWith('group-group-1', 'Ahoy');
    await user.click(screen.getByRole('button', { name: 'Retry' }));
    expect(actions.retryMessage).toHaveBeenCalledExactlyOnceWith('group-group-1', failed.messageId);
    await user.click(screen.getByRole('button', { name: 'Discard' }));
    expect(actions.discardMessage).toHaveBeenCalledExactlyOnceWith(failed.messageId);
  });

  it('says that there are no messages yet, and closes', async () => {
    const { actions, store, user } = await openGroup();
    expect(screen.getByText('No messages yet')).toBeVisible();
    await user.click(screen.getByRole('button', { name: 'Back to groups' }));
    expect(actions.openGroup).toHaveBeenLastCalledWith(null);
    expect(store.get(activeGroupAtom)).toBeNull();
    expect(screen.getByText('Welcome to Group Chat')).toBeVisible();
    expect(screen.queryByRole('button', { name: 'Create Your First Group' })).toBeNull();
  });

  it('asks about people whom nobody vouches for, and sends anyway', async () => {
    const facts = {
      name: 'Sailing',
      leavingIds: [],
      withoutDeviceIds: [],
      removalDue: false,
      nameDue: false,
    };
    const unvouched = { ...facts, creatorId: kaisa.id, unvouchedIds: [veikko.id] };
    const { actions, user } = await openGroup(byKaisa, [], { group: unvouched });
    expect(screen.getByText(/this browser has not seen who did/)).toHaveTextContent(
      'New here since this browser was out of step: veikko. Only kaisa can add people',
    );
    expect(screen.queryByRole('button', { name: 'Remove' })).toBeNull();
    await user.click(screen.getByRole('button', { name: 'Send anyway' }));
    expect(actions.settleDoubt).toHaveBeenCalledExactlyOnceWith('group-group-1', 'sendAnyway');
  });

  it('has its creator keep or remove them', async () => {
    const facts = {
      name: 'Sailing',
      leavingIds: [],
      withoutDeviceIds: [],
      removalDue: false,
      nameDue: false,
    };
    const unvouched = { ...facts, creatorId: aino.id, unvouchedIds: [veikko.id] };
    const { actions, toasts, user } = await openGroup({}, [], { group: unvouched });
    await user.click(screen.getByRole('button', { name: 'Keep' }));
    expect(actions.settleDoubt).toHaveBeenCalledExactlyOnceWith('group-group-1', 'sendAnyway');
    actions.settleDoubt.mockRejectedValueOnce(new Error('boom'));
    await user.click(screen.getByRole('button', { name: 'Remove' }));
    expect(actions.settleDoubt).toHaveBeenLastCalledWith('group-group-1', 'removeUnvouched');
    expect(toasts()).toEqual(['error: That could not be saved.']);
  });

  it('says when it cannot be opened', async () => {
    const world = showGroups([group()]);
    world.actions.openGroup.mockRejectedValue(new Error('boom'));
    await world.user.click(screen.getByRole('button', { name: /Sailing/ }));
    await waitFor(() => expect(world.toasts()).toEqual(['error: Failed to get group details']));
  });

  it('tells a new member since when they can read, and a member from the start nothing', async () => {
    const joined = { joinedSeq: 4, joinedAt: '2026-06-01T12:00:00.000Z' };
    const { store } = await openGroup(byKaisa, [message(kaisa.id, 'Welcome aboard')], joined);
    const since = () => shownMessages().getByText(/You can read messages since/);
    expect(since()).toHaveTextContent(/since .*2026/);
    act(() => store.set(chatsAtom, { 'group-group-1': chat([], joined) }));
    expect(since()).toHaveTextContent(/since .*2026/);
    act(() => store.set(chatsAtom, { 'group-group-1': chat([], { ...joined, joinedSeq: 0 }) }));
    expect(screen.queryByText(/You can read messages since/)).toBeNull();
  });

  it('names people who joined and left, also former members', async () => {
    const { store } = await openGroup({ members: members.filter(({ userId }) => userId !== kaisa.id) }, [
      message(kaisa.id, 'Farewell', { seq: 2, timestamp: '2026-06-01T12:00:00Z' }),
    ]);
    act(() => {
      store.set(contactsAtom, loaded(veikko));
      store.set(memberNamesAtom, new Map([[kaisa.id, 'kaisa']]));
      store.set(chatEventsAtom, {
        'group-group-1': [
          event(1, '2026-06-01T11:00:00Z', { kind: 'members', added: [veikko.id], removed: [] }),
          event(3, '2026-06-01T13:00:00Z', { kind: 'members', added: [], removed: [kaisa.id] }),
        ],
      });
    });
    expect(shownMessages().getByText('Farewell').closest('section[aria-label]')).toHaveTextContent(
      /veikko joined the group.*Farewell.*kaisa left the group/,
    );
  });

  it('names a few of many who came, and says how many more', async () => {
    const added = Array.from({ length: 250 }, (_, index) => `person-${index}`);
    const { store } = await openGroup({}, [message(kaisa.id, 'Hello all')]);
    act(() => {
      store.set(memberNamesAtom, new Map(added.map((id, index) => [id, `Person ${index}`])));
      store.set(chatEventsAtom, {
        'group-group-1': [event(1, '2026-06-01T13:00:00Z', { kind: 'members', added, removed: [] })],
      });
    });
    expect(screen.getByText(/joined the group/)).toHaveTextContent(
      'Person 0, Person 1, Person 2, Person 3, Person 4 and 245 more joined the group',
    );
  });

  it.each([
    ['policy', /breaks the rules of this conversation/],
    ['invalid-credential', /not proven to belong to its owner/],
    ['wrong-epoch', /earlier change a second time/],
    ['bad-signature', /damaged, invented or altered/],
  ] as const)(
    'says calmly that a change was refused, and on asking why, with its code: %s',
    async (code, sentence) => {
      const { store, user } = await openGroup({}, [message(kaisa.id, 'Going on')]);
      act(() => {
        store.set(memberNamesAtom, new Map([[veikko.id, 'veikko']]));
        store.set(chatEventsAtom, {
          'group-group-1': [event(1, '2026-06-01T13:00:00Z', { kind: 'refused', code })],
        });
      });
      expect(shownMessages().getByText(/was refused by your browser/)).toBeVisible();
      expect(screen.queryByText(sentence)).toBeNull();
      await user.click(shownMessages().getByRole('button', { name: 'Why?' }));
      expect(screen.getByText(sentence)).toBeVisible();
      expect(screen.getByText(/It came in the name of/)).toHaveTextContent('veikko');
      expect(screen.getByText(code)).toBeVisible();
    },
  );

  it('says where this browser lost its place, and who came meanwhile', async () => {
    const { store } = await openGroup({}, [message(kaisa.id, 'Going on')]);
    const change = { kind: 'rejoined', added: [veikko.id], removed: [] } as const;
    act(() => store.set(chatEventsAtom, { 'group-group-1': [event(1, '2026-06-01T13:00:00Z', change)] }));
    expect(shownMessages().getByText(/had lost its place here and has come back/)).toBeVisible();
    expect(shownMessages().getByText(/joined the group/)).toHaveTextContent('veikko joined the group');
  });

  it('keeps the place of lines that belong among messages not loaded yet', async () => {
    const { store } = await openGroup();
    const change = { kind: 'members', added: [veikko.id], removed: [] } as const;
    act(() => store.set(chatEventsAtom, { 'group-group-1': [event(1, '2026-05-01T11:00:00Z', change)] }));
    expect(screen.getByText(/joined the group/)).toBeVisible();
    const newest = { ...chat([message(kaisa.id, 'Newest')]), hasOlder: true };
    act(() => store.set(chatsAtom, { 'group-group-1': newest }));
    expect(screen.queryByText(/joined the group/)).toBeNull();
  });

  it('can be read and removed but not written to when the server no longer has it', async () => {
    const { actions, store, user, toasts } = await openGroup({ ended: true }, [
      message(kaisa.id, 'Farewell'),
    ]);
    expect(
      screen.getByText('This group is no longer on the server.').closest('[role=status]'),
    ).toHaveTextContent('You can still read what this browser has.');
    expect(shownMessages().getByText('Farewell')).toBeVisible();
    expect(screen.queryByRole('textbox')).toBeNull();
    await user.click(screen.getByRole('button', { name: 'Group Details' }));
    expect(screen.queryByRole('button', { name: /^(?:Delete|Leave) Group$/ })).toBeNull();
    expect(screen.queryByRole('combobox')).toBeNull();

    const ask = () => user.click(screen.getByRole('button', { name: 'Remove from this browser' }));
    const dialog = async () => within(await screen.findByRole('alertdialog'));
    await ask();
    await user.click((await dialog()).getByRole('button', { name: 'Cancel' }));
    await waitFor(() => expect(screen.queryByRole('alertdialog')).toBeNull());
    expect(actions.removeGroup).not.toHaveBeenCalled();
    actions.removeGroup.mockImplementationOnce(async () => store.set(groupsAtom, loaded()));
    await ask();
    await user.click((await dialog()).getByRole('button', { name: 'Remove from this browser' }));
    expect(actions.removeGroup).toHaveBeenCalledExactlyOnceWith('group-1');
    await waitFor(() => expect(toasts()).toEqual(['success: Group "Sailing" removed from this browser']));
  });

  it('says that one has left it in another browser, and can be read and removed', async () => {
    await openGroup({ ended: true, left: true }, [message(kaisa.id, 'Farewell')]);
    const notice = screen.getByText('You left this group.').closest<HTMLElement>('[role=status]');
    expect(notice).toHaveTextContent('You did that in another browser.');
    expect(screen.queryByText('This group is no longer on the server.')).toBeNull();
    expect(shownMessages().getByText('Farewell')).toBeVisible();
    expect(screen.queryByRole('textbox')).toBeNull();
    expect(screen.getByRole('button', { name: 'Remove from this browser' })).toBeVisible();
  });

  it('has a calm line where this browser was added again', async () => {
    const { store } = await openGroup();
    act(() =>
      store.set(chatEventsAtom, {
        'group-group-1': [event(1, '2026-05-01T11:00:00Z', { kind: 'returned' })],
      }),
    );
    expect(screen.getByText(/This browser was added to the group again/)).toBeVisible();
  });

  it('says calmly when the server’s list of members differs, and checks again', async () => {
    const { actions, user } = await openGroup({
      mismatch: { unlisted: [kaisa.id], withoutKeys: ['stranger-id'] },
    });
    const banner = screen.getByText(/not the same as who holds the group’s keys/).closest('[role=status]');
    expect(banner).toHaveTextContent('Not on the server’s list: kaisa');
    expect(banner).toHaveTextContent('Cannot read yet: has no keys: Unknown User');
    expect(banner).toHaveTextContent('What you write waits until both agree.');
    await user.click(screen.getByRole('button', { name: 'Check again' }));
    expect(actions.loadGroupDetails).toHaveBeenCalledExactlyOnceWith('group-1');
  });

  it.each([
    ['policy', /Neither its creator nor you added this browser/],
    ['identity-changed', /not proven to be who they were before/],
    ['invalid-credential', /not proven to belong to its owner/],
    ['wrong-group', /those of another group/],
    ['missing-key', /not for this browser/],
    ['invalid-tree', /does not hold together/],
  ] as const)('says calmly why this browser refused to enter: %s', async (refusal, sentence) => {
    await openGroup({ refusal, members: [] }, [], { status: 'outside' });
    const notice = screen.getByText(/refused to enter this group/).closest('[role=status]');
    expect(notice).toHaveTextContent(sentence);
  });

  it.each([
    ['outside', /not in the group yet/],
    ['forked', /entering it again/],
  ] as const)('says that it is still entering: %s', async (status, sentence) => {
    await openGroup({}, [], { status });
    expect(screen.getByText(sentence)).toBeVisible();
  });

  it.each([
    [{ ended: true, refusal: 'policy' }, /no longer on the server/],
    [{ refusal: 'policy' }, /refused to enter this group/],
    [{}, /not the same as who holds the group’s keys/],
  ] as const)(
    'says the most serious alone, of a group that differs and is still entering: %j',
    async (rest, sentence) => {
      const mismatch = { unlisted: [kaisa.id], withoutKeys: [] };
      await openGroup({ ...rest, mismatch }, [], { status: 'forked' });
      const pane = within(screen.getByRole('region', { name: 'Group Sailing' }));
      // The composer's says how many people a mention may mean: of none, nothing.
      const said = pane.getAllByRole('status').map(({ textContent }) => textContent);
      expect(said.filter((text) => text !== '')).toEqual([expect.stringMatching(sentence)]);
    },
  );
});

describe('a message that arrives in a group', () => {
  it('is announced to screen readers with its author and group, unless it was there before', async () => {
    const world = createWorld();
    const first = message(kaisa.id, 'Wind from the south');
    world.store.set(groupsAtom, loaded(group()));
    world.store.set(memberNamesAtom, memberNames);
    world.store.set(chatsAtom, { 'group-group-1': chat([first]) });
    world.show(<MessageAnnouncer />);
    const output = screen.getByRole('status');
    expect(output).toBeEmptyDOMElement();
    const arrive = (...messages: MessageView[]) =>
      act(() => world.store.set(chatsAtom, { 'group-group-1': chat([first, ...messages]) }));
    arrive(message(veikko.id, 'Sails are dry'));
    await waitFor(() =>
      expect(output).toHaveTextContent('New message from veikko in Sailing: Sails are dry'),
    );
    arrive(message('stranger-id', 'Ahoy'));
    await waitFor(() => expect(output).toHaveTextContent('New message from Unknown User in Sailing: Ahoy'));
    arrive(message(aino.id, 'Mine'));
    expect(output).toHaveTextContent('Ahoy');
  });
});
