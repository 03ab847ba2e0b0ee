import { act, screen, waitFor, within } from '@testing-library/react';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { MessageAnnouncer } from '../../../../src/features/messages/Announcer.tsx';
import { activeGroupAtom, chatsAtom, type MessageView } from '../../../../src/store/chats.ts';
import { contactsAtom } from '../../../../src/store/contacts.ts';
import { type Group, groupProgressAtom, groupsAtom } from '../../../../src/store/groups.ts';
import { aino, chat, createWorld, kaisa, loaded, message, veikko } from '../support/app.tsx';
import { group, members } from '../support/groups.ts';
import { showGroups } from '../support/groupsTab.tsx';
import { setWindowWidth } from '../support/windowWidth.ts';

async function openGroup(
  groupRest: Partial<Group> = {},
  messages: readonly MessageView[] = [],
  state: Parameters<typeof chat>[1] = {},
) {
  const shown = group(groupRest);
  const world = showGroups([shown], { 'group-group-1': chat(messages, state) });
  await world.user.click(screen.getByRole('button', { name: /members?$|Creator$/ }));
  return world;
}

async function openDetails(groupRest: Partial<Group> = {}, state: Parameters<typeof chat>[1] = {}) {
  const world = await openGroup(groupRest, [], state);
  await world.user.click(screen.getByRole('button', { name: 'Group Details' }));
  return { ...world, details: within(screen.getByRole('region', { name: 'Group Details' })) };
}

const shownMessages = () => within(screen.getByRole('region', { name: 'Messages in Sailing' }));
const byKaisa = { creatorId: kaisa.id };

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
    expect(messages.getByText('Wind from the south').closest('li')).toHaveTextContent(/^kaisa:/);
    expect(messages.getByText('Leaving at six').closest('li')).toHaveTextContent(/^You:/);
    expect(messages.getByText('kaisa')).toBeVisible();
  });

  it('sends to the group, and offers what to do about what was not sent', async () => {
    const failed = message(aino.id, 'Lost', { status: 'failed', seq: null });
    const { actions, user } = await openGroup({}, [failed]);
    await user.type(screen.getByRole('textbox', { name: 'Message to Sailing' }), ' Ahoy {Enter}');
    expect(actions.sendMessage).toHaveBeenCalledExactlyOnceWith('group-group-1', 'Ahoy');
    await user.click(screen.getByRole('button', { name: 'Retry' }));
    expect(actions.retryMessage).toHaveBeenCalledExactlyOnceWith(failed.messageId);
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

  it('says when it cannot be opened', async () => {
    const world = showGroups([group()]);
    world.actions.openGroup.mockRejectedValue(new Error('boom'));
    await world.user.click(screen.getByRole('button', { name: /Sailing/ }));
    await waitFor(() => expect(world.toasts()).toEqual(['error: Failed to get group details']));
  });

  it('tells a new member since when they can read, and somebody from the start nothing', async () => {
    const joined = { joinedSeq: 4, joinedAt: '2026-06-01T12:00:00.000Z' };
    const { store } = await openGroup(byKaisa, [message(kaisa.id, 'Welcome aboard')], joined);
    const since = () => shownMessages().getByText(/You can read messages since/);
    expect(since()).toHaveTextContent(/since .*2026/);
    act(() => store.set(chatsAtom, { 'group-group-1': chat([], joined) }));
    expect(since()).toHaveTextContent(/since .*2026/);
    act(() => store.set(chatsAtom, { 'group-group-1': chat([], { ...joined, joinedSeq: 0 }) }));
    expect(screen.queryByText(/You can read messages since/)).toBeNull();
  });

  it('says who came and who left, also somebody who is no member any more', async () => {
    const { store } = await openGroup({}, [
      message(kaisa.id, 'Farewell', { timestamp: '2026-06-01T12:00:00Z' }),
    ]);
    act(() =>
      store.set(
        groupsAtom,
        loaded(
          group({
            members: members.filter(({ userId }) => userId !== kaisa.id),
            changes: [
              { id: '1', kind: 'added', userId: veikko.id, timestamp: '2026-06-01T11:00:00Z' },
              { id: '2', kind: 'removed', userId: kaisa.id, timestamp: '2026-06-01T13:00:00Z' },
            ],
          }),
        ),
      ),
    );
    act(() => store.set(contactsAtom, loaded(veikko)));
    const text = screen.getByRole('region', { name: 'Messages in Sailing' }).textContent;
    expect(text).toMatch(/veikko joined the group.*Farewell.*kaisa left the group/);
  });

  it('keeps the place of notices that belong among messages not loaded yet', async () => {
    const { store } = await openGroup({
      changes: [{ id: '1', kind: 'added', userId: veikko.id, timestamp: '2026-05-01T11:00:00Z' }],
    });
    expect(screen.getByText(/joined the group/)).toBeVisible();
    const newest = { ...chat([message(kaisa.id, 'Newest')]), hasOlder: true };
    act(() => store.set(chatsAtom, { 'group-group-1': newest }));
    expect(screen.queryByText(/joined the group/)).toBeNull();
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
  ])('says calmly why this browser refused to enter: %s', async (refusal, sentence) => {
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
});

describe('a message that arrives in a group', () => {
  it('is told to screen readers with who wrote it and where, unless it was there before', () => {
    const world = createWorld();
    const first = message(kaisa.id, 'Wind from the south');
    world.store.set(groupsAtom, loaded(group()));
    world.store.set(chatsAtom, { 'group-group-1': chat([first]) });
    world.show(<MessageAnnouncer />);
    const output = screen.getByRole('status');
    expect(output).toBeEmptyDOMElement();
    const arrive = (...messages: MessageView[]) =>
      act(() => world.store.set(chatsAtom, { 'group-group-1': chat([first, ...messages]) }));
    arrive(message(veikko.id, 'Sails are dry'));
    expect(output).toHaveTextContent('New message from veikko in Sailing: Sails are dry');
    arrive(message('stranger-id', 'Ahoy'));
    expect(output).toHaveTextContent('New message from Unknown User in Sailing: Ahoy');
    arrive(message(aino.id, 'Mine'));
    expect(output).toHaveTextContent('Ahoy');
  });
});

describe('the details of a group', () => {
  it('list who holds its keys, with who made it and who one is', async () => {
    const { details, user } = await openDetails(byKaisa);
    expect(details.getAllByRole('listitem').map(({ textContent }) => textContent)).toEqual([
      'AainoYou2 devices',
      'KkaisaCreator1 device',
      'Vveikko1 device',
    ]);
    await user.click(screen.getByRole('button', { name: 'Close details' }));
    expect(screen.queryByRole('region', { name: 'Group Details' })).toBeNull();
  });

  it('say who has left and who differs from the server’s list', async () => {
    const { details } = await openDetails(
      { mismatch: { unlisted: [veikko.id], withoutKeys: ['late-id'] } },
      { group: { name: 'Sailing', creatorId: aino.id, departedIds: [kaisa.id] } },
    );
    expect(details.getAllByRole('listitem').map(({ textContent }) => textContent)).toEqual([
      'AainoCreatorYou2 devices',
      'KkaisaHas left',
      'VveikkoNot on the server’s list',
      'UUnknown UserCannot read yet: has no keys',
    ]);
  });

  it('let the creator add a contact who is not in it', async () => {
    const { actions, user, toasts } = await openDetails({ members: members.slice(0, 2) });
    expect(screen.getByRole('button', { name: 'Add' })).toBeDisabled();
    const options = screen.getAllByRole('option').map(({ textContent }) => textContent);
    expect(options).toEqual(['Choose a contact', 'veikko']);
    await user.selectOptions(screen.getByRole('combobox', { name: 'Add Member' }), 'veikko');
    actions.addGroupMember.mockRejectedValueOnce(new Error('boom'));
    await user.click(screen.getByRole('button', { name: 'Add' }));
    await waitFor(() => expect(toasts()).toEqual(['error: Failed to add member. Please try again.']));
    await user.click(screen.getByRole('button', { name: 'Add' }));
    expect(actions.addGroupMember).toHaveBeenLastCalledWith('group-1', veikko.id);
    await waitFor(() => expect(toasts()).toContain('success: veikko added to the group!'));
  });

  it('show how far adding is', async () => {
    const { actions, store, user } = await openDetails({ members: members.slice(0, 2) });
    actions.addGroupMember.mockReturnValue(new Promise(() => {}));
    await user.selectOptions(screen.getByRole('combobox', { name: 'Add Member' }), 'veikko');
    await user.click(screen.getByRole('button', { name: 'Add' }));
    act(() => store.set(groupProgressAtom, 'submitting'));
    expect(screen.getByRole('button', { name: 'Adding...' })).toBeDisabled();
    expect(screen.getByText('Handing over the sealed group…')).toBeVisible();
  });

  it('say when there is nobody to add', async () => {
    const { store } = await openDetails();
    expect(screen.getByText('All your contacts are in this group.')).toBeVisible();
    act(() => store.set(contactsAtom, loaded()));
    expect(screen.getByText(/There are none yet/)).toBeVisible();
    expect(screen.queryByRole('combobox')).toBeNull();
  });

  it('offer members neither adding nor deleting, and the creator no leaving', async () => {
    const { store } = await openDetails({ ...byKaisa, members: members.slice(0, 2) });
    expect(screen.queryByRole('combobox')).toBeNull();
    expect(screen.queryByRole('button', { name: 'Delete Group' })).toBeNull();
    expect(screen.getByRole('button', { name: 'Leave Group' })).toBeVisible();
    act(() => store.set(groupsAtom, loaded(group({ members: members.slice(0, 2) }))));
    expect(screen.getByRole('combobox', { name: 'Add Member' })).toBeVisible();
    expect(screen.getByRole('button', { name: 'Delete Group' })).toBeVisible();
    expect(screen.queryByRole('button', { name: 'Leave Group' })).toBeNull();
  });

  it.each([
    {
      rest: byKaisa,
      action: 'leaveGroup',
      button: 'Leave Group',
      question: 'Are you sure you want to leave this group?',
      failed: 'error: Failed to leave group. Please try again.',
      done: 'success: You left the group "Sailing"',
    },
    {
      rest: {},
      action: 'deleteGroup',
      button: 'Delete Group',
      question: 'Are you sure you want to delete this group?',
      failed: 'error: Failed to delete group. Please try again.',
      done: 'success: Group "Sailing" deleted!',
    },
  ] as const)('ask before $action', async ({ rest, action, button, question, failed, done }) => {
    const { actions, store, user, toasts } = await openDetails(rest);
    const ask = async () => {
      await user.click(screen.getByRole('button', { name: button }));
      return within(await screen.findByRole('alertdialog', { name: question }));
    };
    await user.click((await ask()).getByRole('button', { name: 'Cancel' }));
    await waitFor(() => expect(screen.queryByRole('alertdialog')).toBeNull());
    expect(actions[action]).not.toHaveBeenCalled();

    actions[action].mockRejectedValueOnce(new Error('boom'));
    await user.click((await ask()).getByRole('button', { name: button }));
    await waitFor(() => expect(toasts()).toEqual([failed]));

    await waitFor(() => expect(screen.queryByRole('alertdialog')).toBeNull());
    actions[action].mockImplementationOnce(async () => store.set(groupsAtom, loaded()));
    await user.click((await ask()).getByRole('button', { name: button }));
    await waitFor(() => expect(toasts()).toEqual([failed, done]));
    expect(actions[action]).toHaveBeenLastCalledWith('group-1');
    expect(await screen.findByText('Welcome to Group Chat')).toBeVisible();
  });
});
