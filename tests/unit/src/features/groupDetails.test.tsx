import { act, screen, waitFor, within } from '@testing-library/react';
import type { UserEvent } from '@testing-library/user-event';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { offlineAtom } from '#src/store/connection.ts';
import { contactsAtom } from '#src/store/contacts.ts';
import { type Group, groupProgressAtom, groupsAtom } from '#src/store/groups.ts';
import { memberNamesAtom } from '#src/store/names.ts';
import { aino, type chat, kaisa, loaded, veikko } from '../support/app.tsx';
import { byKaisa, group, members } from '../support/groups.ts';
import { openGroup } from '../support/groupsTab.tsx';
import { setWindowWidth } from '../support/windowWidth.ts';

async function openDetails(groupRest: Partial<Group> = {}, state: Parameters<typeof chat>[1] = {}) {
  const world = await openGroup(groupRest, [], state);
  await world.user.click(screen.getByRole('button', { name: 'Group Details' }));
  return { ...world, details: within(screen.getByRole('region', { name: 'Group Details' })) };
}

beforeEach(() => {
  setWindowWidth(1440);
});

afterEach(() => {
  vi.restoreAllMocks();
});

describe('the details of a group', () => {
  it('open from the chat’s header, beside the name and the member count', async () => {
    await openDetails(byKaisa);
    const header = screen.getByRole('heading', { level: 2, name: 'Sailing' }).parentElement;
    expect(header).toHaveTextContent('Sailing3 members');
    expect(screen.getByRole('button', { name: 'Group Details' })).toHaveAttribute('aria-expanded', 'true');
  });

  it('list the members who hold its keys, and mark the creator and oneself', async () => {
    const { details, user } = await openDetails(byKaisa);
    expect(details.getAllByRole('listitem').map(({ textContent }) => textContent)).toEqual([
      'AainoYou2 devices',
      'KkaisaCreator1 device',
      'Vveikko1 device',
    ]);
    await user.click(screen.getByRole('button', { name: 'Close details' }));
    expect(screen.queryByRole('region', { name: 'Group Details' })).toBeNull();
  });

  it('mark who has left and who differs from the server’s list', async () => {
    const { details } = await openDetails(
      { mismatch: { unlisted: [veikko.id], withoutKeys: ['late-id'] } },
      {
        group: {
          name: 'Sailing',
          creatorId: aino.id,
          leavingIds: [kaisa.id],
          withoutDeviceIds: [],
          unvouchedIds: [],
          removalDue: false,
          nameDue: false,
        },
      },
    );
    expect(details.getAllByRole('listitem').map(({ textContent }) => textContent)).toEqual([
      'AainoCreatorYou2 devices',
      'KkaisaHas left',
      'VveikkoNot on the server’s list',
      'UUnknown UserCannot read yet: has no keys',
    ]);
  });

  it('are loaded when they are opened, and say when that fails', async () => {
    const { actions, store, toasts, user } = await openDetails(byKaisa);
    expect(actions.loadGroupDetails).toHaveBeenCalledExactlyOnceWith('group-1');
    expect(toasts()).toEqual([]);
    actions.loadGroupDetails.mockRejectedValue(new Error('boom'));
    const toggle = () => user.click(screen.getByRole('button', { name: 'Group Details' }));
    await toggle();
    await toggle();
    expect(toasts()).toEqual(['error: Failed to get group details']);
    act(() => store.set(offlineAtom, true));
    await toggle();
    await toggle();
    expect(actions.loadGroupDetails).toHaveBeenCalledTimes(2);
  });

  it('list hundreds of members, and follow joins and leaves', async () => {
    const many = Array.from({ length: 250 }, (_, at) => ({
      userId: `member-${at}`,
      username: `m${String(at).padStart(3, '0')}`,
      devices: 2,
    }));
    const { details, store } = await openDetails({ members: many });
    act(() => store.set(memberNamesAtom, new Map(many.map(({ userId, username }) => [userId, username]))));
    const listed = () => details.getAllByRole('listitem').map(({ textContent }) => textContent.slice(1, 5));
    await waitFor(() => expect(listed()).toEqual(many.map(({ username }) => username)));

    const [, ...others] = many;
    act(() => {
      store.set(groupsAtom, loaded(group({ members: others })));
    });
    await waitFor(() => expect(listed()).toEqual(others.map(({ username }) => username)));
  });

  const choose = async (user: UserEvent, ...names: string[]) => {
    for (const name of names) {
      await user.type(screen.getByRole('combobox', { name: 'Add Member' }), name);
      await user.click(await screen.findByRole('option', { name }));
    }
    await user.keyboard('{Escape}');
  };

  it('let the creator add a contact who is not in it', async () => {
    const { actions, user, toasts } = await openDetails({ members: members.slice(0, 2) });
    expect(screen.getByRole('button', { name: 'Add' })).toBeDisabled();
    await user.click(screen.getByRole('combobox', { name: 'Add Member' }));
    expect((await screen.findAllByRole('option')).map(({ textContent }) => textContent)).toEqual(['veikko']);
    expect(screen.queryAllByRole('button', { name: 'Dismiss', hidden: true })).toEqual([]);
    expect(screen.getAllByRole('button', { name: 'Close', hidden: true })).toHaveLength(2);
    await choose(user, 'veikko');
    actions.addGroupMembers.mockRejectedValueOnce(new Error('boom'));
    await user.click(screen.getByRole('button', { name: 'Add' }));
    await waitFor(() => expect(toasts()).toEqual(['error: Failed to add member. Please try again.']));
    await user.click(screen.getByRole('button', { name: 'Add' }));
    expect(actions.addGroupMembers).toHaveBeenLastCalledWith('group-1', [veikko.id]);
    await waitFor(() => expect(toasts()).toContain('success: veikko added to the group!'));
    expect(screen.getByRole('button', { name: 'Add' })).toBeDisabled();
  });

  it('let the creator add several at once, and name people whose devices are still to come', async () => {
    const { actions, store, user, toasts, details } = await openDetails({ members: members.slice(0, 1) });
    const others = Array.from({ length: 120 }, (_, index) => ({
      id: `person-${index}`,
      username: `person${index}`,
      email: `person${index}@example.fi`,
    }));
    act(() => store.set(contactsAtom, loaded(veikko, kaisa, ...others)));
    await choose(user, 'kaisa', 'veikko');
    expect(details.getByText(/2 people chosen/)).toHaveTextContent('2 people chosen: kaisa, veikko');
    await user.click(screen.getByRole('combobox', { name: 'Add Member' }));
    expect(screen.getByText('100 of 122 shown. Type a name to find others.')).toBeVisible();
    await user.type(screen.getByRole('combobox', { name: 'Add Member' }), 'nobody at all');
    expect(screen.getByText('No contacts found')).toBeVisible();
    await user.keyboard('{Escape}');
    await user.click(screen.getByRole('button', { name: 'Choose nobody' }));
    expect(screen.getByRole('button', { name: 'Add' })).toBeDisabled();
    await user.click(screen.getByRole('button', { name: 'Choose all (122)' }));
    actions.addGroupMembers.mockResolvedValueOnce({ asked: [veikko.id], withoutDevice: [kaisa.id] });
    await user.click(screen.getByRole('button', { name: 'Add' }));
    expect(new Set(actions.addGroupMembers.mock.lastCall?.[1]).size).toBe(122);
    await waitFor(() =>
      expect(toasts()).toEqual([
        'info: 120 people added to the group! kaisa could not be added: they have to open Sinetti first. veikko: asked first, and added once they accept.',
      ]),
    );
  });

  it('show how far adding is', async () => {
    const { actions, store, user } = await openDetails({ members: members.slice(0, 2) });
    actions.addGroupMembers.mockReturnValue(new Promise(() => {}));
    await choose(user, 'veikko');
    await user.click(screen.getByRole('button', { name: 'Add' }));
    act(() => store.set(groupProgressAtom, { step: 'gathering-keys', done: 120, total: 250 }));
    expect(screen.getByRole('button', { name: 'Adding...' })).toBeDisabled();
    expect(screen.getByText('Adding 250 people: 120 of 250 have given their keys…')).toBeVisible();
    act(() => store.set(groupProgressAtom, { step: 'adding', done: 250, total: 998 }));
    expect(screen.getByText('Adding 998 people: 250 of 998 are in…')).toBeVisible();
    act(() => store.set(groupProgressAtom, { step: 'submitting' }));
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
