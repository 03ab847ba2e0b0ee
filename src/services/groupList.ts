import type { ConversationState } from '../crypto/client.ts';
import { createBackoff } from '../lib/backoff.ts';
import { delay, type Timer, timestamp } from '../lib/clock.ts';
import { coalesce } from '../lib/coalesce.ts';
import { forEachLimited } from '../lib/parallel.ts';
import type { GroupDetails, GroupSummary } from '../net/api.ts';
import { isApiError } from '../net/errors.ts';
import { activeGroupAtom, chatsAtom, groupIdOfKey, groupKeyOf } from '../store/chats.ts';
import { type Group, groupsAtom, groupsErrorAtom, type MembershipChange } from '../store/groups.ts';
import type { Chats } from './chats.ts';
import type { Committer } from './committer.ts';
import { groupConversationId, groupOf } from './conversationIds.ts';
import type { Deps } from './deps.ts';
import type { Background } from './failures.ts';
import { type GroupFacts, groupOnScreen, inOrder, mismatchOf, presentMembers } from './groupFacts.ts';
import type { Sync } from './sync.ts';
import { texts } from './texts.ts';
import { timings } from './timings.ts';

const groupsAtOnce = 4;
/** How often the relay's list is read again before a difference counts as one. */
const settlingRounds = 4;

export interface GroupList {
  /** Loads the list with an indicator and an error sentence; afterwards as {@link refresh}. Never rejects. */
  load(): Promise<void>;
  /** Quietly reads the list again, and what has changed in it. Never rejects. */
  refresh(): Promise<void>;
  /** The group is on screen: its members are read where that is still to be done. */
  onOpened(groupId: string): void;
  /**
   * Reads a group's members from the relay and compares them with its keys, both brought up to date.
   * @throws ApiError, NetworkError
   */
  reconcile(groupId: string): Promise<void>;
  /** Whether the members of a group are beyond doubt; compares them first if this session hasn't. */
  maySend(conversationId: string): Promise<boolean>;
  /** To be told of every state of every conversation; `committedAt` is the time of the newest commit it came by. */
  onState(state: ConversationState, committedAt: string | null): void;
  onRefused(conversationId: string, code: string): void;
  /** Takes a group off the list and its records out of this browser. */
  forget(groupId: string): Promise<void>;
  stop(): void;
}

export interface GroupListOptions {
  readonly deps: Deps;
  readonly ownUserId: string;
  readonly chats: Chats;
  readonly sync: Pick<Sync, 'catchUp' | 'forget'>;
  readonly committer: Committer;
  /** A group is gone, with its messages. */
  readonly onForgotten: (groupId: string) => void;
  /** A doubt about a group's members is over: what waited can be sent. */
  readonly onResolved: (conversationId: string) => void;
  readonly background: Background;
}

/** Held by a tab that creates a group: until it is done, the relay and this browser know different things of it. */
export function creationLock(groupId: string): string {
  return `sinetti:create:${groupId}`;
}

function sameIds(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  return one.size === other.size && [...one].every((id) => other.has(id));
}

/**
 * The groups on screen: the relay says which there are and who is said to be in them, the keys say who is. Only this
 * module writes their atom.
 */
export function createGroupList(options: GroupListOptions): GroupList {
  const { background, chats, committer, ownUserId, sync } = options;
  const { api, clock, crypto, locks, log, random, store } = options.deps;
  const known = new Map<string, GroupFacts>();
  /** Who was in the keys when last looked at, to tell a change from a first sight. */
  const lastMembers = new Map<string, ReadonlySet<string>>();
  /** What each group looked like when its members were last compared. */
  const compared = new Map<string, string>();
  const reconciling = new Map<string, { run: () => Promise<void>; running: Promise<void> | null }>();
  /** Why this device did not enter a group; also of groups that the list hasn't named yet. */
  const refusals = new Map<string, string>();
  const timers = new Map<string, Timer>();
  let forgotten = 0;
  let stopped = false;

  const stateOf = (groupId: string) => chats.get(groupKeyOf(groupId)).state;

  /** @param only the group that has changed; without it, any may have */
  function show(only?: string): void {
    const list = store.get(groupsAtom);
    const present = new Map(list.items.map((group) => [group.id, group]));
    const items = [...known.values()].map((facts): Group => {
      const shown = present.get(facts.summary.id);
      if (shown !== undefined && only !== undefined && only !== shown.id) return shown;
      const next = groupOnScreen(facts, stateOf(facts.summary.id));
      // The same object where nothing has changed, so that nothing is painted again.
      return shown !== undefined && JSON.stringify(shown) === JSON.stringify(next) ? shown : next;
    });
    const ordered = inOrder(items);
    if (ordered.length === present.size && ordered.every((group, at) => group === list.items[at])) return;
    store.set(groupsAtom, { ...list, items: ordered });
  }

  function update(summary: GroupSummary, change: Partial<GroupFacts> = {}): void {
    const facts = known.get(summary.id);
    const { id, name, name_epoch, creator_id, member_count, created_at } = summary;
    known.set(id, {
      listed: null,
      mismatch: null,
      changes: [],
      ...facts,
      refusal: refusals.get(id) ?? null,
      summary: { id, name, name_epoch, creator_id, member_count, created_at },
      ...change,
    });
  }

  function look(groupId: string, state = stateOf(groupId)): string {
    const summary = known.get(groupId)?.summary;
    return [summary?.member_count, summary?.name_epoch, state?.epoch, state?.status].join(' ');
  }

  function needsComparison(groupId: string): boolean {
    if ((known.get(groupId)?.mismatch ?? null) !== null) return true;
    const before = compared.get(groupId);
    if (before !== undefined) return before !== look(groupId);
    const state = stateOf(groupId);
    // Groups that look right wait until they are opened or written to: there may be hundreds.
    return (
      (state?.group?.name ?? null) === null ||
      presentMembers(state).length !== known.get(groupId)?.summary.member_count
    );
  }

  /** Once at a time for a group and a purpose. */
  function later(purpose: string, groupId: string, ms: number, task: () => Promise<unknown>): void {
    const name = `${purpose} ${groupId}`;
    if (stopped || timers.has(name)) return;
    const timer = clock.after(ms, () => {
      timers.delete(name);
      if (known.has(groupId)) background(task);
    });
    timers.set(name, timer);
  }

  async function forget(groupId: string): Promise<void> {
    forgotten += 1;
    for (const facts of [known, compared, lastMembers, refusals]) facts.delete(groupId);
    options.onForgotten(groupId);
    await sync.forget(groupConversationId(groupId));
    chats.remove(groupKeyOf(groupId));
    show();
  }

  /** What the relay tells that only the keys can judge: who has left, and what the group is called. */
  async function learn(details: GroupDetails, state: ConversationState): Promise<ConversationState> {
    const { conversationId } = state;
    let learnt = state;
    const departed = details.departed.map(({ statement, user_id }) => ({ userId: user_id, statement }));
    if (departed.length > 0) learnt = await crypto.setDeparted(conversationId, departed);
    if (learnt.group?.name === null) {
      learnt = await crypto.setGroupName({
        conversationId,
        sealedName: details.name,
        epoch: details.name_epoch,
      });
    }
    chats.setState(learnt);
    return learnt;
  }

  async function reconcileOnce(groupId: string): Promise<void> {
    const wasKnown = known.has(groupId);
    const backoff = createBackoff({ baseMs: timings.settleBase, maxMs: timings.settleMax, random });
    const wasInDoubt = (known.get(groupId)?.mismatch ?? null) !== null;
    let mismatch: GroupFacts['mismatch'] = null;
    let state = stateOf(groupId);
    for (let round = 0; round < settlingRounds; round += 1) {
      if (round > 0) await delay(clock, backoff.next());
      let details: GroupDetails;
      try {
        details = await api.getGroup(groupId);
      } catch (error) {
        if (!isApiError(error, 'not-found')) throw error;
        return forgetUnlessNew(groupId);
      }
      const listed = new Map(details.members.map(({ user }) => [user.id, user.username]));
      const caughtUp = await sync.catchUp(groupConversationId(groupId));
      const isMember = caughtUp.status === 'joined';
      state = isMember ? await learn(details, caughtUp) : caughtUp;
      // Left or deleted in the meantime.
      if (wasKnown && !known.has(groupId)) return;
      mismatch = isMember ? mismatchOf(details, state) : null;
      update(details, { listed });
      const behind = isMember && state.group?.name === null && details.name_epoch > state.epoch;
      if (mismatch === null && !behind) break;
    }
    const facts = known.get(groupId);
    if (facts === undefined) return;
    update(facts.summary, { mismatch });
    compared.set(groupId, look(groupId, state));
    show(groupId);
    if (mismatch !== null && !wasInDoubt) log.warn('members-differ');
    if (mismatch !== null) later('compare', groupId, timings.mismatchPolling, () => reconcile(groupId));
    else if (wasInDoubt) options.onResolved(groupConversationId(groupId));
    removeSoon(groupId);
  }

  function reconcile(groupId: string): Promise<void> {
    let entry = reconciling.get(groupId);
    if (entry === undefined) {
      entry = { run: coalesce(() => reconcileOnce(groupId)), running: null };
      reconciling.set(groupId, entry);
    }
    const started = entry;
    const running = started.run().finally(() => {
      if (started.running === running) started.running = null;
    });
    started.running = running;
    return running;
  }

  /**
   * Every member who is there could remove who has left; one is enough. The creator goes first, so that the others
   * find it done, and nobody waits for the next message.
   */
  function removeSoon(groupId: string): void {
    const state = stateOf(groupId);
    if ((state?.group?.departedIds.length ?? 0) === 0) return;
    const spread = state?.group?.creatorId === ownUserId ? timings.removalByCreator : timings.removalByOthers;
    later('remove', groupId, spread * (0.5 + random() / 2), async () => {
      const current = await crypto.conversation(groupConversationId(groupId));
      if ((current.group?.departedIds.length ?? 0) === 0) return;
      await committer.settle(groupConversationId(groupId));
    });
  }

  /** Gone for everybody or for oneself, unless this browser is just creating it. */
  function forgetUnlessNew(groupId: string): Promise<void> {
    return locks.request(creationLock(groupId), async () => {
      try {
        update(await api.getGroup(groupId));
      } catch (error) {
        if (!isApiError(error, 'not-found')) throw error;
        await forget(groupId);
      }
    });
  }

  async function readList(): Promise<void> {
    const before = forgotten;
    const summaries = await api.listGroups();
    // The answer may be older than that.
    if (forgotten !== before) return readList();
    const listed = new Set(summaries.map(({ id }) => id));
    for (const summary of summaries) update(summary);
    const here = Object.keys(store.get(chatsAtom)).flatMap((key) => groupIdOfKey(key) ?? []);
    const missing = [...new Set([...known.keys(), ...here])].filter((id) => !listed.has(id));
    show();
    store.set(groupsAtom, { ...store.get(groupsAtom), loading: false, loaded: true });
    if (store.get(groupsErrorAtom) !== null) store.set(groupsErrorAtom, null);
    background(() => forEachLimited(missing, groupsAtOnce, forgetUnlessNew));
    const due = [...listed].filter(
      (id) => needsComparison(id) || (id === store.get(activeGroupAtom) && known.get(id)?.listed === null),
    );
    background(() => forEachLimited(due, groupsAtOnce, reconcile));
  }

  const refresh = coalesce(async () => {
    if (store.get(groupsAtom).loaded) await readList().catch(() => undefined);
  });

  function changesBetween(
    before: ReadonlySet<string>,
    after: ReadonlySet<string>,
    epoch: number,
    at: string,
  ): MembershipChange[] {
    const change = (kind: MembershipChange['kind'], userId: string) => ({
      id: `${kind} ${epoch} ${userId}`,
      kind,
      userId,
      timestamp: at,
    });
    return [
      ...[...after].filter((id) => !before.has(id)).map((id) => change('added', id)),
      ...[...before].filter((id) => !after.has(id)).map((id) => change('removed', id)),
    ];
  }

  return {
    async load() {
      if (store.get(groupsAtom).loaded) return refresh();
      store.set(groupsAtom, { ...store.get(groupsAtom), loading: true });
      try {
        await readList();
      } catch {
        store.set(groupsAtom, { ...store.get(groupsAtom), loading: false });
        store.set(groupsErrorAtom, texts.loadGroupsFailed);
      }
    },

    refresh,
    reconcile,
    forget,

    async maySend(conversationId) {
      const groupId = groupOf(conversationId);
      if (groupId === null) return true;
      const running = reconciling.get(groupId)?.running ?? null;
      if (running !== null) await running;
      else if (!compared.has(groupId)) await reconcile(groupId);
      return (known.get(groupId)?.mismatch ?? null) === null;
    },

    onOpened(groupId) {
      const facts = known.get(groupId);
      if (facts === undefined || (facts.listed !== null && !needsComparison(groupId))) return;
      background(() => reconcile(groupId));
    },

    onState(state, committedAt) {
      const groupId = groupOf(state.conversationId);
      if (groupId === null) return;
      const before = lastMembers.get(groupId);
      const after = new Set(presentMembers(state).map(({ userId }) => userId));
      lastMembers.set(groupId, after);
      if (state.status === 'joined') refusals.delete(groupId);
      const facts = known.get(groupId);
      if (facts === undefined) return;
      const isChanged = before === undefined || !sameIds(before, after);
      // One's own arrival is no change among the others.
      const hasHistory = isChanged && before !== undefined && before.has(ownUserId) && after.has(ownUserId);
      const at = committedAt ?? timestamp(clock);
      const added = hasHistory ? changesBetween(before, after, state.epoch, at) : [];
      update(facts.summary, { changes: [...facts.changes, ...added] });
      show(groupId);
      // Each epoch may be the one whose committer sealed the name again.
      const isIdle = (reconciling.get(groupId)?.running ?? null) === null;
      const isNameless = isIdle && state.group?.name === null && compared.get(groupId) !== look(groupId);
      if ((isChanged || isNameless) && state.status === 'joined') background(() => reconcile(groupId));
    },

    onRefused(conversationId, code) {
      const groupId = groupOf(conversationId);
      if (groupId === null) return;
      refusals.set(groupId, code);
      const facts = known.get(groupId);
      if (facts === undefined) return;
      update(facts.summary);
      show(groupId);
    },

    stop() {
      stopped = true;
      for (const timer of timers.values()) timer.cancel();
      timers.clear();
    },
  };
}
