import { act, screen, waitFor, within } from '@testing-library/react';
import { beforeEach, describe, expect, it } from 'vitest';
import { AskedFirst } from '#src/features/profile/AskedFirst.tsx';
import { AppError } from '#src/lib/appError.ts';
import { type GroupInvitation, groupInvitationsAtom } from '#src/store/groupInvitations.ts';
import { aino, createWorld, kaisa, veikko } from '../support/app.tsx';
import { group } from '../support/groups.ts';
import { showGroups } from '../support/groupsTab.tsx';
import { setWindowWidth } from '../support/windowWidth.ts';

beforeEach(() => {
  setWindowWidth(1440);
});

const invitation = (change: Partial<GroupInvitation> = {}): GroupInvitation => ({
  group_id: 'group-1',
  creator: kaisa,
  user: aino,
  member_count: 3,
  accepted: false,
  created_at: '2026-03-01T12:00:00.000Z',
  ...change,
});

async function shown(...invitations: GroupInvitation[]) {
  const world = showGroups([group()]);
  act(() => world.store.set(groupInvitationsAtom, invitations));
  world.actions.updateGroupInvitations.mockImplementation(async (change) => {
    if (change !== undefined) world.store.set(groupInvitationsAtom, []);
  });
  const list = within(await screen.findByRole('list', { name: 'Invitations' }));
  return { ...world, list };
}

describe('an invitation to a group', () => {
  it('is shown above the groups, and joined or declined there', async () => {
    const { actions, list, store, user } = await shown(invitation());
    expect(list.getByRole('listitem')).toHaveTextContent(
      'kaisa asks whether you want to be in a group. Its members, and its name, are shown once you are in it.3 members',
    );
    await user.click(list.getByRole('button', { name: 'Join' }));
    expect(actions.updateGroupInvitations).toHaveBeenLastCalledWith({ groupId: 'group-1', answer: 'accept' });
    await waitFor(() => expect(screen.getByRole('heading', { name: 'Groups' })).toHaveFocus());
    act(() => store.set(groupInvitationsAtom, [invitation()]));
    await user.click(screen.getByRole('button', { name: 'Decline' }));
    expect(actions.updateGroupInvitations).toHaveBeenLastCalledWith({
      groupId: 'group-1',
      answer: 'decline',
    });
    await waitFor(() => expect(screen.queryByRole('list', { name: 'Invitations' })).toBeNull());
  });

  it('that was accepted waits for its creator, and can be taken back', async () => {
    const { actions, list, user } = await shown(invitation({ accepted: true }));
    expect(list.getByRole('listitem')).toHaveTextContent(
      'You want to be in a group of kaisa, who can add you now.',
    );
    expect(list.queryByRole('button', { name: 'Join' })).toBeNull();
    await user.click(list.getByRole('button', { name: 'Take back' }));
    expect(actions.updateGroupInvitations).toHaveBeenLastCalledWith({
      groupId: 'group-1',
      answer: 'decline',
    });
  });

  it("of the person's own is withdrawn, and who has accepted is added by a tap alone", async () => {
    const own = { creator: aino, user: veikko };
    const { actions, list, store, user } = await shown(invitation(own));
    expect(list.getByRole('listitem')).toHaveTextContent(
      'veikko is asked to be in Sailing, and has not answered.',
    );
    expect(list.queryByRole('button', { name: 'Add' })).toBeNull();
    act(() => store.set(groupInvitationsAtom, [invitation({ ...own, accepted: true })]));
    expect(list.getByRole('listitem')).toHaveTextContent('veikko would like to be in Sailing.');
    expect(actions.addGroupMembers).not.toHaveBeenCalled();
    await user.click(list.getByRole('button', { name: 'Add' }));
    expect(actions.addGroupMembers).toHaveBeenCalledExactlyOnceWith('group-1', [veikko.id]);
    await user.click(list.getByRole('button', { name: 'Withdraw' }));
    expect(actions.updateGroupInvitations).toHaveBeenLastCalledWith({
      groupId: 'group-1',
      withdrawFrom: veikko.id,
    });
  });

  it('that can not be answered stays, and says so', async () => {
    const { actions, list, toasts, user } = await shown(invitation());
    actions.updateGroupInvitations.mockRejectedValue(new AppError('network', 'No connection.'));
    await user.click(list.getByRole('button', { name: 'Join' }));
    await waitFor(() => expect(toasts()).toEqual(['error: No connection.']));
    expect(list.getByRole('button', { name: 'Join' })).toBeEnabled();
  });
});

describe('being asked first', () => {
  it('is switched on, and is as it was where the relay has not taken it', async () => {
    const { actions, show } = createWorld();
    const user = show(<AskedFirst id="groups" />);
    const toggle = await screen.findByRole('switch', { name: 'Ask me first' });
    expect(toggle).toHaveAccessibleDescription('Your contacts can add you to their groups.');
    await user.click(toggle);
    expect(actions.updateAskedFirst).toHaveBeenLastCalledWith(true);
    expect(toggle).toHaveAccessibleDescription(/^Contacts who want you in a group ask you first\./);
    actions.updateAskedFirst.mockRejectedValueOnce(new AppError('network', 'No connection.'));
    await user.click(toggle);
    expect(await screen.findByRole('alert')).toHaveTextContent('No connection.');
    expect(toggle).toBeChecked();
  });

  it('says when it can not be loaded', async () => {
    const { actions, show } = createWorld();
    actions.updateAskedFirst.mockRejectedValue(new Error('boom'));
    show(<AskedFirst id="groups" />);
    expect(await screen.findByText('This could not be loaded or changed. Please try again.')).toBeVisible();
    expect(screen.queryByRole('switch')).toBeNull();
  });
});
