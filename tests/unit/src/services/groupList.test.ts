import { describe, expect, it } from 'vitest';
import { NetworkError } from '#src/net/errors.ts';
import { timings } from '#src/services/core/timings.ts';
import { chatsAtom, groupKeyOf } from '#src/store/chats.ts';
import { groupsAtom } from '#src/store/groups.ts';
import { memberNamesAtom } from '#src/store/names.ts';
import { settled } from '../net/support/fakeClock.ts';
import { me, peer, refused } from './support/deps.ts';
import {
  catchUp,
  deps,
  getGroup,
  groupState,
  idOf,
  keys,
  list,
  listGroups,
  loaded,
  names,
  outside,
  sailing,
  setKept,
  setKeys,
  setSummaries,
  shown,
  summary,
  tell,
  withGroupList,
} from './support/groupList.ts';

const rowing = '00000000-0000-4000-8000-0000000000a2';

withGroupList();

describe('the list of groups', () => {
  it('loads with an indicator, and says so when it cannot', async () => {
    listGroups.mockRejectedValueOnce(refused('internal'));
    const loading = list.load();
    expect(deps.store.get(groupsAtom).loading).toBe(true);
    await loading;
    const failed = { loading: false, loaded: false, error: 'Failed to load groups' };
    expect(deps.store.get(groupsAtom)).toMatchObject(failed);
    await loaded();
    expect(deps.store.get(groupsAtom)).toMatchObject({ loading: false, loaded: true, error: null });
  });

  it('has what this browser keeps before the relay has said anything', async () => {
    listGroups.mockRejectedValue(new NetworkError('unreachable'));
    deps.store.set(memberNamesAtom, new Map([[peer, 'bert']]));
    tell(keys);
    tell(outside(idOf(rowing)));
    await list.load();
    expect(deps.store.get(groupsAtom).items).toMatchObject([
      { id: sailing, name: 'Sailing', memberCount: 2, createdAt: null, ended: false },
    ]);
    expect(names()).toEqual(['bert', null]);
    expect(getGroup).not.toHaveBeenCalled();
  });

  it('has what was kept of it until the relay has answered, but nothing that was forgotten', async () => {
    setKept([summary(sailing), summary(rowing)]);
    listGroups.mockRejectedValueOnce(refused('internal'));
    await list.forget(rowing);
    await list.load();
    expect(deps.store.get(groupsAtom)).toMatchObject({ loaded: false, error: 'Failed to load groups' });
    expect(deps.store.get(groupsAtom).items).toMatchObject([{ id: sailing, memberCount: 2 }]);
    await deps.clock.advance(timings.listRetryBase);
    expect(deps.store.get(groupsAtom)).toMatchObject({ loaded: true, error: null });
  });

  it('leaves out a group that never got its first commit, unless this browser is starting it', async () => {
    setSummaries([{ ...summary(sailing), name_epoch: 0 }]);
    setKeys(outside(idOf(sailing)));
    await list.load();
    await settled();
    expect(shown()).toBeUndefined();

    setKeys(groupState({ status: 'starting', members: [] }));
    await list.refresh();
    await settled();
    expect(shown()).toMatchObject({ id: sailing });
  });

  it('shows names and members by the keys, in the order of the names, nameless ones last', async () => {
    setSummaries([
      summary(rowing, { created_at: '2026-02-01T12:00:00.000Z', member_count: 7, creator_id: null }),
      summary(sailing),
    ]);
    tell(keys);
    catchUp.mockImplementation(async (id) => (id === keys.conversationId ? keys : outside(id)));
    await list.load();
    expect(deps.store.get(groupsAtom).items).toMatchObject([
      { id: sailing, name: 'Sailing', creatorId: me, memberCount: 2 },
      { id: rowing, name: null, creatorId: null, memberCount: 7, members: [] },
    ]);
  });

  it('reads no members of a group that looks right, until it is opened', async () => {
    await loaded();
    expect(getGroup).not.toHaveBeenCalled();
    expect(names()).toEqual([null, null]);
    list.onOpened(sailing);
    await settled();
    expect(names()).toEqual(['anna', 'bert']);
    list.onOpened(sailing);
    await settled();
    expect(getGroup).toHaveBeenCalledOnce();
  });

  it('stays the same object while nothing has changed', async () => {
    await loaded();
    const before = deps.store.get(groupsAtom);
    await list.refresh();
    tell(keys);
    expect(deps.store.get(groupsAtom).items).toBe(before.items);
  });

  it('reads the members again when the relay counts other ones', async () => {
    await loaded();
    list.onOpened(sailing);
    await settled();
    setSummaries([summary(sailing, { member_count: 3, name_epoch: 4 })]);
    await list.refresh();
    await settled();
    expect(getGroup.mock.calls.length).toBeGreaterThan(1);
  });
});

describe('a group that this device refuses to enter', () => {
  it('says why although the list comes later', async () => {
    deps.sessionEvents.emit('groupRefused', { conversationId: idOf(sailing), code: 'policy' });
    setKeys(outside(idOf(sailing)));
    await loaded();
    expect(shown()?.refusal).toBe('policy');
  });

  it('says why until it has entered it', async () => {
    setKeys(outside(idOf(sailing)));
    await loaded();
    deps.sessionEvents.emit('groupRefused', { conversationId: idOf(sailing), code: 'policy' });
    expect(shown()).toMatchObject({ refusal: 'policy', mismatch: null, members: [] });
    tell(outside(idOf(sailing)));
    expect(shown()?.refusal).toBe('policy');
    setKeys(groupState());
    tell(keys);
    expect(shown()?.refusal).toBeNull();
    expect(deps.store.get(chatsAtom)[groupKeyOf(sailing)]?.state?.status).toBe('joined');
  });
});
