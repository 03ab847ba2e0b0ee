import type { ConversationState } from '../../crypto/client.ts';
import { t } from '../../i18n/i18n.ts';
import { createBackoff } from '../../lib/backoff.ts';
import { delay } from '../../lib/clock.ts';
import type { FailureCode } from '../../lib/errorCode.ts';
import { forEachLimited } from '../../lib/parallel.ts';
import type { GroupDetails, GroupSummary } from '../../net/api.ts';
import { isApiError } from '../../net/errors.ts';
import { activeGroupAtom, chatsAtom, groupIdOfKey, groupKeyOf } from '../../store/chats.ts';
import { type Group, groupsAtom } from '../../store/groups.ts';
import { memberNamesAtom } from '../../store/names.ts';
import type { Chats } from '../conversations/chats.ts';
import type { CommitSubmitter } from '../conversations/commitSubmitter.ts';
import type { SendPermission } from '../conversations/outbox.ts';
import type { Sync } from '../conversations/sync.ts';
import { groupConversationId, groupOf } from '../core/conversationIds.ts';
import type { SessionDeps } from '../core/deps.ts';
import type { Background } from '../core/failures.ts';
import type { List, Lists } from '../core/lists.ts';
import type { ResponseCache } from '../core/responseCache.ts';
import { onStates } from '../core/sessionEvents.ts';
import { timings } from '../core/timings.ts';
import { createGroupEndings } from './groupEndings.ts';
import {
  groupOnScreen,
  inOrder,
  isNameWanted,
  isNewer,
  isWorthKeeping,
  type KnownGroup,
  mismatchOf,
  presentMembers,
  sameIds,
  withoutUnbegun,
} from './groupFacts.ts';
import { createGroupMaintenance } from './groupMaintenance.ts';
import { createMemberComparisons } from './memberComparisons.ts';
import type { MemberNames } from './memberNames.ts';

const groupsAtOnce = 4;
/** The number of times the relay's list is read before a difference counts as one. */
const settlingRounds = 4;

export interface GroupList extends Pick<List, 'load' | 'refresh' | 'poll'> {
  /** The group is on screen: its members are read where that is still to be done. */
  onOpened(groupId: string): void;
  /**
   * Reads a group's members from the relay and compares them with its keys, both brought up to date.
   * @param upTo unless that was done at this position of the log or later
   * @throws ApiError, NetworkError
   */
  reconcile(groupId: string, upTo?: number): Promise<void>;
  /** Returns whether messages may be sent: not while the members of the group are in doubt. */
  maySend(conversationId: string): Promise<SendPermission>;
  /** Returns whether the relay has said that a conversation's group is no more, for this person or for everybody. */
  hasEnded(conversationId: string): boolean;
  /** Returns whether nothing more is to be told of a group, by the relay's list if it is being read: it ends, or is given up here. */
  isLeft(conversationId: string): Promise<boolean>;
  /** Takes a group off the list and its records out of this browser. */
  forget(groupId: string): Promise<void>;
  /** Forgets the group once the relay has been told, whose list says so before it has answered. */
  giveUp(groupId: string, tell: () => Promise<void>): Promise<void>;
  stop(): void;
}

export interface GroupListOptions {
  readonly deps: SessionDeps;
  readonly ownUserId: string;
  readonly lists: Pick<Lists, 'create'>;
  readonly recall: ResponseCache['recall']['listGroups'];
  readonly chats: Chats;
  readonly sync: Pick<Sync, 'catchUp' | 'forget'>;
  readonly commitSubmitter: CommitSubmitter;
  readonly names: Pick<MemberNames, 'learn'>;
  readonly background: Background;
}

/**
 * The groups on screen: the relay says which there are and who is said to be in them, the keys say who is. What the
 * relay no longer has stays as ended, for as long as this browser has something of it. Only this module writes their
 * atom.
 */
export function createGroupList(options: GroupListOptions): GroupList {
  const { background, chats, commitSubmitter, names, ownUserId, sync } = options;
  const { api, clock, crypto, log, random, sessionEvents, store } = options.deps;
  const known = new Map<string, KnownGroup>();
  const forgotten = new Set<string>();
  /** The looks of each group when its members were last compared: see {@link look}. */
  const compared = new Map<string, string>();
  const lastMembers = new Map<string, ReadonlySet<string>>();
  /** Why this device did not enter a group; also of groups that the list hasn't named yet. */
  const refusals = new Map<string, FailureCode>();
  /** Being left or deleted here. */
  const givenUp = new Set<string>();
  let reading: Promise<void> = Promise.resolve();

  const stateOf = (groupId: string) => chats.get(groupKeyOf(groupId)).state;
  const summaryOf = (groupId: string) => known.get(groupId)?.summary ?? null;
  const hasEnded = (groupId: string) => known.get(groupId)?.ended === true;

  const maintenance = createGroupMaintenance({
    deps: options.deps,
    ownUserId,
    commitSubmitter,
    isKnown: (groupId) => known.has(groupId),
    hasEnded,
    summaryOf,
    refresh: () => list.refresh(),
    background,
  });

  const endings = createGroupEndings({
    deps: options.deps,
    ownUserId,
    maintenance,
    factsOf: (groupId) => known.get(groupId),
    hasForgotten: (groupId) => forgotten.has(groupId),
    forget,
    onEnded(groupId, left) {
      update(groupId, { ended: true, left, mismatch: null, refusal: null });
      show(groupId);
    },
    refresh: () => list.refresh(),
  });

  /** @param only the group that has changed; without it, any may have */
  function show(only?: string): void {
    const current = store.get(groupsAtom);
    const present = new Map(current.items.map((group) => [group.id, group]));
    const memberNames = store.get(memberNamesAtom);
    const items = [...known.values()].map((facts): Group => {
      const shown = present.get(facts.id);
      if (shown !== undefined && only !== undefined && only !== shown.id) return shown;
      const next = groupOnScreen(facts, stateOf(facts.id), memberNames);
      // The same object where nothing has changed, so that nothing is painted again.
      return shown !== undefined && JSON.stringify(shown) === JSON.stringify(next) ? shown : next;
    });
    const ordered = inOrder(items);
    if (ordered.length === present.size && ordered.every((group, at) => group === current.items[at])) return;
    store.set(groupsAtom, { ...current, items: ordered });
  }

  function update(id: string, change: Partial<KnownGroup>): void {
    const facts = known.get(id);
    const before = { id, summary: null, ended: false, left: false, listed: null, mismatch: null };
    known.set(id, { ...before, ...facts, refusal: refusals.get(id) ?? null, ...change });
  }

  /** The relay has it. */
  function updateListed(given: GroupSummary, change: Partial<KnownGroup> = {}): void {
    const { id, name, name_epoch, creator_id, member_count, created_at } = given;
    const summary = { id, name, name_epoch, creator_id, member_count, created_at };
    if (forgotten.delete(id)) sessionEvents.emit('groupReturned', { groupId: id });
    endings.delete(id);
    update(id, { summary, ended: false, left: false, ...change });
  }

  function look(groupId: string, state = stateOf(groupId)): string {
    const summary = summaryOf(groupId);
    return [summary?.member_count, summary?.name_epoch, state?.epoch, state?.status].join(' ');
  }

  function needsComparison(groupId: string): boolean {
    const facts = known.get(groupId);
    if (facts === undefined || facts.ended) return false;
    if (facts.mismatch !== null) return true;
    const before = compared.get(groupId);
    if (before !== undefined) return before !== look(groupId);
    if (groupId === store.get(activeGroupAtom)) return true;
    const state = stateOf(groupId);
    // Groups that look right wait until they are opened or written to: there may be hundreds.
    return (
      (state?.group?.name ?? null) === null || presentMembers(state).length !== facts.summary?.member_count
    );
  }

  async function forget(groupId: string): Promise<void> {
    forgotten.add(groupId);
    for (const facts of [known, compared, lastMembers, refusals, endings, comparisons]) facts.delete(groupId);
    sessionEvents.emit('groupForgotten', { groupId });
    await sync.forget(groupConversationId(groupId));
    chats.remove(groupKeyOf(groupId));
    show();
  }

  /** Takes over what the relay says and only the keys can judge: who has left, and what the group is called. */
  async function learn(details: GroupDetails, state: ConversationState): Promise<ConversationState> {
    const { conversationId } = state;
    let learnt = state;
    const departed = details.departed.map(({ statement, user_id }) => ({ userId: user_id, statement }));
    if (departed.length > 0) learnt = await crypto.setLeaveStatements(conversationId, departed);
    if (isNameWanted(learnt)) learnt = await openName(details, learnt);
    chats.setState(learnt);
    return learnt;
  }

  function openName({ name, name_epoch }: GroupSummary, { conversationId }: ConversationState) {
    return crypto.setGroupName({ conversationId, sealedName: name, epoch: name_epoch });
  }

  async function compareOnce(groupId: string): Promise<number | null> {
    const wasKnown = known.has(groupId);
    const hadEnded = hasEnded(groupId);
    const backoff = createBackoff({ baseMs: timings.settleBase, maxMs: timings.settleMax, random });
    const wasInDoubt = (known.get(groupId)?.mismatch ?? null) !== null;
    let mismatch: KnownGroup['mismatch'] = null;
    let state = stateOf(groupId);
    let seq = 0;
    for (let round = 0; round < settlingRounds; round += 1) {
      if (round > 0) await delay(clock, backoff.next());
      let details: GroupDetails;
      try {
        details = await api.getGroup(groupId);
      } catch (error) {
        if (!isApiError(error, 'not-found')) throw error;
        // Once: a relay whose list goes on naming it must not be asked for ever.
        compared.set(groupId, look(groupId));
        background(() => endings.doubt([groupId]));
        return null;
      }
      seq = details.last_seq;
      const listed = new Map(details.members.map(({ user }) => [user.id, user.username]));
      const caughtUp = await sync.catchUp(groupConversationId(groupId), seq);
      const isMember = caughtUp.status === 'joined';
      state = isMember ? await learn(details, caughtUp) : caughtUp;
      // Left or deleted in the meantime.
      if ((wasKnown && !known.has(groupId)) || (hasEnded(groupId) && !hadEnded)) return null;
      mismatch = isMember ? mismatchOf(details, state) : null;
      updateListed(details, { listed });
      background(() => names.learn(groupConversationId(groupId), listed));
      // A commit came in between.
      const behind = isMember && state.group?.name === null && details.name_epoch !== state.epoch;
      if (mismatch === null && !behind) break;
    }
    if (!known.has(groupId)) return null;
    update(groupId, { mismatch });
    compared.set(groupId, look(groupId, state));
    show(groupId);
    if (mismatch !== null && !wasInDoubt) log.warn('members-differ');
    if (mismatch !== null)
      maintenance.later('compare', groupId, timings.mismatchPolling, () => compareIfDue(groupId));
    else if (wasInDoubt) sessionEvents.emit('holdReleased', { conversationId: groupConversationId(groupId) });
    if (state !== null) maintenance.tidySoon(groupId, state, mismatch?.withoutKeys);
    // While it is outside nothing is compared, and the name not opened: its join at this position asks again.
    return state?.status === 'joined' ? seq : null;
  }

  const comparisons = createMemberComparisons(compareOnce);

  /** Compares for the list or the screen, unless a comparison that goes on answers them. */
  async function compareIfDue(groupId: string, said?: GroupSummary): Promise<void> {
    // While this browser is creating it, the relay and the keys know different things.
    if (stateOf(groupId)?.status !== 'joined') await endings.created(groupId);
    await comparisons.runIf(groupId, () => {
      const facts = known.get(groupId);
      if (facts === undefined) return false;
      const hasChanged = said !== undefined && isNewer(said, facts.summary);
      return hasChanged || facts.listed === null || needsComparison(groupId);
    });
  }

  /** Returns whether the relay had the group before it is asked for its list, or the list is to decide about it. */
  function isKnownToRelay(groupId: string): boolean {
    return summaryOf(groupId) !== null || stateOf(groupId)?.status === 'joined' || endings.isDoubted(groupId);
  }

  /** Groups that this browser has, and has not seen end. */
  function present(): string[] {
    const here = Object.keys(store.get(chatsAtom)).flatMap((key) => groupIdOfKey(key) ?? []);
    return [...new Set([...known.keys(), ...here])].filter((id) => !hasEnded(id));
  }

  async function readList(): Promise<void> {
    const forgottenBefore = new Set(forgotten);
    const before = new Set(present().filter(isKnownToRelay));
    const answer = await withoutUnbegun(crypto, await api.listGroups());
    // It may be older than what has been forgotten while it came.
    const summaries = answer.filter(({ id }) => !forgotten.has(id) || forgottenBefore.has(id));
    const listed = new Set(summaries.map(({ id }) => id));
    for (const summary of summaries) {
      updateListed(summary);
      tidy(summary);
    }
    const missing = present().filter((id) => !listed.has(id) && !givenUp.has(id));
    show();
    const ended = missing.filter((id) => before.has(id));
    background(() => forEachLimited(ended, groupsAtOnce, (id) => endings.end(id)));
    const unsure = missing.filter((id) => !before.has(id));
    if (unsure.length > 0) background(() => endings.doubt(unsure));
    const due = summaries.filter(
      ({ id }) =>
        needsComparison(id) || (id === store.get(activeGroupAtom) && known.get(id)?.listed === null),
    );
    background(() => forEachLimited(due, groupsAtOnce, (said) => compareIfDue(said.id, said)));
  }

  /** Does what an earlier session has left to do, unless another member has sealed the name in the meantime. */
  function tidy(summary: GroupSummary): void {
    const state = stateOf(summary.id);
    if (state === null) return;
    const isSealed = state.group?.nameDue === true && summary.name_epoch === state.epoch;
    if (!isSealed) return maintenance.tidySoon(summary.id, state);
    background(async () => {
      const opened = await openName(summary, state);
      if (forgotten.has(summary.id)) return;
      chats.setState(opened);
      // One that isn't the name is left to the next commit.
      maintenance.tidySoon(summary.id, opened);
    });
  }

  /** @returns the group that may look different now */
  function follow(state: ConversationState): string | null {
    const groupId = groupOf(state.conversationId);
    if (groupId === null || forgotten.has(groupId)) return null;
    const before = lastMembers.get(groupId);
    const after = new Set(presentMembers(state).map(({ userId }) => userId));
    lastMembers.set(groupId, after);
    if (state.status === 'joined') refusals.delete(groupId);
    if (!known.has(groupId) && !isWorthKeeping(state)) return null;
    update(groupId, {});
    if (summaryOf(groupId) === null || state.status !== 'joined') return groupId;
    const isChanged = before === undefined || !sameIds(before, after);
    // Each epoch may be the one whose committer sealed the name again.
    const isIdle = comparisons.running(groupId) === null;
    const isNameless = isIdle && state.group?.name === null && compared.get(groupId) !== look(groupId);
    if (isChanged || isNameless) background(() => comparisons.run(groupId, state.lastSeq));
    else maintenance.tidySoon(groupId, state);
    return groupId;
  }

  async function recallList(): Promise<void> {
    const recalled = await options.recall();
    const summaries = recalled && (await withoutUnbegun(crypto, recalled));
    if (summaries === null || store.get(groupsAtom).loaded) return;
    for (const summary of summaries) if (!forgotten.has(summary.id)) updateListed(summary);
    show();
  }

  const list = options.lists.create({
    atom: groupsAtom,
    read: () => (reading = readList()),
    recall: recallList,
    failure: t('errors.loadGroupsFailed'),
  });

  onStates(sessionEvents, (states) => {
    const changed = states.flatMap((state) => follow(state) ?? []);
    if (changed.length > 0) show(changed.length === 1 ? changed[0] : undefined);
  });

  sessionEvents.on('groupRefused', ({ code, conversationId }) => {
    const groupId = groupOf(conversationId);
    if (groupId === null) return;
    refusals.set(groupId, code);
    if (!known.has(groupId)) return;
    update(groupId, {});
    show(groupId);
  });

  return {
    ...list,
    reconcile: (groupId, upTo) => comparisons.run(groupId, upTo),
    forget,
    stop: () => maintenance.stop(),

    async maySend(conversationId) {
      const groupId = groupOf(conversationId);
      if (groupId === null || hasEnded(groupId)) return 'yes';
      const running = comparisons.running(groupId);
      const isCompared = running === null && compared.has(groupId);
      if (!isCompared) await (running ?? comparisons.run(groupId));
      if ((known.get(groupId)?.mismatch ?? null) !== null) return 'held';
      return isCompared ? 'yes' : 'yes-after-check';
    },

    onOpened(groupId) {
      if (known.has(groupId) && !hasEnded(groupId)) background(() => compareIfDue(groupId));
    },

    async giveUp(groupId, tell) {
      givenUp.add(groupId);
      try {
        await tell();
        await forget(groupId);
      } finally {
        givenUp.delete(groupId);
      }
    },

    hasEnded: (conversationId) => hasEnded(groupOf(conversationId) ?? ''),

    async isLeft(conversationId) {
      const groupId = groupOf(conversationId);
      if (groupId === null) return false;
      await reading.catch(() => undefined);
      return [forgotten, givenUp].some((left) => left.has(groupId)) || endings.isEnding(groupId);
    },
  };
}
