import type { ConversationState, LogEntryInput, ProcessResult } from '../../crypto/client.ts';
import { createBackoff } from '../../lib/backoff.ts';
import { delay } from '../../lib/clock.ts';
import { coalesce, coalesceInQueue } from '../../lib/coalesce.ts';
import { errorCode } from '../../lib/errorCode.ts';
import { createKeyedQueue } from '../../lib/keyedQueue.ts';
import { forEachLimited } from '../../lib/parallel.ts';
import type { LogPage } from '../../net/api.ts';
import { type IncomingEvent, limits } from '../../net/contract.ts';
import { isApiError } from '../../net/errors.ts';
import { catchUpAtom } from '../../store/connection.ts';
import { groupOf, keyOf, peerOf, takesPart } from '../core/conversationIds.ts';
import type { SessionDeps } from '../core/deps.ts';
import { apiErrorOf, isUnreachable } from '../core/failures.ts';
import { copied } from '../core/place.ts';
import { timings } from '../core/timings.ts';
import { type EnterResult, type Joiner, passingFailures } from './joiner.ts';
import { type EntryEvent, fromEvent, listEntries, toInput } from './logInputs.ts';

const conversationsAtOnce = 4;
/** The number of times one catch-up tries to become a member before the conversation rests. */
const maxRounds = 6;
const maxMailboxParts = 20;
/** Fewer messages than this are there before their number can be read. */
const worthCounting = 200;

type AvailableEvent = Extract<IncomingEvent, { type: 'available' }>;
type Summary = Awaited<ReturnType<SessionDeps['api']['listConversations']>>[number];

export interface Sync {
  /** Everything: the mailbox, then every conversation that is not up to date. */
  syncAll(): Promise<void>;
  /**
   * Brings one conversation up to the relay's log, joining or rejoining it where needed.
   * @param upTo the position that is known to be there: nothing is asked for where it has been reached. Without it, all
   *   that the relay has by now.
   */
  catchUp(conversationId: string, upTo?: number): Promise<ConversationState>;
  /** Returns whether the log of a conversation has been read in this session. */
  hasRead(conversationId: string): boolean;
  onEntry(event: EntryEvent): Promise<void>;
  /** @param isStreamed the entries of this conversation come by themselves, too: only what stays away is fetched */
  onAvailable(event: AvailableEvent, isStreamed: boolean): Promise<void>;
  onDelivered(event: Extract<IncomingEvent, { type: 'delivered' }>): Promise<void>;
  /** Takes over how far another device of this person's has read. */
  moveReadPosition(conversationId: string, seq: number): Promise<void>;
  /** Entries that were before this device's time, below a position. They change nothing here but the view. */
  olderEntries(conversationId: string, before: number, limit: number): Promise<OlderEntries>;
  /** Erases a conversation here, once what is under way in it is done. */
  forget(conversationId: string): Promise<void>;
}

export interface OlderEntries {
  readonly messages: ProcessResult['messages'];
  /** Lowest position fetched; null when there is nothing below `before`. */
  readonly lowestSeq: number | null;
}

function isMember(state: ConversationState): boolean {
  return state.status === 'joined';
}

/**
 * Keeps this device's conversations in step with the relay's logs. Each conversation has one queue, so that its entries
 * are processed in order whatever they came by: fetched pages, live events, or the polling.
 */
export function createSync(deps: SessionDeps, ownUserId: string, joiner: Joiner): Sync {
  const { api, clock, crypto, log, sessionEvents, store } = deps;
  const queue = createKeyedQueue();
  const live = new Map<string, EntryEvent[]>();
  /** Conversations that could not be entered: not tried again before the time given. */
  const restingUntil = new Map<string, number>();
  /** Groups whose joining commit, at the position given, has been asked for: it says since when this device can read. */
  const joinLookedUp = new Map<string, number>();
  /** Conversations that were erased here: their events are from before, until something asks for them anew. */
  const forgotten = new Set<string>();
  /** Conversations whose log this session has read once. */
  const read = new Set<string>();
  /** A catch-up of many messages is under way. */
  let isCounting = false;

  function emitState(state: ConversationState): void {
    sessionEvents.emit('conversationsChanged', { states: [state] });
  }

  async function page(conversationId: string, query: LogPage) {
    try {
      const entries = await listEntries(api, ownUserId, conversationId, query);
      return entries.filter((entry) => entry.conversationId === conversationId).map(toInput);
    } catch (error) {
      // Not started yet; or a list that breaks its schema, which counts as empty (spec section 5).
      if (isApiError(error, 'not-found', 'invalid-response')) return [];
      throw error;
    }
  }

  async function process(
    conversationId: string,
    entries: readonly LogEntryInput[],
  ): Promise<ConversationState> {
    const rules = entries.some(({ expired }) => expired === true)
      ? await (await import('./retentionRules.ts')).retentionRules(deps, conversationId)
      : undefined;
    const result = await crypto.processEntries(conversationId, entries, rules);
    // The log shows that this device sends from another place as well.
    if (result.isCopied === true) throw copied(deps);
    countProcessed(entries.length);
    sessionEvents.emit('entriesProcessed', result);
    const isTimed = result.ownState !== undefined || result.messages.some(({ timer }) => timer !== undefined);
    if (isTimed) sessionEvents.emit('clocksStarted', {});
    return result.state;
  }

  /** Processes the log above a position page by page: each one is saved before the next is fetched. */
  async function replay(
    start: ConversationState,
    from: number,
    upTo = Number.POSITIVE_INFINITY,
  ): Promise<ConversationState> {
    let state = start;
    for (let after = from; ; after = state.lastSeq) {
      if (after >= Math.max(upTo, start.lastSeq)) return state;
      const query = { after, ...joiner.withoutContent(start, after), limit: limits.messagesPerPage };
      const entries = await page(state.conversationId, query);
      const last = entries.at(-1);
      // A page of large entries is short, so only an empty one is the end. The conversation may have changed while it came: its name
      // was opened, say.
      if (last === undefined) return crypto.conversation(state.conversationId);
      state = await process(state.conversationId, entries);
      // Behind the page's end: the rest is not for a device outside, or the worker has stopped at it.
      if (state.lastSeq < last.seq) return state;
    }
  }

  /** A Welcome doesn't say when its commit was: that entry is processed once more, for its time. */
  function replayFrom({ conversationId, joinedAt, joinedSeq, lastSeq, status }: ConversationState): number {
    const unknown = status === 'joined' && joinedAt === null && joinedSeq > 0;
    if (groupOf(conversationId) === null || !unknown) return lastSeq;
    if (joinLookedUp.get(conversationId) === joinedSeq) return lastSeq;
    joinLookedUp.set(conversationId, joinedSeq);
    return joinedSeq - 1;
  }

  /**
   * Gives the worker what was in the log between the reading of the member who let this device in and the join, so that the
   * running hash goes on from there: digests only, since the entries are from before this device's time.
   */
  async function link(state: ConversationState): Promise<ConversationState> {
    const { conversationId, joinedSeq } = state;
    let current = state;
    for (let after = state.linkFrom; after !== null; after = current.linkFrom) {
      const digests = await api.listDigests(conversationId, { after, before: joinedSeq + 1 });
      const linked = await crypto.linkLog(conversationId, digests);
      if (linked.events.length > 0) sessionEvents.emit('entriesProcessed', linked);
      current = linked.state;
      // The relay keeps them back: the log stays where it is, as if its entries were kept back.
      if (current.linkFrom === after) return current;
    }
    return current;
  }

  /**
   * Null for a group that this device refuses, that of the own devices included: it is left alone for a while, and the
   * other conversations go on.
   */
  async function enter(conversationId: string): Promise<EnterResult | null> {
    try {
      return await joiner.enter(conversationId);
    } catch (error) {
      const code = errorCode(error);
      const isOurs = apiErrorOf(error) !== null || isUnreachable(error) || passingFailures.has(code);
      const isDirect = peerOf(conversationId, ownUserId) !== null;
      if (isDirect || isOurs || code === 'session-ended') throw error;
      restingUntil.set(conversationId, clock.monotonicNow() + timings.rejoinPause);
      log.warn('sync-stalled', { code });
      sessionEvents.emit('groupRefused', { conversationId, code });
      return null;
    }
  }

  /** Reads the log from where this device stands in it. */
  async function readOn(conversationId: string, upTo?: number): Promise<ConversationState> {
    const state = await link(await crypto.conversation(conversationId));
    if (state.status === 'outside') return state;
    const isInside = isMember(state) || state.status === 'starting';
    return replay(state, replayFrom(state), isInside ? upTo : undefined);
  }

  /**
   * Reads past the gap that a person's other devices find when they left and were added again: the relay shows the log
   * from there only.
   */
  async function readOnPastGap(conversationId: string, upTo?: number): Promise<ConversationState> {
    try {
      return await readOn(conversationId, upTo);
    } catch (error) {
      if (errorCode(error) !== 'gap' || groupOf(conversationId) === null) throw error;
      if (!(await joiner.returnByWelcome(conversationId))) throw error;
      return readOn(conversationId, upTo);
    }
  }

  async function bringUpToDate(conversationId: string, upTo?: number): Promise<ConversationState> {
    const backoff = createBackoff({
      baseMs: timings.commitRetryBase,
      maxMs: timings.commitRetryMax,
      random: deps.random,
    });
    let state = await readOnPastGap(conversationId, upTo);
    for (let round = 0; round < maxRounds && !isMember(state); round += 1) {
      const isResting = (restingUntil.get(conversationId) ?? 0) > clock.monotonicNow();
      if (isResting && !(await joiner.hasWelcome(conversationId))) return state;
      const entered = await enter(conversationId);
      if (entered === null || entered.kind === 'not-started') return state;
      if (entered.kind === 'lost-race') await delay(clock, backoff.next());
      const ownSeq = entered.kind === 'committed' ? entered.seq : 0;
      const wanted = upTo === undefined ? undefined : Math.max(upTo, ownSeq);
      state = await readOn(conversationId, wanted);
      // A device outside has no position of its own: its log begins with the commit that adds it.
      if (state.status === 'outside' && ownSeq > 0) state = await replay(state, ownSeq - 1, wanted);
    }
    // The rest of the log waits until the running hash goes on from where this device came in.
    if (state.linkFrom !== null) return readOn(conversationId, upTo);
    if (!isMember(state)) {
      restingUntil.set(conversationId, clock.monotonicNow() + timings.rejoinPause);
      log.warn('sync-stalled', { code: state.status });
    }
    return state;
  }

  async function catchUpNow(conversationId: string, upTo?: number): Promise<ConversationState> {
    const state = await bringUpToDate(conversationId, upTo);
    read.add(conversationId);
    emitState(state);
    return state;
  }

  const catchUpFully = coalesceInQueue(queue, catchUpNow);

  function catchUp(conversationId: string, upTo?: number): Promise<ConversationState> {
    forgotten.delete(conversationId);
    if (upTo === undefined) return catchUpFully(conversationId);
    return queue(conversationId, () => catchUpNow(conversationId, upTo));
  }

  function moveReadPosition(conversationId: string, seq: number): Promise<void> {
    return queue(conversationId, async () => {
      let state = await crypto.conversation(conversationId);
      if (seq > state.readSeq) state = await crypto.setReadPosition(conversationId, 'elsewhere', seq);
      emitState(state);
    });
  }

  async function syncConversation(conversationId: string, summary: Summary | undefined): Promise<void> {
    const known = await crypto.conversation(conversationId);
    if (summary !== undefined && summary.readSeq > known.readSeq) {
      // Before the messages are there, so that what was read on another device never looks new on this one.
      await crypto.setReadPosition(conversationId, 'elsewhere', summary.readSeq);
    }
    const current = isMember(known) && (summary === undefined || known.lastSeq >= summary.lastSeq);
    if (current) read.add(conversationId);
    const state = current ? known : await catchUp(conversationId, summary?.lastSeq);
    if (isMember(state)) await joiner.dropWelcomes(conversationId);
    if (summary !== undefined) emitState(await crypto.conversation(conversationId));
  }

  function countProcessed(entries: number): void {
    const progress = store.get(catchUpAtom);
    if (isCounting && progress !== null)
      store.set(catchUpAtom, { ...progress, done: progress.done + entries });
  }

  /** Runs a catch-up, and tells how far it is where that takes a while. */
  async function counting(
    summaries: ReadonlyMap<string, Summary>,
    states: readonly ConversationState[],
    task: () => Promise<void>,
  ): Promise<void> {
    const missing = states
      .filter(({ status }) => status !== 'outside')
      .map(({ conversationId, lastSeq }) => (summaries.get(conversationId)?.lastSeq ?? 0) - lastSeq)
      .reduce((sum, entries) => sum + Math.max(0, entries), 0);
    isCounting = missing >= worthCounting;
    if (isCounting) store.set(catchUpAtom, { done: 0, of: missing });
    try {
      await task();
    } finally {
      if (isCounting) store.set(catchUpAtom, null);
      isCounting = false;
    }
  }

  async function syncAllOnce(): Promise<void> {
    let welcomed = await joiner.refreshMailbox();
    const summaries = new Map((await api.listConversations()).map((one) => [one.conversationId, one]));
    // A start or a commit of ours may have reached the relay without its answer reaching us.
    const states = await crypto.conversations();
    const unfinished = states.filter((state) => state.status === 'starting');
    let ids = [...summaries.keys(), ...welcomed, ...unfinished.map((state) => state.conversationId)];
    await counting(summaries, states, async () => {
      for (let part = 0; part < maxMailboxParts; part += 1) {
        const own = new Set(ids.filter((id) => takesPart(id, ownUserId)));
        await forEachLimited(own, conversationsAtOnce, (id) => syncConversation(id, summaries.get(id)));
        // A full mailbox is answered in parts: the next one follows once these Welcomes are out of it.
        if (welcomed.length === 0 || own.size === 0) return;
        welcomed = await joiner.refreshMailbox();
        ids = [...welcomed];
      }
    });
  }

  /** Processes what has gathered since the last turn in one batch. */
  async function drain(conversationId: string): Promise<void> {
    const events = live.get(conversationId) ?? [];
    live.delete(conversationId);
    if (events.length === 0 || forgotten.has(conversationId)) return;
    // QoS 1 may deliver an entry twice.
    const bySeq = new Map(events.map((event) => [event.seq, fromEvent(event)]));
    const entries = [...bySeq.values()].sort((one, other) => one.seq - other.seq);
    try {
      const state = await process(conversationId, entries.slice(0, limits.messagesPerPage));
      if (isMember(state) && entries.length <= limits.messagesPerPage) return;
    } catch (error) {
      if (errorCode(error) !== 'gap') throw error;
    }
    emitState(await bringUpToDate(conversationId, entries.at(-1)?.seq));
  }

  return {
    syncAll: coalesce(syncAllOnce),
    catchUp,
    hasRead: (conversationId) => read.has(conversationId),

    async onEntry(event) {
      if (!takesPart(event.conversationId, ownUserId)) return;
      const gathered = live.get(event.conversationId);
      if (gathered === undefined) live.set(event.conversationId, [event]);
      else gathered.push(event);
      await queue(event.conversationId, () => drain(event.conversationId));
    },

    async onAvailable({ conversationId, seq }, isStreamed) {
      if (!takesPart(conversationId, ownUserId)) return;
      const streamed = isStreamed ? delay(clock, timings.streamedEntry) : null;
      await Promise.all([streamed, joiner.answered(conversationId)]);
      if (forgotten.has(conversationId)) return;
      const state = await crypto.conversation(conversationId);
      if (!isMember(state) || state.lastSeq < seq) await catchUp(conversationId, seq);
    },

    async onDelivered({ conversationId, readerId, seq }) {
      if (keyOf(conversationId, ownUserId) === null || readerId !== ownUserId) return;
      await moveReadPosition(conversationId, seq);
    },

    moveReadPosition,

    olderEntries: (conversationId, before, limit) =>
      queue(conversationId, async () => {
        const state = await crypto.conversation(conversationId);
        const entries = await page(conversationId, { before, ...joiner.withoutContent(state, 0), limit });
        if (entries.length === 0) return { messages: [], lowestSeq: null };
        const { messages } = await crypto.processEntries(conversationId, entries);
        return { messages, lowestSeq: entries[0]?.seq ?? null };
      }),

    forget(conversationId) {
      forgotten.add(conversationId);
      return queue(conversationId, async () => {
        live.delete(conversationId);
        restingUntil.delete(conversationId);
        joinLookedUp.delete(conversationId);
        await crypto.forgetConversation(conversationId);
      });
    },
  };
}
