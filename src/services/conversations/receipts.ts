import type { ConversationState, GivenReceipt } from '../../crypto/client.ts';
import type { Timer } from '../../lib/clock.ts';
import { createKeyedQueue } from '../../lib/keyedQueue.ts';
import { type IncomingEvent, limits } from '../../net/contract.ts';
import { isApiError } from '../../net/errors.ts';
import { activeConversationAtom } from '../../store/chats.ts';
import { conversationOf, groupConversationId, groupOf, keyOf, selfOf } from '../core/conversationIds.ts';
import type { SessionDeps } from '../core/deps.ts';
import type { Background } from '../core/failures.ts';
import { registerStart } from '../core/place.ts';
import { onStates } from '../core/sessionEvents.ts';
import { timings } from '../core/timings.ts';
import type { Sync } from './sync.ts';

type ReceiptEvent = Extract<IncomingEvent, { type: 'receipt' }>;

export interface Receipts {
  onReceipt(event: ReceiptEvent): Promise<void>;
  /** Reads the receipts of the chat that is open, since those are told only to who listens. */
  refreshOpen(): Promise<void>;
  /** Tells soon how far this device has received and read, if there is more to say than the relay knows. */
  tell(state: ConversationState): void;
  stop(): void;
}

export interface ReceiptsOptions {
  readonly deps: SessionDeps;
  readonly ownUserId: string;
  readonly sync: Pick<Sync, 'catchUp' | 'hasRead' | 'onAvailable'>;
  readonly hasToken: () => boolean;
  /** The relay has it no more, or is being told so. */
  readonly isGone: (conversationId: string) => Promise<boolean>;
  /** The person lets others see how far they have received and read. */
  readonly isShown: () => boolean;
  readonly background: Background;
}

/** Gives the relay this device's receipts, and the worker those of others, which it checks. */
export function createReceipts(options: ReceiptsOptions): Receipts {
  const { background, hasToken, isGone, ownUserId, sync } = options;
  const { api, clock, crypto, random, sessionEvents, store } = options.deps;
  const queue = createKeyedQueue();
  let isPlaced = false;
  /** Conversations whose receipt waits for what comes with it. */
  const waiting = new Map<string, Timer>();
  /** By conversation and device: the newest receipt that is ahead of this device. */
  const ahead = new Map<string, Map<string, GivenReceipt>>();

  function openConversationId(): string | null {
    const key = store.get(activeConversationAtom);
    return key === null ? null : conversationOf(key, ownUserId);
  }

  async function send(conversationId: string): Promise<void> {
    if (!hasToken() || (await isGone(conversationId))) return;
    // A copy of this storage learns so before it says anything under the name of the device: from the entries of the other place, where
    // the relay lies about starts.
    if (!sync.hasRead(conversationId)) await sync.catchUp(conversationId);
    if (!isPlaced) await registerStart(options.deps);
    isPlaced = true;
    const made = await crypto.makeReceipt(conversationId, options.isShown());
    // It may have gone, or the session, while the worker was busy.
    if (made === null || !hasToken() || (await isGone(conversationId))) return;
    const { epoch, position } = made.receipt;
    try {
      await api.putReceipt(conversationId, made.receipt);
    } catch (error) {
      // The relay takes none there, or none of this: what it hears next may be taken.
      if (isApiError(error, 'not-found', 'forbidden', 'invalid-request')) return;
      throw error;
    }
    await crypto.receiptStored(conversationId, { epoch, position, readSeq: made.readSeq });
  }

  function tell({ conversationId, receiptDue }: ConversationState): void {
    if (!receiptDue || waiting.has(conversationId)) return;
    const isGroup = groupOf(conversationId) !== null;
    // In a group only people who look at it tell, and not all in the same moment.
    if (isGroup && openConversationId() !== conversationId) return;
    const delay = timings.receiptDelay + (isGroup ? random() * timings.receiptSpread : 0);
    const timer = clock.after(delay, () => {
      waiting.delete(conversationId);
      background(() => queue(conversationId, () => send(conversationId)));
    });
    waiting.set(conversationId, timer);
  }

  /** Gives the worker the receipts that are of its epoch; those that are ahead wait until this device is there. */
  async function take(conversationId: string, receipts: readonly GivenReceipt[]): Promise<void> {
    const state = await crypto.conversation(conversationId);
    const held = ahead.get(conversationId) ?? new Map<string, GivenReceipt>();
    const present: GivenReceipt[] = [];
    for (const receipt of receipts) {
      const { deviceId, epoch, position } = receipt;
      const isAhead = epoch > state.epoch || position > state.lastSeq;
      if (isAhead && position >= (held.get(deviceId)?.position ?? 0)) held.set(deviceId, receipt);
      if (!isAhead && epoch === state.epoch) present.push(receipt);
    }
    if (held.size > 0) ahead.set(conversationId, held);
    if (present.length === 0) return;
    const { events, state: after } = await crypto.takeReceipts(conversationId, present, options.isShown());
    sessionEvents.emit('receiptsTaken', { events, state: after });
  }

  /** Takes the receipts again that were ahead, if this device is now where they are. */
  function takeHeld({ conversationId, epoch, lastSeq }: ConversationState): void {
    const held = ahead.get(conversationId);
    if (held === undefined) return;
    const reached = [...held.values()].filter((one) => one.epoch <= epoch && one.position <= lastSeq);
    for (const { deviceId } of reached) held.delete(deviceId);
    if (held.size === 0) ahead.delete(conversationId);
    if (reached.length > 0) background(() => queue(conversationId, () => take(conversationId, reached)));
  }

  function forget(conversationId: string): void {
    waiting.get(conversationId)?.cancel();
    waiting.delete(conversationId);
    ahead.delete(conversationId);
  }

  onStates(sessionEvents, (states) => {
    for (const state of states) {
      takeHeld(state);
      tell(state);
    }
  });
  sessionEvents.on('groupForgotten', ({ groupId }) => forget(groupConversationId(groupId)));

  return {
    async onReceipt({ type: _type, conversationId, ...receipt }) {
      if (keyOf(conversationId, ownUserId) === null) return;
      await queue(conversationId, () => take(conversationId, [receipt]));
      // Its device has read further, so this one can too: the entries are late, or kept back.
      if (!ahead.has(conversationId)) return;
      await sync.onAvailable({ type: 'available', conversationId, seq: receipt.position }, true);
    },

    async refreshOpen() {
      const conversationId = openConversationId();
      const isOwn = conversationId !== null && selfOf(conversationId) !== null;
      if (conversationId === null || isOwn || !hasToken() || (await isGone(conversationId))) return;
      const state = await crypto.conversation(conversationId);
      if (state.status !== 'joined' || state.members.length > limits.peopleWithReceipts) return;
      tell(state);
      try {
        const receipts = await api.listReceipts(conversationId);
        await queue(conversationId, () => take(conversationId, receipts));
      } catch (error) {
        if (!isApiError(error, 'not-found')) throw error;
      }
    },

    tell,

    stop() {
      for (const timer of waiting.values()) timer.cancel();
      waiting.clear();
    },
  };
}
