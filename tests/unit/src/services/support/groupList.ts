import { beforeEach, vi } from 'vitest';
import type { ConversationState, CryptoApi } from '#src/crypto/client.ts';
import type { Api, GroupDetails, GroupSummary } from '#src/net/api.ts';
import { type Chats, createChats } from '#src/services/conversations/chats.ts';
import type { CommitSubmitter } from '#src/services/conversations/commitSubmitter.ts';
import type { Sync } from '#src/services/conversations/sync.ts';
import { createBackground } from '#src/services/core/failures.ts';
import { timings } from '#src/services/core/timings.ts';
import { createGroupList, type GroupList } from '#src/services/groups/groupList.ts';
import type { MemberNames } from '#src/services/groups/memberNames.ts';
import { type Group, groupsAtom } from '#src/store/groups.ts';
import { settled } from '../../net/support/fakeClock.ts';
import { me, peer, state, type TestDeps, testDeps, testLists } from './deps.ts';

export const sailing = '00000000-0000-4000-8000-0000000000a1';
export const idOf = (groupId: string) => `group:${groupId}`;

export const sailors = {
  name: 'Sailing',
  creatorId: me,
  leavingIds: [],
  withoutDeviceIds: [],
  unvouchedIds: [],
  removalDue: false,
  nameDue: false,
};

export let deps: TestDeps;
let chats: Chats;
export let list: GroupList;
/** The relay's answer that an earlier session has left. */
let kept: GroupSummary[] | null;
/** The relay's answer. */
let summaries: GroupSummary[];
export let details: GroupDetails;
/** The conversation as the keys have it. */
export let keys: ConversationState;
export const listGroups = vi.fn<Api['listGroups']>();
export const getGroup = vi.fn<Api['getGroup']>();
export const getLeaveStatement = vi.fn<Api['getLeaveStatement']>();
export const hasLeft = vi.fn<CryptoApi['hasLeft']>();
export const setLeaveStatements = vi.fn<CryptoApi['setLeaveStatements']>();
export const setGroupName = vi.fn<CryptoApi['setGroupName']>();
export const sealGroupName = vi.fn<CryptoApi['sealGroupName']>();
export const putGroupName = vi.fn<Api['putGroupName']>();
export const claimMany = vi.fn<Api['claimKeyPackages']>();
export const addMembers = vi.fn<CryptoApi['addMembers']>();
export const learn = vi.fn<MemberNames['learn']>();
export const catchUp = vi.fn<Sync['catchUp']>();
export const forget = vi.fn<Sync['forget']>();
export const submit = vi.fn<CommitSubmitter['submit']>();
export const settle = vi.fn<CommitSubmitter['settle']>();
export const onForgotten = vi.fn<(groupId: string) => void>();
export const onResolved = vi.fn<(conversationId: string) => void>();

export function summary(id: string, change: Partial<GroupSummary> = {}): GroupSummary {
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

export const person = (id: string, username: string) => ({ id, user: { id, username } });
export const member = (userId: string) => ({ userId, deviceIds: [`${userId}-device`] });

export function groupState(change: Partial<ConversationState> = {}): ConversationState {
  return state({
    conversationId: idOf(sailing),
    epoch: 3,
    members: [member(me), member(peer)],
    group: sailors,
    ...change,
  });
}

export function outside(conversationId: string): ConversationState {
  return state({ conversationId, status: 'outside', members: [], group: null });
}

/** A list of groups on doubles of the relay, the keys and what brings them forward, anew for each test. */
export function withGroupList(): void {
  beforeEach(begin);
}

function begin(): void {
  vi.resetAllMocks();
  kept = null;
  summaries = [summary(sailing)];
  details = {
    ...summary(sailing),
    members: [person(me, 'anna'), person(peer, 'bert')],
    departed: [],
    last_seq: 1,
  };
  keys = groupState();
  listGroups.mockReset().mockImplementation(async () => summaries);
  getGroup.mockReset().mockImplementation(async () => details);
  getLeaveStatement.mockResolvedValue({ statement: null });
  setLeaveStatements.mockImplementation(async () => keys);
  setGroupName.mockImplementation(async () => keys);
  sealGroupName.mockResolvedValue(null);
  putGroupName.mockResolvedValue(undefined);
  learn.mockResolvedValue(undefined);
  forget.mockResolvedValue(undefined);
  settle.mockResolvedValue(undefined);
  submit.mockRejectedValue(new Error('unexpected'));
  claimMany.mockRejectedValue(new Error('unexpected'));
  deps = testDeps({
    api: { listGroups, getLeaveStatement, getGroup, putGroupName, claimKeyPackages: claimMany },
    crypto: {
      hasLeft,
      setLeaveStatements,
      setGroupName,
      sealGroupName,
      addMembers,
      keyPackageSuites: async () => [0xf04d],
      usableKeyPackages: async (all) => [...all],
      conversation: async () => keys,
    },
  });
  chats = createChats(deps, me);
  catchUp.mockImplementation(async () => {
    tell(keys);
    return keys;
  });
  openList();
}

/** As a session does at its start; again, the next session of this browser. */
export function openList(): void {
  deps.sessionEvents.on('groupForgotten', ({ groupId }) => onForgotten(groupId));
  deps.sessionEvents.on('holdReleased', ({ conversationId }) => onResolved(conversationId));
  list = createGroupList({
    deps,
    ownUserId: me,
    lists: testLists(deps),
    recall: async () => kept,
    chats,
    sync: { catchUp, forget },
    commitSubmitter: { submit, settle },
    names: { learn },
    background: createBackground(deps.log),
  });
}

/** Emits a state as the synchronisation does. */
export function tell(changed: ConversationState): void {
  deps.sessionEvents.emit('conversationsChanged', { states: [changed] });
}

/** The conversation moves, and its state is told of. */
export function move(change: Partial<ConversationState>): void {
  keys = { ...keys, ...change };
  tell(keys);
}

export async function loaded(): Promise<void> {
  tell(keys);
  await list.load();
  await settled();
}

/** Each wait begins only once the one before it is over. */
export async function whileItSettles(): Promise<void> {
  for (let turn = 0; turn < 6; turn += 1) await deps.clock.advance(timings.settleMax);
}

export const shown = (): Group | undefined =>
  deps.store.get(groupsAtom).items.find(({ id }) => id === sailing);
export const names = () => shown()?.members.map(({ username }) => username);

/** Sets what the relay answers from now on when it is asked for the groups. */
export function setSummaries(next: GroupSummary[]): void {
  summaries = next;
}

export function setKept(next: GroupSummary[]): void {
  kept = next;
}

/** Sets what the relay answers from now on about the group. */
export function setDetails(next: GroupDetails): void {
  details = next;
}

/** Sets what the keys say from now on, which nobody has been told of. */
export function setKeys(next: ConversationState): void {
  keys = next;
}
