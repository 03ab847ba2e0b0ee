import type { ToldState as Told } from '../../crypto/client.ts';
import type { Timer } from '../../lib/clock.ts';
import { coalesce } from '../../lib/coalesce.ts';
import { type ConversationKey, chatsAtom, groupIdOfKey } from '../../store/chats.ts';
import { draftsAtom } from '../../store/drafts.ts';
import { changedDrafts } from '../conversations/drafts.ts';
import type { Outbox } from '../conversations/outbox.ts';
import type { Sync } from '../conversations/sync.ts';
import { conversationOf, isUnseen, keyOf, selfConversationId } from '../core/conversationIds.ts';
import type { SessionDeps } from '../core/deps.ts';
import type { Background } from '../core/failures.ts';
import { onStates } from '../core/sessionEvents.ts';
import { timings } from '../core/timings.ts';

export type Drafts = Readonly<Record<ConversationKey, string>>;

/** Keeps read positions and drafts in step with the person's other devices (PROTOCOL section 2). */
export interface OwnState {
  /** Takes over what other devices have told. */
  take(told: Told): Promise<void>;
  stop(): void;
}

export interface OwnStateOptions {
  readonly deps: SessionDeps;
  readonly ownUserId: string;
  readonly sync: Pick<Sync, 'moveReadPosition'>;
  readonly outbox: Pick<Outbox, 'flush'>;
  readonly background: Background;
}

/** @param draftsBefore the drafts that this browser had kept: what has changed since is told */
export function createOwnState(options: OwnStateOptions, draftsBefore: Drafts): OwnState {
  const { background, outbox, ownUserId, sync } = options;
  const { clock, crypto, sessionEvents, store } = options.deps;
  const conversationOfOwn = selfConversationId(ownUserId);
  /** By conversation id: what gathers for the next message. */
  const reads = new Map<string, number>();
  const drafts = new Map<string, string>();
  /** Drafts of other devices that wait for the end of the typing here. */
  const held = new Map<ConversationKey, string>();
  const typedAt = new Map<ConversationKey, number>();
  /** Drafts in groups that have yet to come here: where one was started, something may be written before this device has it. */
  const early = new Map<ConversationKey, string>();
  let seen = draftsBefore;
  let timer: Timer | null = null;
  let restingUntil = 0;
  let isStopped = false;

  const tell = coalesce(async () => {
    const state = {
      reads: [...reads].map(([conversationId, seq]) => ({ conversationId, seq })),
      drafts: [...drafts].map(([conversationId, text]) => ({ conversationId, text })),
    };
    reads.clear();
    drafts.clear();
    restingUntil = clock.monotonicNow() + timings.ownStateSpacing;
    try {
      if (!(await crypto.tellOwnDevices(state))) return;
    } catch (error) {
      for (const { conversationId, seq } of state.reads)
        reads.set(conversationId, Math.max(seq, reads.get(conversationId) ?? 0));
      for (const { conversationId, text } of state.drafts)
        if (!drafts.has(conversationId)) drafts.set(conversationId, text);
      tellLater();
      throw error;
    }
    await outbox.flush(conversationOfOwn);
    const waiting = await crypto.outbox(conversationOfOwn);
    // No person sees that it failed, and tries again.
    if (waiting.some((message) => message.status === 'failed' && isUnseen(message))) tellLater();
  });

  function tellLater(): void {
    restingUntil = clock.monotonicNow() + timings.ownStateRetry;
    tellSoon();
  }

  function tellSoon(): void {
    if (isStopped) return;
    timer ??= clock.after(Math.max(timings.ownStateGathering, restingUntil - clock.monotonicNow()), () => {
      timer = null;
      background(tell);
    });
  }

  function noteDrafts(): void {
    const present = store.get(draftsAtom);
    for (const key of changedDrafts(seen, present)) {
      const conversationId = conversationOf(key, ownUserId);
      if (conversationId === null) continue;
      typedAt.set(key, clock.monotonicNow());
      held.delete(key);
      drafts.set(conversationId, present[key] ?? '');
      tellSoon();
    }
    seen = present;
  }
  function takeEarly(): void {
    const chats = store.get(chatsAtom);
    for (const [key, text] of early) {
      if (!(key in chats)) continue;
      early.delete(key);
      takeDraft(key, text);
    }
  }
  const unsubscribes = [store.sub(draftsAtom, noteDrafts), store.sub(chatsAtom, takeEarly)];
  noteDrafts();
  // The session before may have left something.
  tellSoon();

  sessionEvents.on('draftsTaken', ({ drafts: taken }) => {
    seen = { ...seen, ...taken };
    for (const key of Object.keys(taken)) drafts.delete(conversationOf(key, ownUserId) ?? '');
  });
  sessionEvents.on('mutesChanged', ({ isHere }) => {
    if (isHere) tellSoon();
  });
  let devices = 0;
  onStates(sessionEvents, (states) => {
    const own = states.find((state) => state.conversationId === conversationOfOwn);
    const count = own?.members.flatMap(({ deviceIds }) => deviceIds).length ?? devices;
    // A new device knows nothing of what is muted.
    if (count > devices) tellSoon();
    devices = count;
  });

  sessionEvents.on('readHere', ({ conversationId, seq }) => {
    reads.set(conversationId, seq);
    tellSoon();
  });

  function show(key: ConversationKey, text: string): void {
    if (isStopped) return;
    // Before the store has it, so that it isn't told again.
    seen = { ...seen, [key]: text };
    store.set(draftsAtom, (present) => ({ ...present, [key]: text }));
  }

  function takeDraft(key: ConversationKey, text: string): void {
    const restOfTyping =
      (typedAt.get(key) ?? Number.NEGATIVE_INFINITY) + timings.typingPause - clock.monotonicNow();
    if ((seen[key] ?? '') === '' || restOfTyping <= 0) return show(key, text);
    const isAwaited = held.has(key);
    held.set(key, text);
    if (isAwaited) return;
    clock.after(restOfTyping, () => {
      const newest = held.get(key);
      // Typing on has made the draft here the newer one.
      if (newest === undefined) return;
      held.delete(key);
      takeDraft(key, newest);
    });
  }

  return {
    async take(told) {
      if (told.mutes) sessionEvents.emit('mutesChanged', { isHere: false });
      for (const { conversationId, text } of told.drafts) {
        const key = keyOf(conversationId, ownUserId);
        // A draft that changed here meanwhile is the newer one, and about to be told.
        if (key === null || drafts.has(conversationId)) continue;
        const isHere = groupIdOfKey(key) === null || key in store.get(chatsAtom);
        if (isHere) takeDraft(key, text);
        else early.set(key, text);
      }
      for (const { conversationId, seq } of told.reads) {
        if ((reads.get(conversationId) ?? 0) <= seq) reads.delete(conversationId);
        const key = keyOf(conversationId, ownUserId);
        // A conversation that isn't here learns of it when it comes.
        if (key !== null && key in store.get(chatsAtom)) await sync.moveReadPosition(conversationId, seq);
      }
    },

    stop() {
      isStopped = true;
      timer?.cancel();
      for (const unsubscribe of unsubscribes) unsubscribe();
    },
  };
}
