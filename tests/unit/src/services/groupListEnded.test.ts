import { beforeEach, describe, expect, it } from 'vitest';
import type { GroupDetails, GroupSummary } from '../../../../src/net/api.ts';
import { creationLock } from '../../../../src/services/groupList.ts';
import { timings } from '../../../../src/services/timings.ts';
import { chatsAtom, groupKeyOf } from '../../../../src/store/chats.ts';
import { groupsAtom } from '../../../../src/store/groups.ts';
import { settled } from '../net/support/fakeClock.ts';
import { refused } from './support/deps.ts';
import {
  deps,
  details,
  forget,
  getDeparture,
  getGroup,
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
  withGroupList,
} from './support/groupList.ts';

withGroupList();

describe('a group that the relay no longer lists', () => {
  beforeEach(async () => {
    await loaded();
    setSummaries([]);
  });

  it('stays as one that has ended once the relay says that there is none, and nothing of it is erased', async () => {
    getGroup.mockRejectedValue(refused('not-found'));
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
    expect(deps.store.get(chatsAtom)[groupKeyOf(sailing)]).toBeDefined();
    const calls = getGroup.mock.calls.length;
    list.onOpened(sailing);
    await list.refresh();
    await settled();
    expect(getGroup.mock.calls.length).toBe(calls);
    // What waits to be sent there is the relay's to refuse.
    expect(await list.maySend(idOf(sailing))).toBe(true);
  });

  it('goes on when the relay has it again', async () => {
    getGroup.mockRejectedValue(refused('not-found'));
    await list.refresh();
    await settled();
    setSummaries([summary(sailing)]);
    getGroup.mockResolvedValue(details);
    await list.refresh();
    await settled();
    expect(shown()).toMatchObject({ ended: false });
    await deps.clock.advance(timings.endedCheck);
    expect(shown()).toMatchObject({ ended: false });
  });

  it.each([true, false])(
    "was left by this person where the keys confirm another device's word: %s",
    async (holds) => {
      getGroup.mockRejectedValue(refused('not-found'));
      getDeparture.mockResolvedValue({ statement: 'c2lnbmVk' });
      hasLeft.mockResolvedValue(holds);
      await list.refresh();
      await settled();
      expect(hasLeft).toHaveBeenCalledExactlyOnceWith(idOf(sailing), 'c2lnbmVk');
      expect(forget).not.toHaveBeenCalled();
      expect(shown()).toMatchObject({ ended: true, left: holds });
      setSummaries([summary(sailing)]);
      await list.refresh();
      await settled();
      expect(shown()).toMatchObject({ ended: false, left: false });
    },
  );

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
    expect(list.hasForgotten(idOf(sailing))).toBe(true);
    list.onStates([keys]);
    expect(shown()).toBeUndefined();
    setSummaries([summary(sailing)]);
    await list.refresh();
    await settled();
    expect(list.hasForgotten(idOf(sailing))).toBe(false);
    expect(shown()).toMatchObject({ name: 'Sailing', ended: false });
  });

  it('does not come back by answers from before', async () => {
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

  it('stays when it is there after all, or nobody knows', async () => {
    await list.refresh();
    await settled();
    getGroup.mockRejectedValue(refused('internal'));
    await list.refresh();
    await settled();
    expect(forget).not.toHaveBeenCalled();
    expect(shown()).toBeDefined();
  });

  it('stays while this browser is creating it', async () => {
    getGroup.mockRejectedValue(refused('not-found'));
    let created: () => void = () => undefined;
    void deps.locks.request(
      creationLock(sailing),
      () =>
        new Promise<void>((resolve) => {
          created = resolve;
        }),
    );
    await list.refresh();
    await settled();
    expect(forget).not.toHaveBeenCalled();
    getGroup.mockResolvedValue(details);
    created();
    await settled();
    expect(forget).not.toHaveBeenCalled();
  });
});
