import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { ConversationState, CryptoApi } from '../../../../src/crypto/client.ts';
import type { Api, GroupDetails, GroupSummary } from '../../../../src/net/api.ts';
import { type Chats, createChats } from '../../../../src/services/chats.ts';
import type { Committer } from '../../../../src/services/committer.ts';
import { createBackground } from '../../../../src/services/failures.ts';
import { createGroupList, creationLock, type GroupList } from '../../../../src/services/groupList.ts';
import type { Sync } from '../../../../src/services/sync.ts';
import { timings } from '../../../../src/services/timings.ts';
import { chatsAtom, groupKeyOf } from '../../../../src/store/chats.ts';
import { type Group, groupsAtom, groupsErrorAtom } from '../../../../src/store/groups.ts';
import { settled } from '../net/support/fakeClock.ts';
import { me, peer, refused, state, type TestDeps, testDeps } from './support/deps.ts';

const sailing = '00000000-0000-4000-8000-0000000000a1';
const rowing = '00000000-0000-4000-8000-0000000000a2';
const carl = '00000000-0000-4000-8000-000000000003';
const idOf = (groupId: string) => `group:${groupId}`;

let deps: TestDeps;
let chats: Chats;
let list: GroupList;
/** What the relay says. */
let summaries: GroupSummary[];
let details: GroupDetails;
/** What the keys say. */
let keys: ConversationState;
const listGroups = vi.fn<Api['listGroups']>();
const getGroup = vi.fn<Api['getGroup']>();
const setDeparted = vi.fn<CryptoApi['setDeparted']>();
const setGroupName = vi.fn<CryptoApi['setGroupName']>();
const catchUp = vi.fn<Sync['catchUp']>();
const forget = vi.fn<Sync['forget']>();
const settle = vi.fn<Committer['settle']>();
const onForgotten = vi.fn<(groupId: string) => void>();
const onResolved = vi.fn<(conversationId: string) => void>();

function summary(id: string, change: Partial<GroupSummary> = {}): GroupSummary {
  return {
    id,
    name: 'c2VhbGVk',
    name_epoch: 3,
    creator_id: me,
    member_count: 2,
    created_at: '2026-03-01T12:00:00.000Z',
    ...change,
  };
}

const person = (id: string, username: string) => ({ id, user: { id, username } });
const member = (userId: string) => ({ userId, deviceIds: [`${userId}-device`] });

function groupState(change: Partial<ConversationState> = {}): ConversationState {
  return state({
    conversationId: idOf(sailing),
    epoch: 3,
    members: [member(me), member(peer)],
    group: { name: 'Sailing', creatorId: me, departedIds: [] },
    ...change,
  });
}

beforeEach(() => {
  for (const mock of [catchUp, forget, settle, onForgotten, onResolved, setDeparted, setGroupName]) {
    mock.mockReset();
  }
  summaries = [summary(sailing)];
  details = { ...summary(sailing), members: [person(me, 'anna'), person(peer, 'bert')], departed: [] };
  keys = groupState();
  listGroups.mockReset().mockImplementation(async () => summaries);
  getGroup.mockReset().mockImplementation(async () => details);
  setDeparted.mockImplementation(async () => keys);
  setGroupName.mockImplementation(async () => keys);
  forget.mockResolvedValue(undefined);
  settle.mockResolvedValue(undefined);
  deps = testDeps({
    api: { listGroups, getGroup },
    crypto: { setDeparted, setGroupName, conversation: async () => keys },
  });
  chats = createChats(deps.store, me);
  catchUp.mockImplementation(async () => {
    tell(keys);
    return keys;
  });
  list = createGroupList({
    deps,
    ownUserId: me,
    chats,
    sync: { catchUp, forget },
    committer: { submit: () => Promise.reject(new Error('unexpected')), settle },
    onForgotten,
    onResolved,
    background: createBackground(deps.log),
  });
});

/** As the session does with every state that it hears of. */
function tell(changed: ConversationState, committedAt: string | null = null): void {
  chats.setState(changed);
  list.onState(changed, committedAt);
}

/** The conversation moves, and its state is told of. */
function move(change: Partial<ConversationState>, committedAt: string | null = null): void {
  keys = { ...keys, ...change };
  tell(keys, committedAt);
}

async function loaded(): Promise<void> {
  tell(keys);
  await list.load();
  await settled();
}

/** Each wait begins only once the one before it is over. */
async function whileItSettles(): Promise<void> {
  for (let turn = 0; turn < 6; turn += 1) await deps.clock.advance(timings.settleMax);
}

const shown = (): Group | undefined => deps.store.get(groupsAtom).items.find(({ id }) => id === sailing);
const names = () => shown()?.members.map(({ username }) => username);

describe('the list', () => {
  it('loads with an indicator, and says so when it cannot', async () => {
    listGroups.mockRejectedValueOnce(refused('internal'));
    const loading = list.load();
    expect(deps.store.get(groupsAtom).loading).toBe(true);
    await loading;
    expect(deps.store.get(groupsAtom)).toMatchObject({ loading: false, loaded: false });
    expect(deps.store.get(groupsErrorAtom)).toBe('Failed to load groups');
    await loaded();
    expect(deps.store.get(groupsAtom)).toMatchObject({ loading: false, loaded: true });
    expect(deps.store.get(groupsErrorAtom)).toBeNull();
  });

  it('shows names and members by the keys, in the order of the names, nameless ones last', async () => {
    summaries = [
      summary(rowing, { created_at: '2026-02-01T12:00:00.000Z', member_count: 7, creator_id: null }),
      summary(sailing),
    ];
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
    summaries = [summary(sailing, { member_count: 3, name_epoch: 4 })];
    await list.refresh();
    await settled();
    expect(getGroup.mock.calls.length).toBeGreaterThan(1);
  });
});

function outside(conversationId: string): ConversationState {
  return state({ conversationId, status: 'outside', members: [], group: null });
}

describe('a group that the relay no longer lists', () => {
  beforeEach(async () => {
    await loaded();
    summaries = [];
  });

  it('is forgotten once the relay says that there is none', async () => {
    getGroup.mockRejectedValue(refused('not-found'));
    await list.refresh();
    await settled();
    expect(forget).toHaveBeenCalledExactlyOnceWith(idOf(sailing));
    expect(onForgotten).toHaveBeenCalledExactlyOnceWith(sailing);
    expect(deps.store.get(groupsAtom).items).toEqual([]);
    expect(deps.store.get(chatsAtom)).toEqual({});
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

describe('members', () => {
  beforeEach(loaded);

  it('of the keys whom the relay does not name, and the other way round, are a mismatch after it settled', async () => {
    details = { ...details, members: [person(me, 'anna'), person(carl, 'carl')] };
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

  it('in doubt are compared again and again until they agree', async () => {
    const right = details;
    details = { ...details, members: [person(me, 'anna')] };
    void list.reconcile(sailing);
    await whileItSettles();
    const calls = getGroup.mock.calls.length;
    await deps.clock.advance(timings.mismatchPolling);
    expect(getGroup.mock.calls.length).toBeGreaterThan(calls);
    details = right;
    for (let turn = 0; turn < 3; turn += 1) await deps.clock.advance(timings.mismatchPolling);
    expect(shown()?.mismatch).toBeNull();
    expect(onResolved).toHaveBeenCalledOnce();
    expect(deps.clock.pending).toBe(0);
  });

  it('in doubt hold messages back until they are beyond it', async () => {
    const right = details;
    details = { ...details, members: [person(me, 'anna')] };
    const asked = list.maySend(idOf(sailing));
    await whileItSettles();
    expect(await asked).toBe(false);
    expect(onResolved).not.toHaveBeenCalled();
    details = right;
    await list.reconcile(sailing);
    expect(onResolved).toHaveBeenCalledExactlyOnceWith(idOf(sailing));
    expect(await list.maySend(idOf(sailing))).toBe(true);
  });

  it('are compared before the first message of a session, and not before each', async () => {
    expect(await list.maySend(idOf(sailing))).toBe(true);
    expect(await list.maySend(idOf(sailing))).toBe(true);
    expect(getGroup).toHaveBeenCalledOnce();
    expect(await list.maySend(`direct:${me}:${peer}`)).toBe(true);
  });

  it('that cannot be compared let nothing pass', async () => {
    getGroup.mockRejectedValue(refused('internal'));
    await expect(list.maySend(idOf(sailing))).rejects.toMatchObject({ code: 'internal' });
  });

  it('who come and go leave a line with the time of the commit, and their names are read', async () => {
    details = { ...details, members: [...details.members, person(carl, 'carl')] };
    move({ epoch: 4, members: [member(me), member(peer), member(carl)] }, '2026-03-02T08:00:00.000Z');
    await settled();
    expect(names()).toEqual(['anna', 'bert', 'carl']);
    move({ epoch: 5, members: [member(me), member(carl)] }, '2026-03-02T09:00:00.000Z');
    expect(shown()?.changes).toMatchObject([
      { kind: 'added', userId: carl, timestamp: '2026-03-02T08:00:00.000Z' },
      { kind: 'removed', userId: peer, timestamp: '2026-03-02T09:00:00.000Z' },
    ]);
  });

  it('whom one meets when joining are no change', async () => {
    await list.forget(sailing);
    await list.refresh();
    tell(outside(idOf(sailing)));
    tell(keys);
    expect(shown()?.changes).toEqual([]);
  });
});

describe('somebody who has left', () => {
  const departed = [{ user_id: peer, statement: 'c3RhdGVtZW50' }];
  const left = { name: 'Sailing', creatorId: me, departedIds: [peer] };

  beforeEach(async () => {
    await loaded();
    details = { ...details, members: [person(me, 'anna')], departed };
    setDeparted.mockImplementation(async () => {
      keys = { ...keys, group: left };
      return keys;
    });
  });

  it('is no member on screen from then on, and no mismatch', async () => {
    await list.reconcile(sailing);
    expect(setDeparted).toHaveBeenCalledExactlyOnceWith(idOf(sailing), [
      { userId: peer, statement: 'c3RhdGVtZW50' },
    ]);
    expect(shown()).toMatchObject({ memberCount: 1, mismatch: null });
  });

  it('is removed soon, without waiting for a message', async () => {
    await list.reconcile(sailing);
    expect(settle).not.toHaveBeenCalled();
    await deps.clock.advance(timings.removalByCreator);
    expect(settle).toHaveBeenCalledExactlyOnceWith(idOf(sailing));
  });

  it('is removed by the creator first, and by nobody twice', async () => {
    move({ group: { ...left, creatorId: peer, departedIds: [] } });
    setDeparted.mockImplementation(async () => {
      keys = { ...keys, group: { ...left, creatorId: peer } };
      return keys;
    });
    await list.reconcile(sailing);
    await deps.clock.advance(timings.removalByCreator);
    expect(settle).not.toHaveBeenCalled();
    keys = { ...keys, members: [member(me)], group: { ...left, creatorId: peer, departedIds: [] } };
    await deps.clock.advance(timings.removalByOthers);
    expect(settle).not.toHaveBeenCalled();
  });

  it('whose statement does not hold is a mismatch', async () => {
    setDeparted.mockImplementation(async () => keys);
    const reconciled = list.reconcile(sailing);
    await whileItSettles();
    await reconciled;
    expect(shown()?.mismatch).toEqual({ unlisted: [peer], withoutKeys: [] });
  });

  it('is left to the others when the session ends', async () => {
    await list.reconcile(sailing);
    list.stop();
    await deps.clock.advance(timings.removalByOthers);
    expect(settle).not.toHaveBeenCalled();
  });
});

describe('the name', () => {
  const nameless = { name: null, creatorId: me, departedIds: [] };

  it('is opened as soon as it can be', async () => {
    keys = groupState({ group: nameless });
    setGroupName.mockImplementation(async () => {
      keys = groupState();
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

  it('is tried again with the next epoch, when none could be opened', async () => {
    keys = groupState({ group: nameless });
    await loaded();
    expect(shown()?.name).toBeNull();
    expect(setGroupName).toHaveBeenCalledOnce();
    details = { ...details, name_epoch: 4 };
    setGroupName.mockImplementation(async () => {
      keys = { ...keys, group: { ...nameless, name: 'Sailing' } };
      return keys;
    });
    move({ epoch: 4 });
    await settled();
    expect(shown()?.name).toBe('Sailing');
  });
});

describe('a group that this device refuses to enter', () => {
  it('says why although the list comes later', async () => {
    list.onRefused(idOf(sailing), 'policy');
    keys = outside(idOf(sailing));
    await loaded();
    expect(shown()?.refusal).toBe('policy');
  });

  it('says why until it has entered it', async () => {
    keys = outside(idOf(sailing));
    await loaded();
    list.onRefused(idOf(sailing), 'policy');
    expect(shown()).toMatchObject({ refusal: 'policy', mismatch: null, members: [] });
    tell(outside(idOf(sailing)));
    expect(shown()?.refusal).toBe('policy');
    keys = groupState();
    tell(keys);
    expect(shown()?.refusal).toBeNull();
    expect(deps.store.get(chatsAtom)[groupKeyOf(sailing)]?.state?.status).toBe('joined');
  });
});
