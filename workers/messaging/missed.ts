/** Messages that this device can't have any more, since the relay doesn't keep them for ever (PROTOCOL section 10). */
import { equalBytes } from '@sinetti/crypto-core';
import type {
  ConversationChange,
  ConversationEvent,
  LogEntryInput,
  RetentionRules,
} from '../api/cryptoApi.ts';
import { fromBase64Url, toBase64Url } from '../codec/base64url.ts';
import type { ConversationTransaction } from '../conversation/conversationTransaction.ts';
import { keepEvent, lastEvent, readEvents } from '../conversation/events.ts';
import { digestOf } from '../conversation/logChain.ts';
import { openMessage } from '../conversation/messageView.ts';
import { readCopiesAgain } from '../storage/backupRecord.ts';
import { isEmptied } from './logEntries.ts';
import { isWithheld } from './withheld.ts';

type Source = Pick<LogEntryInput, 'seq' | 'sender_id' | 'sender_device_id' | 'timestamp'>;

/** Messages at positions that follow each other, but for commits between. */
interface Run {
  /** With `withheld`, the relay can't have deleted them yet. */
  readonly kind: 'expired' | 'withheld';
  readonly first: Source;
  count: number;
  upTo: number;
}

/** Returns whether an entry has this content, by its digest where the relay has no more than that. */
export function hasContent(conversationId: string, entry: LogEntryInput, content: Uint8Array): boolean {
  if (!isEmptied(entry)) {
    const given = fromBase64Url(entry.content);
    return given !== null && equalBytes(given, content);
  }
  const same = { ...entry, content: toBase64Url(content) };
  return equalBytes(digestOf(conversationId, same), digestOf(conversationId, entry));
}

/**
 * Returns whether a missed entry is this device's own, and none that it has sent: its data was used in another place. The
 * relay takes entries of a registered start alone, and nothing else is left to tell by.
 */
export async function isFromElsewhere(
  { account, conversationId, tx }: ConversationTransaction,
  { id, sender_device_id, sender_id, seq }: LogEntryInput,
): Promise<boolean> {
  if (sender_id !== account.userId || sender_device_id !== account.device.deviceId) return false;
  const known = await tx.objectStore('messages').index('messageId').getKey(id);
  // At its very place it has come by the message backup.
  return known === undefined || (known[0] === conversationId && known[1] === seq);
}

/** Counts the missed messages of a batch, so that one line says how many they were, however many batches they come in. */
export class Missed {
  readonly #transaction: ConversationTransaction;
  readonly #retention: RetentionRules | null;
  readonly #now: number;
  readonly #runs: Run[] = [];
  #hasMissed = false;

  /** @param now milliseconds since the Unix epoch */
  constructor(transaction: ConversationTransaction, retention: RetentionRules | null, now: number) {
    this.#transaction = transaction;
    this.#retention = retention;
    this.#now = now;
  }

  /**
   * Counts a message that is deleted at the relay, or behind a commit that is.
   * @returns false for one that is to be read: it can be, or waits in the outbox. A device that is out of step reads nothing, and
   *   keeps what the message backup has brought
   */
  async takes(entry: LogEntryInput): Promise<boolean> {
    const { conversation, tx } = this.#transaction;
    const isBehind = conversation.membership === 'forked' && conversation.forkReason === 'expired';
    const isGone = isBehind || (isEmptied(entry) && entry.expired === true);
    if (!isGone && conversation.membership !== 'forked') return false;
    if ((await tx.objectStore('outbox').getKey(entry.id)) !== undefined) return false;
    if (await this.#isRestored(entry)) return true;
    if (!isGone) return false;
    this.#hasMissed = true;
    // Most of what own devices tell each other is no message to anybody.
    await this.#count(entry, this.#transaction.isSelf ? 0 : 1);
    return true;
  }

  /** Takes a commit among missed messages for no end of them. One that the relay keeps back is told of by itself. */
  async passes(entry: LogEntryInput): Promise<void> {
    const { membership } = this.#transaction.conversation;
    if (membership === 'forked' && this.#isWithheld(entry)) return this.#count(entry, 0);
    const run = this.#runs.at(-1);
    if (run?.upTo === entry.seq - 1) run.upTo = entry.seq;
  }

  /** Stores what was counted, and has the message backup read for what it has of that. */
  async keep(): Promise<ConversationEvent[]> {
    const { account, tx } = this.#transaction;
    if (this.#hasMissed) await readCopiesAgain(tx, account);
    return this.#runs.map(({ first, ...change }) => keepEvent(this.#transaction, first, change));
  }

  async #count(entry: LogEntryInput, counted: number): Promise<void> {
    const known = await this.#runBefore(entry.seq);
    const isWithheldNow = this.#isWithheld(entry);
    // Behind a commit that is kept back, all is missed for the same reason.
    if (known !== null && (known.kind === 'withheld' || !isWithheldNow)) {
      known.count += counted;
      known.upTo = entry.seq;
      return;
    }
    const kind = isWithheldNow ? 'withheld' : 'expired';
    this.#runs.push({ kind, first: entry, count: counted, upTo: entry.seq });
  }

  #isWithheld(entry: LogEntryInput): boolean {
    return isWithheld(this.#transaction, entry, this.#retention, this.#now);
  }

  /** The message backup has brought it before. */
  async #isRestored({ id, seq }: Pick<LogEntryInput, 'id' | 'seq'>): Promise<boolean> {
    const { account, conversationId, tx } = this.#transaction;
    const row = await tx.objectStore('messages').get([conversationId, seq]);
    return row?.messageId === id && openMessage(account, conversationId, seq, row).payload !== null;
  }

  /** The run that ends right before a position, of this batch or of one before. */
  async #runBefore(seq: number): Promise<Run | null> {
    const known = this.#runs.at(-1);
    if (known !== undefined) return known.upTo === seq - 1 ? known : null;
    const last = await lastEvent(this.#transaction);
    if (last === null || !isRun(last.change) || last.change.upTo !== seq - 1) return null;
    const { senderDeviceId, senderId, timestamp } = last;
    const first = { seq: last.seq, sender_id: senderId, sender_device_id: senderDeviceId, timestamp };
    const run = { ...last.change, first };
    this.#runs.push(run);
    return run;
  }
}

/** Returns the positions, of those given, that were counted as missed. */
export async function missedAmong(
  { account, conversationId, tx }: ConversationTransaction,
  seqs: readonly number[],
): Promise<ReadonlySet<number>> {
  if (seqs.length === 0) return new Set();
  const events = await readEvents(tx, account, conversationId);
  const isMissed = (at: number) =>
    events.some(({ change, seq }) => isRun(change) && seq <= at && at <= change.upTo);
  return new Set(seqs.filter(isMissed));
}

function isRun(
  change: ConversationChange,
): change is Extract<ConversationChange, { kind: 'expired' | 'withheld' }> {
  return change.kind === 'expired' || change.kind === 'withheld';
}
