import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { Api } from '#src/net/api.ts';
import { updateAskedFirst } from '#src/services/account/askedFirst.ts';
import { updateGroupInvitations } from '#src/services/groups/invitations.ts';
import { type GroupInvitation, groupInvitationsAtom } from '#src/store/groupInvitations.ts';
import { currentUserAtom } from '#src/store/session.ts';
import { toastsAtom } from '#src/store/toasts.ts';
import { testDeps } from './support/deps.ts';
import { account } from './support/exported.ts';

const me = account.profile;
const bert = { id: '00000000-0000-4000-8000-00000000000b', username: 'bert' };
const invitation = (change: Partial<GroupInvitation> = {}): GroupInvitation => ({
  group_id: '00000000-0000-4000-8000-0000000000ff',
  creator: bert,
  user: { id: me.id, username: me.username },
  member_count: 3,
  accepted: false,
  created_at: '2026-03-01T12:00:00.000Z',
  ...change,
});

const listGroupInvitations = vi.fn<Api['listGroupInvitations']>();
const answerGroupInvitation = vi.fn<Api['answerGroupInvitation']>();
const withdrawGroupInvitation = vi.fn<Api['withdrawGroupInvitation']>();
let deps: ReturnType<typeof testDeps>;
const toasts = () => deps.store.get(toastsAtom).map(({ text }) => text);

beforeEach(() => {
  listGroupInvitations.mockReset().mockResolvedValue([]);
  answerGroupInvitation.mockReset().mockResolvedValue(undefined);
  withdrawGroupInvitation.mockReset().mockResolvedValue(undefined);
  deps = testDeps({ api: { listGroupInvitations, answerGroupInvitation, withdrawGroupInvitation } });
  deps.store.set(currentUserAtom, me);
});

describe('invitations to groups', () => {
  it('are told once as they come, and once as somebody accepts', async () => {
    listGroupInvitations.mockResolvedValue([invitation()]);
    for (const _time of [1, 2]) await updateGroupInvitations(deps);
    expect(deps.store.get(groupInvitationsAtom)).toEqual([invitation()]);
    const asks = 'bert asks whether you want to be in a group. Answer in Groups.';
    expect(toasts()).toEqual([asks]);
    // The person's own answer is no news.
    listGroupInvitations.mockResolvedValue([invitation({ accepted: true })]);
    await updateGroupInvitations(deps);
    const own = { creator: invitation().user, user: bert };
    listGroupInvitations.mockResolvedValue([invitation(own)]);
    await updateGroupInvitations(deps);
    expect(toasts()).toEqual([asks]);
    listGroupInvitations.mockResolvedValue([invitation({ ...own, accepted: true })]);
    await updateGroupInvitations(deps);
    expect(toasts()).toEqual([asks, 'bert would like to be in your group. Add them in Groups.']);
  });

  it('are answered and withdrawn at the relay, and then read anew', async () => {
    const groupId = invitation().group_id;
    await updateGroupInvitations(deps, { groupId, answer: 'accept' });
    await updateGroupInvitations(deps, { groupId, answer: 'decline' });
    await updateGroupInvitations(deps, { groupId, withdrawFrom: bert.id });
    expect(answerGroupInvitation.mock.calls).toEqual([
      [groupId, true],
      [groupId, false],
    ]);
    expect(withdrawGroupInvitation).toHaveBeenCalledExactlyOnceWith(groupId, bert.id);
    expect(listGroupInvitations).toHaveBeenCalledTimes(3);
  });

  it('that can not be answered or read say so', async () => {
    answerGroupInvitation.mockRejectedValue(new Error('boom'));
    listGroupInvitations.mockRejectedValue(new Error('boom'));
    const answer = { groupId: invitation().group_id, answer: 'accept' } as const;
    await expect(updateGroupInvitations(deps, answer)).rejects.toMatchObject({
      name: 'AppError',
      message: "This couldn't be done. Please try again.",
    });
    expect(listGroupInvitations).not.toHaveBeenCalled();
    await expect(updateGroupInvitations(deps)).rejects.toMatchObject({
      message: "Invitations to groups couldn't be loaded.",
    });
  });
});

it('being asked first is read from what the relay holds, and changed there', async () => {
  const accountData = vi.fn<Api['accountData']>().mockResolvedValue({ ...account, asked_first: true });
  const putAskedFirst = vi.fn<Api['putAskedFirst']>().mockResolvedValue(undefined);
  deps = testDeps({ api: { accountData, putAskedFirst } });
  expect(await updateAskedFirst(deps, undefined)).toBe(true);
  expect(await updateAskedFirst(deps, false)).toBe(false);
  expect(putAskedFirst).toHaveBeenCalledExactlyOnceWith(false);
  putAskedFirst.mockRejectedValue(new Error('boom'));
  await expect(updateAskedFirst(deps, true)).rejects.toMatchObject({
    message: 'This could not be loaded or changed. Please try again.',
  });
});
