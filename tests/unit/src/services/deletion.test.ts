import { beforeEach, describe, expect, it, type Mock, vi } from 'vitest';
import { AppError } from '#src/lib/appError.ts';
import type { Api, GroupSummary } from '#src/net/api.ts';
import { NetworkError } from '#src/net/errors.ts';
import { deleteAccount } from '#src/services/client/deletion.ts';
import { type DeletionProgress, deletionProgressAtom } from '#src/store/account.ts';
import { me, peer, refused, type TestDeps, testDeps } from './support/deps.ts';

function group(id: string, creatorId: string | null): GroupSummary {
  const created_at = '2026-03-01T12:00:00.000Z';
  return { id, name: 'c2VhbGVk', name_epoch: 1, creator_id: creatorId, member_count: 3, created_at };
}

let calls: string[];
let steps: DeletionProgress[];
let listGroups: Mock<Api['listGroups']>;
let deleteAtRelay: Mock<Api['deleteAccount']>;
let leave: Mock<(groupId: string) => Promise<void>>;
let deps: TestDeps;

beforeEach(() => {
  calls = [];
  steps = [];
  const note = (name: string) => async (id?: string) =>
    void calls.push(id === undefined ? name : `${name} ${id}`);
  listGroups = vi.fn<Api['listGroups']>().mockResolvedValue([]);
  deleteAtRelay = vi.fn<Api['deleteAccount']>().mockImplementation(note('delete account'));
  leave = vi.fn<(groupId: string) => Promise<void>>().mockImplementation(note('leave'));
  deps = testDeps({ api: { listGroups, deleteAccount: deleteAtRelay } });
  deps.store.sub(deletionProgressAtom, () => {
    const progress = deps.store.get(deletionProgressAtom);
    if (progress !== null) steps.push(progress);
  });
});

function run(): Promise<void> {
  return deleteAccount({
    deps,
    ownUserId: me,
    groups: { leave, delete: async (id) => void calls.push(`delete ${id}`) },
    session: {
      async endAccount(remove) {
        await remove();
        calls.push('end session');
      },
    },
  });
}

describe('deleting the account', () => {
  it('ends the groups first: own ones for everybody, the others by leaving', async () => {
    listGroups.mockResolvedValue([group('mine', me), group('theirs', peer), group('orphan', null)]);
    await run();
    expect(calls.slice(0, 3).toSorted()).toEqual(['delete mine', 'leave orphan', 'leave theirs']);
    expect(calls.slice(3)).toEqual(['delete account', 'end session']);
  });

  it('says how far it is, and nothing once it is over', async () => {
    listGroups.mockResolvedValue([group('mine', me), group('theirs', peer)]);
    await run();
    expect(steps).toEqual([
      { step: 'groups', done: 0, total: 0 },
      { step: 'groups', done: 0, total: 2 },
      { step: 'groups', done: 1, total: 2 },
      { step: 'groups', done: 2, total: 2 },
      { step: 'account' },
    ]);
    expect(deps.store.get(deletionProgressAtom)).toBeNull();
  });

  it('is not stopped by a group that can not be left', async () => {
    listGroups.mockResolvedValue([group('stuck', peer), group('theirs', peer)]);
    leave.mockImplementation(async (id) => {
      if (id === 'stuck') throw new AppError('stale-epoch', 'Failed to leave group. Please try again.');
      calls.push(`leave ${id}`);
    });
    await run();
    expect(calls).toEqual(['leave theirs', 'delete account', 'end session']);
    expect(deps.lines).toContain('warn group-not-left code="stale-epoch"');
  });

  it('is not stopped by a list of groups that can not be read', async () => {
    listGroups.mockRejectedValue(refused('internal'));
    await run();
    expect(calls).toEqual(['delete account', 'end session']);
  });

  it('does not wait for every group when nothing answers', async () => {
    listGroups.mockResolvedValue(Array.from({ length: 40 }, (_, at) => group(`group ${at}`, peer)));
    leave.mockRejectedValue(new AppError('unreachable', 'Failed to leave group. Please try again.'));
    await run();
    expect(leave.mock.calls.length).toBeLessThan(10);
  });

  it.each([
    ["the relay's sentence", refused('internal', 'Come back tomorrow.'), 'Come back tomorrow.'],
    [
      'a sentence of the client',
      new NetworkError('unreachable'),
      'Failed to delete account. Please try again.',
    ],
  ])('fails with %s, and the session goes on', async (_name, error, message) => {
    deleteAtRelay.mockRejectedValue(error);
    await expect(run()).rejects.toThrow(message);
    expect(calls).not.toContain('end session');
    expect(deps.store.get(deletionProgressAtom)).toBeNull();
  });
});
