/** Messages that this device can't have any more, since the relay doesn't keep them for ever (PROTOCOL section 10). */
import { equalBytes } from '@sinetti/crypto-core';
import type { ConversationEvent, LogEntryInput } from '../api/cryptoApi.ts';
import { fromBase64Url, toBase64Url } from '../codec/base64url.ts';
import type { ConversationTransaction } from '../conversation/conversationTransaction.ts';
import { keepEvent, lastEvent, readEvents } from '../conversation/events.ts';
import { digestOf } from '../conversation/logChain.ts';
import { openMessage } from '../conversation/views.ts';
import { readCopiesAgain } from '../storage/backupRecord.ts';

type Source = Pick<LogEntryInput, 'seq' | 'sender_id' | 'sender_device_id' | 'timestamp'>;

/** Messages at positions that follow each other, but for commits between. */
interface Run {
  readonly first: Source;
  count: number;
  upTo: number;
}

/** Returns whether the relay has only the digest of an entry. */
export function isEmptied({ content, digest }: Pick<LogEntryInput, 'content' | 'digest'>): boolean {
  return content === '' && Boolean(digest);
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
  readonly #runs: Run[] = [];
  #hasMissed = false;

  constructor(transaction: ConversationTransaction) {
    this.#transaction = transaction;
  }

  /**
   * Counts a message that is deleted at the relay, or behind a commit that is.
   * @returns false for one that is to be read: it can be, or waits in the outbox
   */
  async takes(entry: LogEntryInput): Promise<boolean> {
    const { conversation, tx } = this.#transaction;
    const isBehind = conversation.membership === 'forked' && conversation.forkReason === 'expired';
    if (!isBehind && !(isEmptied(entry) && entry.expired === true)) return false;
    if ((await tx.objectStore('outbox').getKey(entry.id)) !== undefined) return false;
    if (await this.#isRestored(entry)) return true;
    this.#hasMissed = true;
    // Most of what own devices tell each other is no message to anybody.
    const counted = this.#transaction.isSelf ? 0 : 1;
    const run = await this.#runBefore(entry.seq);
    if (run === null) this.#runs.push({ first: entry, count: counted, upTo: entry.seq });
    else Object.assign(run, { count: run.count + counted, upTo: entry.seq });
    return true;
  }

  /** Takes a commit among missed messages for no end of them. */
  passes({ seq }: Pick<LogEntryInput, 'seq'>): void {
    const run = this.#runs.at(-1);
    if (run?.upTo === seq - 1) run.upTo = seq;
  }

  /** Stores what was counted, and has the message backup read for what it has of that. */
  async keep(): Promise<ConversationEvent[]> {
    const { account, tx } = this.#transaction;
    if (this.#hasMissed) await readCopiesAgain(tx, account);
    return this.#runs.map(({ first, count, upTo }) =>
      keepEvent(this.#transaction, first, { kind: 'expired', count, upTo }),
    );
  }

  /** The message backup has brought it before. */
  async #isRestored({ seq }: Pick<LogEntryInput, 'seq'>): Promise<boolean> {
    const { account, conversationId, tx } = this.#transaction;
    const row = await tx.objectStore('messages').get([conversationId, seq]);
    return row !== undefined && openMessage(account, conversationId, seq, row).payload !== null;
  }

  /** The run that ends right before a position, of this batch or of one before. */
  async #runBefore(seq: number): Promise<Run | null> {
    const known = this.#runs.at(-1);
    if (known !== undefined) return known.upTo === seq - 1 ? known : null;
    const last = await lastEvent(this.#transaction);
    if (last?.change.kind !== 'expired' || last.change.upTo !== seq - 1) return null;
    const { senderDeviceId, senderId, timestamp } = last;
    const first = { seq: last.seq, sender_id: senderId, sender_device_id: senderDeviceId, timestamp };
    const run = { first, count: last.change.count, upTo: last.change.upTo };
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
    events.some(({ change, seq }) => change.kind === 'expired' && seq <= at && at <= change.upTo);
  return new Set(seqs.filter(isMissed));
}
