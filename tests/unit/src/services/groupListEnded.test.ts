import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { GroupDetails, GroupSummary } from '#src/net/api.ts';
import { timings } from '#src/services/core/timings.ts';
import { creationLock } from '#src/services/groups/groupEndings.ts';
import { chatsAtom, groupKeyOf } from '#src/store/chats.ts';
import { groupsAtom } from '#src/store/groups.ts';
import { settled } from '../net/support/fakeClock.ts';
import { peer, refused } from './support/deps.ts';
import {
  deps,
  details,
  forget,
  getGroup,
  getLeaveStatement,
  groupState,
  hasLeft,
  idOf,
  keys,
  list,
  listGroups,
  loaded,
  onForgotten,
  outside,
  sailing,
  sailors,
  setKeys,
  setSummaries,
  shown,
  summary,
  tell,
  withGroupList,
} from './support/groupList.ts';

withGroupList();

describe('a group that the relay no longer lists', () => {
  beforeEach(async () => {
    await loaded();
    setSummaries([]);
    getGroup.mockClear();
    getGroup.mockRejectedValue(refused('not-found'));
  });

  it('stays as one that has ended, nothing of it is erased, and the relay is asked for it no more', async () => {
    await list.refresh();
    await settled();
    expect(forget).not.toHaveBeenCalled();
    expect(shown()).toMatchObject({
      ended: true,
      left: false,
      name: 'Sailing',
      memberCount: 2,
      mismatch: null,
    });
    expect(list.hasEnded(idOf(sailing))).toBe(true);
    expect(deps.store.get(chatsAtom)[groupKeyOf(sailing)]).toBeDefined();
    list.onOpened(sailing);
    await list.refresh();
    await settled();
    expect(getGroup).not.toHaveBeenCalled();
    // The relay refuses what waits to be sent there.
    expect(await list.maySend(idOf(sailing))).toBe('yes');
  });

  it('goes on when the relay has it again', async () => {
    await list.refresh();
    await settled();
    setSummaries([summary(sailing)]);
    getGroup.mockResolvedValue(details);
    await list.refresh();
    await settled();
    expect(shown()).toMatchObject({ ended: false });
    expect(list.hasEnded(idOf(sailing))).toBe(false);
    await deps.clock.advance(timings.endedCheck);
    expect(shown()).toMatchObject({ ended: false });
  });

  it('stays ended when an answer from before arrives late', async () => {
    let answer: (details: GroupDetails) => void = () => undefined;
    getGroup.mockReturnValueOnce(
      new Promise((resolve) => {
        answer = resolve;
      }),
    );
    const reconciled = list.reconcile(sailing);
    await list.refresh();
    await settled();
    answer(details);
    await reconciled;
    expect(shown()).toMatchObject({ ended: true });
  });

  it.each([true, false])(
    "counts as left by this person when another device's statement verifies: %s",
    async (holds) => {
      setSummaries([summary(sailing, { creator_id: peer })]);
      await list.refresh();
      setSummaries([]);
      getLeaveStatement.mockResolvedValue({ statement: 'c2lnbmVk' });
      hasLeft.mockResolvedValue(holds);
      await list.refresh();
      await settled();
      expect(hasLeft).toHaveBeenCalledExactlyOnceWith(idOf(sailing), 'c2lnbmVk');
      expect(forget).not.toHaveBeenCalled();
      expect(shown()).toMatchObject({ ended: true, left: holds });
      setSummaries([summary(sailing, { creator_id: peer })]);
      await list.refresh();
      await settled();
      expect(shown()).toMatchObject({ ended: false, left: false });
    },
  );

  it('never counts as left by its creator, and no statement is asked for', async () => {
    await list.refresh();
    await settled();
    expect(shown()).toMatchObject({ ended: true, left: false });
    expect(getLeaveStatement).not.toHaveBeenCalled();
  });

  it('is told nothing more once the list that is being read leaves it out, until another one has it', async () => {
    expect(await list.isLeft(idOf(sailing))).toBe(false);
    const reading = list.refresh();
    expect(await list.isLeft(idOf(sailing))).toBe(true);
    await reading;
    await settled();
    expect(await list.isLeft(idOf(sailing))).toBe(true);
    setSummaries([summary(sailing, { creator_id: peer })]);
    await list.refresh();
    expect(await list.isLeft(idOf(sailing))).toBe(false);
  });

  it('does not count as ended while this browser gives it up, but is told nothing more', async () => {
    await list.giveUp(sailing, async () => {
      await list.refresh();
      await settled();
      expect(shown()).toMatchObject({ ended: false });
      expect(await list.isLeft(idOf(sailing))).toBe(true);
    });
    expect(await list.isLeft(idOf(sailing))).toBe(true);
    expect(forget).toHaveBeenCalledExactlyOnceWith(idOf(sailing));
    expect(getLeaveStatement).not.toHaveBeenCalled();
    expect(getGroup).not.toHaveBeenCalled();
  });

  it('has ended when giving it up has failed', async () => {
    const givenUp = list.giveUp(sailing, () => Promise.reject(refused('internal')));
    await expect(givenUp).rejects.toMatchObject({ code: 'internal' });
    expect(forget).not.toHaveBeenCalled();
    await list.refresh();
    await settled();
    expect(shown()).toMatchObject({ ended: true });
  });

  it('goes with its records when the person removes it', async () => {
    getGroup.mockRejectedValue(refused('not-found'));
    await list.refresh();
    await settled();
    await list.forget(sailing);
    expect(forget).toHaveBeenCalledExactlyOnceWith(idOf(sailing));
    expect(onForgotten).toHaveBeenCalledExactlyOnceWith(sailing);
    expect(deps.store.get(groupsAtom).items).toEqual([]);
    expect(deps.store.get(chatsAtom)).toEqual({});
  });

  it.each([
    ['was never more than begun', { status: 'starting', group: sailors }],
    ['left nothing here', { status: 'outside', group: null, members: [] }],
  ] as const)('is forgotten when it %s', async (_what, change) => {
    setKeys(groupState({ ...change, members: [] }));
    getGroup.mockRejectedValue(refused('not-found'));
    await list.refresh();
    await settled();
    expect(forget).toHaveBeenCalledExactlyOnceWith(idOf(sailing));
    expect(shown()).toBeUndefined();
  });

  it('goes when another tab has erased it meanwhile', async () => {
    getGroup.mockRejectedValue(refused('not-found'));
    await list.refresh();
    await settled();
    setKeys(outside(idOf(sailing)));
    await deps.clock.advance(timings.endedCheck);
    expect(forget).toHaveBeenCalledExactlyOnceWith(idOf(sailing));
    expect(shown()).toBeUndefined();
  });

  it('stays away once it was forgotten, whatever is still told of it, until the relay lists it anew', async () => {
    await list.forget(sailing);
    tell(keys);
    expect(shown()).toBeUndefined();
    expect(deps.store.get(chatsAtom)).toEqual({});
    const onReturned = vi.fn<(group: { groupId: string }) => void>();
    deps.sessionEvents.on('groupReturned', onReturned);
    getGroup.mockResolvedValue(details);
    setSummaries([summary(sailing)]);
    await list.refresh();
    await settled();
    expect(onReturned).toHaveBeenCalledExactlyOnceWith({ groupId: sailing });
    expect(shown()).toMatchObject({ name: 'Sailing', ended: false });
  });

  it('stays forgotten when answers from before arrive late', async () => {
    let answer: (details: GroupDetails) => void = () => undefined;
    getGroup.mockReturnValueOnce(
      new Promise((resolve) => {
        answer = resolve;
      }),
    );
    let listAnswer: (summaries: GroupSummary[]) => void = () => undefined;
    listGroups.mockReturnValueOnce(
      new Promise((resolve) => {
        listAnswer = resolve;
      }),
    );
    const reconciled = list.reconcile(sailing);
    const refreshed = list.refresh();
    await list.forget(sailing);
    answer(details);
    listAnswer([summary(sailing)]);
    await Promise.all([reconciled, refreshed]);
    expect(deps.store.get(groupsAtom).items).toEqual([]);
  });

  it('is asked for once when the list goes on naming it and the relay denies it', async () => {
    await list.forget(sailing);
    setSummaries([summary(sailing)]);
    await list.refresh();
    await settled();
    expect(getGroup).toHaveBeenCalledOnce();
  });

  it('stays as it is when the list cannot be read', async () => {
    listGroups.mockRejectedValue(refused('internal'));
    await list.refresh();
    await settled();
    expect(forget).not.toHaveBeenCalled();
    expect(shown()).toMatchObject({ ended: false });
  });
});

describe('a group that the list may be too old for', () => {
  /** Answers as the list was when it was asked for. */
  let answer: () => void = () => undefined;

  beforeEach(async () => {
    setSummaries([]);
    await list.load();
    listGroups.mockClear();
    listGroups.mockReturnValueOnce(
      new Promise((resolve) => {
        answer = () => resolve([]);
      }),
    );
  });

  it('goes on when the next list has it', async () => {
    const refreshed = list.refresh();
    tell(keys);
    setSummaries([summary(sailing)]);
    answer();
    await refreshed;
    await settled();
    expect(listGroups).toHaveBeenCalledTimes(2);
    expect(forget).not.toHaveBeenCalled();
    expect(shown()).toMatchObject({ ended: false });
  });

  it('has ended when the next list does not have it', async () => {
    const refreshed = list.refresh();
    tell(keys);
    answer();
    await refreshed;
    await settled();
    expect(listGroups).toHaveBeenCalledTimes(2);
    expect(shown()).toMatchObject({ ended: true });
    expect(getGroup).not.toHaveBeenCalled();
  });

  it('stays while this browser is creating it', async () => {
    const refreshed = list.refresh();
    setKeys(groupState({ status: 'starting', members: [] }));
    tell(keys);
    let created: () => void = () => undefined;
    void deps.locks.request(
      creationLock(sailing),
      () =>
        new Promise<void>((resolve) => {
          created = resolve;
        }),
    );
    answer();
    await refreshed;
    await settled();
    expect(forget).not.toHaveBeenCalled();
    expect(listGroups).toHaveBeenCalledOnce();
    setSummaries([summary(sailing)]);
    created();
    await settled();
    expect(listGroups).toHaveBeenCalledTimes(2);
    expect(forget).not.toHaveBeenCalled();
  });
});
