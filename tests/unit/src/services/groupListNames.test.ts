import { beforeEach, describe, expect, it } from 'vitest';
import { timings } from '#src/services/core/timings.ts';
import { chatsAtom, groupKeyOf } from '#src/store/chats.ts';
import { settled } from '../net/support/fakeClock.ts';
import { refused } from './support/deps.ts';
import {
  deps,
  details,
  groupState,
  idOf,
  keys,
  list,
  loaded,
  move,
  openList,
  outside,
  putGroupName,
  sailing,
  sailors,
  sealGroupName,
  setDetails,
  setGroupName,
  setKeys,
  setSummaries,
  shown,
  summary,
  tell,
  withGroupList,
} from './support/groupList.ts';

withGroupList();

describe('the name of a group', () => {
  const nameless = { ...sailors, name: null };

  it('is opened when the group is loaded', async () => {
    setKeys(groupState({ group: nameless }));
    setGroupName.mockImplementation(async () => {
      setKeys(groupState());
      return keys;
    });
    await loaded();
    expect(setGroupName).toHaveBeenCalledExactlyOnceWith({
      conversationId: idOf(sailing),
      sealedName: 'c2VhbGVk',
      epoch: 3,
    });
    expect(shown()?.name).toBe('Sailing');
  });

  it('is opened although a commit came between what the relay said of it and what it says of the epoch', async () => {
    // The members are as before, so that nothing else asks the relay again.
    setKeys(groupState({ epoch: 4, group: nameless }));
    setGroupName.mockImplementation(async ({ epoch }) => {
      if (epoch === 4) setKeys(groupState({ epoch: 4 }));
      return keys;
    });
    const loading = loaded();
    await settled();
    setDetails({ ...details, name_epoch: 4 });
    await deps.clock.advance(timings.settleMax);
    await loading;
    expect(shown()?.name).toBe('Sailing');
  });

  it('is tried again with the next epoch, when none could be opened', async () => {
    setKeys(groupState({ group: nameless }));
    await loaded();
    expect(shown()?.name).toBeNull();
    expect(setGroupName).toHaveBeenCalledOnce();
    setDetails({ ...details, name_epoch: 4, last_seq: 2 });
    setGroupName.mockImplementation(async () => {
      setKeys({ ...keys, group: { ...nameless, name: 'Sailing' } });
      return keys;
    });
    move({ epoch: 4, lastSeq: 2 });
    await settled();
    expect(shown()?.name).toBe('Sailing');
  });

  it('is opened by a device that comes in only after the relay has shown it the group', async () => {
    setKeys(outside(idOf(sailing)));
    await loaded();
    expect(setGroupName).not.toHaveBeenCalled();
    setGroupName.mockImplementation(async () => {
      setKeys(groupState());
      return keys;
    });
    setKeys(groupState({ group: nameless, lastSeq: details.last_seq }));
    tell(keys);
    await settled();
    expect(shown()?.name).toBe('Sailing');
  });

  describe('that a device from outside cannot open', () => {
    const due = { ...sailors, unvouchedIds: [], removalDue: false, nameDue: true };

    beforeEach(async () => {
      await loaded();
      setGroupName.mockImplementation(async () => {
        setKeys({ ...keys, group: sailors });
        return keys;
      });
      sealGroupName.mockImplementation(async () =>
        keys.group?.nameDue === true ? { epoch: keys.epoch, sealedName: 'YW5ldw' } : null,
      );
      putGroupName.mockImplementation(async (_id, { epoch, sealedName }) => {
        setSummaries([summary(sailing, { name: sealedName, name_epoch: epoch })]);
      });
      move({ epoch: 4, group: due });
    });

    it('is sealed again soon, once, and without a commit', async () => {
      expect(putGroupName).not.toHaveBeenCalled();
      await deps.clock.advance(timings.tidyingByCreator);
      expect(putGroupName).toHaveBeenCalledExactlyOnceWith(sailing, { epoch: 4, sealedName: 'YW5ldw' });
      expect(setGroupName).toHaveBeenLastCalledWith({
        conversationId: idOf(sailing),
        sealedName: 'YW5ldw',
        epoch: 4,
      });
      expect(deps.store.get(chatsAtom)[groupKeyOf(sailing)]?.state?.group?.nameDue).toBe(false);
      expect(deps.clock.pending).toBe(0);
    });

    it('is sealed by the next session, when this one ends before', async () => {
      list.stop();
      await deps.clock.advance(timings.tidyingByCreator);
      expect(putGroupName).not.toHaveBeenCalled();
      openList();
      await loaded();
      await deps.clock.advance(timings.tidyingByCreator);
      expect(putGroupName).toHaveBeenCalledOnce();
    });

    it('is not sealed again when another member was faster', async () => {
      setSummaries([summary(sailing, { name: 'dGhlaXJz', name_epoch: 4 })]);
      await list.refresh();
      await settled();
      expect(setGroupName).toHaveBeenLastCalledWith({
        conversationId: idOf(sailing),
        sealedName: 'dGhlaXJz',
        epoch: 4,
      });
      await deps.clock.advance(timings.tidyingByOthers);
      expect(putGroupName).not.toHaveBeenCalled();
    });

    it('waits for the next epoch when a commit has ended this one', async () => {
      putGroupName.mockRejectedValue(refused('stale-epoch'));
      await deps.clock.advance(timings.tidyingByCreator);
      expect(putGroupName).toHaveBeenCalledOnce();
      expect(deps.lines).toEqual([]);
      move({ epoch: 5, group: due });
      await deps.clock.advance(timings.tidyingByCreator);
      expect(putGroupName).toHaveBeenCalledTimes(2);
    });
  });
});
