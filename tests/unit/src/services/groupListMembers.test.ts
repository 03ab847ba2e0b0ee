import { beforeEach, describe, expect, it, vi } from 'vitest';
import { CryptoApiError, type GroupState } from '#src/crypto/client.ts';
import { timings } from '#src/services/core/timings.ts';
// The part that loads when it is asked for is there, so that the clock alone decides.
import '#src/services/groups/addAgain.ts';
import { memberNamesAtom } from '#src/store/names.ts';
import { toastsAtom } from '#src/store/toasts.ts';
import { settled } from '../net/support/fakeClock.ts';
import { me, peer, refused } from './support/deps.ts';
import {
  addMembers,
  catchUp,
  claimMany,
  deps,
  details,
  getGroup,
  idOf,
  keys,
  learn,
  list,
  loaded,
  member,
  move,
  names,
  onResolved,
  person,
  sailing,
  sailors,
  setDetails,
  setKeys,
  setLeaveStatements,
  settle,
  shown,
  submit,
  whileItSettles,
  withGroupList,
} from './support/groupList.ts';

const carl = '00000000-0000-4000-8000-000000000003';

withGroupList();

describe('the members of a group', () => {
  beforeEach(loaded);

  it('are a mismatch when the keys and the relay still name different people after a while', async () => {
    setDetails({ ...details, members: [person(me, 'anna'), person(carl, 'carl')] });
    const reconciled = list.reconcile(sailing);
    await deps.clock.advance(0);
    expect(shown()?.mismatch).toBeNull();
    await whileItSettles();
    await reconciled;
    expect(shown()?.mismatch).toEqual({ unlisted: [peer], withoutKeys: [carl] });
    expect(names()).toEqual(['anna', null]);
    expect(deps.lines).toEqual([expect.stringContaining('members-differ')]);
  });

  it('whom the relay names a moment late are no mismatch', async () => {
    const late = { ...details, members: [person(me, 'anna')] };
    getGroup.mockResolvedValueOnce(late).mockResolvedValueOnce(late);
    const reconciled = list.reconcile(sailing);
    await whileItSettles();
    await reconciled;
    expect(shown()?.mismatch).toBeNull();
  });

  it('are compared once for all that calls for it at once', async () => {
    let answer: () => void = () => undefined;
    getGroup.mockReturnValueOnce(
      new Promise((resolve) => {
        answer = () => resolve(details);
      }),
    );
    list.onOpened(sailing);
    const compared = [list.reconcile(sailing, 1), list.reconcile(sailing, 1)];
    await list.refresh();
    await settled();
    answer();
    await Promise.all(compared);
    await settled();
    expect(getGroup).toHaveBeenCalledOnce();
    expect(catchUp).toHaveBeenCalledExactlyOnceWith(idOf(sailing), 1);
  });

  it('are compared once more where the log has moved past what the relay said', async () => {
    await list.reconcile(sailing, 1);
    setDetails({ ...details, last_seq: 2 });
    await Promise.all([list.reconcile(sailing, 2), list.reconcile(sailing, 2)]);
    expect(getGroup).toHaveBeenCalledTimes(2);
  });

  it('in doubt are compared again and again until they agree', async () => {
    const right = details;
    setDetails({ ...details, members: [person(me, 'anna')] });
    void list.reconcile(sailing);
    await whileItSettles();
    const calls = getGroup.mock.calls.length;
    await deps.clock.advance(timings.mismatchPolling);
    expect(getGroup.mock.calls.length).toBeGreaterThan(calls);
    setDetails(right);
    for (let turn = 0; turn < 3; turn += 1) await deps.clock.advance(timings.mismatchPolling);
    expect(shown()?.mismatch).toBeNull();
    expect(onResolved).toHaveBeenCalledOnce();
    expect(deps.clock.pending).toBe(0);
  });

  it('in doubt hold messages back until keys and relay agree', async () => {
    const right = details;
    setDetails({ ...details, members: [person(me, 'anna')] });
    const asked = list.maySend(idOf(sailing));
    await whileItSettles();
    expect(await asked).toBe('held');
    expect(onResolved).not.toHaveBeenCalled();
    setDetails(right);
    await list.reconcile(sailing);
    expect(onResolved).toHaveBeenCalledExactlyOnceWith(idOf(sailing));
    expect(await list.maySend(idOf(sailing))).toBe('yes');
  });

  it('are compared before the first message of a session, and not before each', async () => {
    expect(await list.maySend(idOf(sailing))).toBe('yes-after-check');
    expect(await list.maySend(idOf(sailing))).toBe('yes');
    expect(getGroup).toHaveBeenCalledOnce();
    expect(await list.maySend(`direct:${me}:${peer}`)).toBe('yes');
  });

  it('that cannot be compared let nothing pass', async () => {
    getGroup.mockRejectedValue(refused('internal'));
    await expect(list.maySend(idOf(sailing))).rejects.toMatchObject({ code: 'internal' });
  });

  it('who come and go are read again, and their names learnt', async () => {
    setDetails({ ...details, members: [...details.members, person(carl, 'carl')] });
    move({ epoch: 4, members: [member(me), member(peer), member(carl)] });
    await settled();
    expect(names()).toEqual(['anna', 'bert', 'carl']);
    expect(learn).toHaveBeenLastCalledWith(
      idOf(sailing),
      new Map([
        [me, 'anna'],
        [peer, 'bert'],
        [carl, 'carl'],
      ]),
    );
  });
});

describe('a member who has left', () => {
  const departed = [{ user_id: peer, statement: 'c3RhdGVtZW50' }];
  const left = { ...sailors, leavingIds: [peer], removalDue: true };

  beforeEach(async () => {
    await loaded();
    setDetails({ ...details, members: [person(me, 'anna')], departed });
    setLeaveStatements.mockImplementation(async () => {
      setKeys({ ...keys, group: left });
      return keys;
    });
  });

  it('is no member on screen from then on, and no mismatch', async () => {
    await list.reconcile(sailing);
    expect(setLeaveStatements).toHaveBeenCalledExactlyOnceWith(idOf(sailing), [
      { userId: peer, statement: 'c3RhdGVtZW50' },
    ]);
    expect(shown()).toMatchObject({ memberCount: 1, mismatch: null });
  });

  it('is removed soon, without waiting for a message', async () => {
    await list.reconcile(sailing);
    expect(settle).not.toHaveBeenCalled();
    await deps.clock.advance(timings.tidyingByCreator);
    expect(settle).toHaveBeenCalledExactlyOnceWith(idOf(sailing));
  });

  it('is removed by the creator first, and by nobody twice', async () => {
    move({ group: { ...left, creatorId: peer, leavingIds: [], removalDue: false } });
    setLeaveStatements.mockImplementation(async () => {
      setKeys({ ...keys, group: { ...left, creatorId: peer } });
      return keys;
    });
    await list.reconcile(sailing);
    await deps.clock.advance(timings.tidyingByCreator);
    expect(settle).not.toHaveBeenCalled();
    setKeys({
      ...keys,
      members: [member(me)],
      group: { ...left, creatorId: peer, leavingIds: [], removalDue: false },
    });
    await deps.clock.advance(timings.tidyingByOthers);
    expect(settle).not.toHaveBeenCalled();
  });

  it('whose statement does not hold is a mismatch', async () => {
    setLeaveStatements.mockImplementation(async () => keys);
    const reconciled = list.reconcile(sailing);
    await whileItSettles();
    await reconciled;
    expect(shown()?.mismatch).toEqual({ unlisted: [peer], withoutKeys: [] });
  });

  it('is left to the others when the session ends', async () => {
    await list.reconcile(sailing);
    list.stop();
    await deps.clock.advance(timings.tidyingByOthers);
    expect(settle).not.toHaveBeenCalled();
  });
});

describe('somebody whom the creator has not added', () => {
  const tampered = { ...sailors, removalDue: true };

  it('is taken out soon by the creator’s browser, since the others wait for it', async () => {
    await loaded();
    setKeys({ ...keys, group: tampered });
    move({ group: tampered });
    await deps.clock.advance(timings.tidyingByCreator);
    expect(settle).toHaveBeenCalledExactlyOnceWith(idOf(sailing));
  });
});

describe('a member whose last device was revoked', () => {
  const keyPackage = { userId: peer, deviceId: 'new-device', keyPackage: 'a2V5cw' };
  const added = {
    conversationId: idOf(sailing),
    epoch: 4,
    commit: 'commit',
    welcomes: [],
    groupInfo: 'group',
    signature: 'signed',
    tree: null,
    sealedName: null,
    addedIds: [peer],
    removedIds: [],
  };

  /** The keys hold this person alone; the relay's list has both. */
  async function reconciled(change: Partial<GroupState>): Promise<void> {
    setKeys({ ...keys, members: [member(me)], group: { ...sailors, ...change } });
    const done = list.reconcile(sailing);
    await whileItSettles();
    await done;
  }

  beforeEach(async () => {
    await loaded();
    claimMany.mockReset().mockResolvedValue([{ ...keyPackage, lastResort: false }]);
    addMembers.mockResolvedValue(added);
    submit.mockReset().mockResolvedValue({ kind: 'taken' });
  });

  it('is added again by the creator with the next one, once an epoch', async () => {
    await reconciled({ withoutDeviceIds: [peer] });
    await deps.clock.advance(timings.tidyingByCreator);
    expect(claimMany).toHaveBeenCalledExactlyOnceWith([peer], [0xf04d]);
    expect(addMembers).toHaveBeenCalledExactlyOnceWith({
      conversationId: idOf(sailing),
      keyPackages: [keyPackage],
    });
    expect(submit).toHaveBeenCalledExactlyOnceWith(added);
    for (let again = 0; again < 3; again += 1) {
      await deps.clock.advance(timings.mismatchPolling);
      await whileItSettles();
    }
    expect(claimMany).toHaveBeenCalledOnce();
  });

  it('comes back alone, whoever else the relay hands out devices of', async () => {
    const stranger = {
      userId: carl,
      deviceId: 'strange-device',
      keyPackage: 'c3RyYW5nZXI',
      lastResort: false,
    };
    claimMany.mockResolvedValue([stranger, { ...keyPackage, lastResort: false }]);
    await reconciled({ withoutDeviceIds: [peer] });
    await deps.clock.advance(timings.tidyingByCreator);
    expect(addMembers).toHaveBeenCalledExactlyOnceWith({
      conversationId: idOf(sailing),
      keyPackages: [keyPackage],
    });
  });

  it('comes in although another one can’t, who is named, and is not tried again', async () => {
    const other = { ...keyPackage, userId: carl, deviceId: 'unusable' };
    setDetails({ ...details, members: [...details.members, person(carl, 'carl')] });
    deps.store.set(memberNamesAtom, new Map([[carl, 'carl']]));
    claimMany.mockResolvedValue([other, keyPackage].map((one) => ({ ...one, lastResort: false })));
    addMembers.mockImplementation(async ({ keyPackages }) => {
      if (keyPackages.some(({ userId }) => userId === carl)) throw new CryptoApiError('invalid-key-package');
      return added;
    });
    await reconciled({ withoutDeviceIds: [peer, carl] });
    await deps.clock.advance(timings.tidyingByCreator);
    await vi.waitFor(() => expect(deps.store.get(toastsAtom)).toHaveLength(1));
    expect(submit).toHaveBeenCalledExactlyOnceWith(added);
    expect(addMembers.mock.calls.map(([{ keyPackages }]) => keyPackages)).toEqual([
      [other, keyPackage],
      [other],
      [keyPackage],
    ]);
    expect(deps.store.get(toastsAtom)).toMatchObject([
      {
        kind: 'info',
        text: 'Could not add carl to Sailing again. The keys of their browser can’t be used in it.',
      },
    ]);
    setKeys({ ...keys, epoch: 9 });
    await reconciled({ withoutDeviceIds: [carl] });
    await deps.clock.advance(timings.tidyingByCreator);
    expect(claimMany).toHaveBeenCalledOnce();
    // Somebody else who has lost their last one is added all the same.
    await reconciled({ withoutDeviceIds: [peer, carl] });
    await deps.clock.advance(timings.tidyingByCreator);
    expect(claimMany).toHaveBeenLastCalledWith([peer], [0xf04d]);
  });

  it.each(['refused', 'overtaken'] as const)(
    'is tried alone where the commit of all is refused, and not where it is overtaken: %s',
    async (kind) => {
      const other = { ...keyPackage, userId: carl, deviceId: 'blocked' };
      setDetails({ ...details, members: [...details.members, person(carl, 'carl')] });
      claimMany.mockResolvedValue([other, keyPackage].map((one) => ({ ...one, lastResort: false })));
      submit.mockResolvedValueOnce(
        kind === 'refused' ? { kind, reason: refused('not-a-contact') } : { kind },
      );
      await reconciled({ withoutDeviceIds: [peer, carl] });
      await deps.clock.advance(timings.tidyingByCreator);
      const count = kind === 'refused' ? 3 : 1;
      await vi.waitFor(() => expect(submit).toHaveBeenCalledTimes(count));
    },
  );

  it('is added by nobody else', async () => {
    await reconciled({ withoutDeviceIds: [peer], creatorId: peer });
    await deps.clock.advance(timings.tidyingByOthers);
    expect(claimMany).not.toHaveBeenCalled();
  });

  it('is not added for the word of the relay alone', async () => {
    await reconciled({ withoutDeviceIds: [] });
    await deps.clock.advance(timings.tidyingByCreator);
    expect(shown()?.mismatch).toEqual({ unlisted: [], withoutKeys: [peer] });
    expect(claimMany).not.toHaveBeenCalled();
  });
});
