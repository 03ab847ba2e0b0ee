/**
 * The running hash over a conversation's log, and its comparison with what senders say in their headers (PROTOCOL section
 * 10). All entries count as the relay gave them, refused ones included.
 */
import { equalBytes } from '@sinetti/crypto-core';
import {
  type ChainHeader,
  emptyRunningHash,
  entryDigest,
  type LogPosition,
  nextRunningHash,
} from '@sinetti/crypto-core/content';
import type { ConversationChange, LogEntryInput } from '../api/cryptoApi.ts';
import { fromBase64Url } from '../codec/base64url.ts';
import { limits } from '../codec/limits.ts';
import { continues, countAt, fold } from './chainCounts.ts';
import { type ChainRecord, ChainStore, type Diverged } from './chainRecord.ts';
import { type ChainRow, type Claim, deleteRows, putRow, readRow, readRows } from './chainRows.ts';
import { groupIdOf } from './conversationId.ts';
import { LogLink } from './logLink.ts';
import type { TransactionScope } from './transactionScope.ts';

type Finding = Extract<ConversationChange, { kind: 'missing' | 'diverged' }>;

/** The result of a comparison: what was found, and the claim to keep with the message. */
interface Comparison {
  readonly finding: Finding | null;
  readonly claim: Claim | null;
}

/** How far a device has read, by its header or receipt. */
type Reading = Omit<ChainHeader, 'sentAt'>;

const NOTHING: Comparison = { finding: null, claim: null };
const encoder = new TextEncoder();

/** Returns the digest of an entry: the relay's, where it has lost the content. */
export function digestOf(conversationId: string, entry: LogEntryInput): Uint8Array {
  const kept = entry.content === '' && entry.digest ? fromBase64Url(entry.digest) : null;
  return (
    kept ??
    entryDigest({
      groupId: groupIdOf(conversationId),
      position: entry.seq,
      kind: entry.kind,
      epoch: entry.epoch,
      messageId: entry.id,
      userId: entry.sender_id,
      deviceId: entry.sender_device_id,
      content: fromBase64Url(entry.content) ?? encoder.encode(entry.content),
    })
  );
}

/** The running hash of a conversation within one transaction. */
export class LogChain {
  readonly #transaction: TransactionScope;
  // Most messages need neither.
  #stored: ChainStore | null = null;
  #linking: LogLink | null = null;

  constructor(transaction: TransactionScope) {
    this.#transaction = transaction;
  }

  /** How the running hash is taken on from where this device was let in. */
  get linking(): LogLink {
    this.#linking ??= new LogLink(this.#transaction, this.#store);
    return this.#linking;
  }

  /** Starts the running hash before the first entry, at the device that starts the conversation. */
  begin(): void {
    this.#transaction.conversation.chain = { start: 0, hash: emptyRunningHash(), own: 0 };
    this.#store.reset({ from: 0, isComplete: true });
  }

  /** Returns the header of a message that is encrypted now. @param sentAt RFC 3339 */
  header(sentAt: string): ChainHeader {
    const { chain, lastSeq } = this.#transaction.conversation;
    const time = Math.max(0, Date.parse(sentAt) || 0);
    if (chain === null) return { start: 0, position: 0, hash: emptyRunningHash(), count: 0, sentAt: time };
    return { start: chain.start, position: lastSeq, hash: chain.hash, count: chain.own, sentAt: time };
  }

  /** Returns how far a GroupInfo made now says that this device has read; null where it keeps no running hash. */
  async position(): Promise<LogPosition | null> {
    const { conversation } = this.#transaction;
    const { chain, lastSeq, linkFrom } = conversation;
    if (chain !== null) return { start: chain.start, position: lastSeq, hash: chain.hash };
    if (linkFrom !== null) {
      const { anchor } = await this.#store.read();
      return anchor !== null && anchor.position < anchor.start ? null : anchor;
    }
    return lastSeq === 0 ? { start: 0, position: 0, hash: emptyRunningHash() } : null;
  }

  /**
   * Compares the header of another device's message with this log as it is before that message. The position in it is
   * lower than the message's own, because its sender had to encrypt it before the relay numbered it.
   */
  async compare(entry: LogEntryInput, header: ChainHeader): Promise<Comparison> {
    const { conversation } = this.#transaction;
    const { chain } = conversation;
    if (chain === null) {
      // Its sender has read beyond this message, or the relay has numbered what let this device in too low.
      if (header.position >= entry.seq) return this.#tooFar(entry);
      if (conversation.linkFrom === null) await this.#startBy(entry, header);
      return NOTHING;
    }
    if (header.position === 0 || header.start > chain.start) return NOTHING;
    // In a conversation from before, devices start at different headers; the lowest start counts.
    if (header.start < chain.start) {
      // In a log that isn't long nobody's word is needed for it.
      if (header.start === 0 && (await this.#startAtFirst())) return this.compare(entry, header);
      await this.#startBy(entry, header);
      return NOTHING;
    }
    const claim = { position: header.position, count: header.count };
    if (header.position < entry.seq) {
      const hash = await this.#hashAt(header.position);
      if (hash === null) return NOTHING;
      if (equalBytes(hash, header.hash)) {
        conversation.agreedAt = Math.max(conversation.agreedAt, header.position);
        return { finding: null, claim };
      }
    }
    return this.#compareDifferent(entry, header);
  }

  /** Returns whether a device was given the same log as this one up to a position; null where that can't be known. */
  async agrees(reading: Reading): Promise<boolean | null> {
    if (reading.start !== this.#transaction.conversation.chain?.start) return null;
    const hash = await this.#hashAt(reading.position);
    return hash && equalBytes(hash, reading.hash);
  }

  /**
   * Takes note of a receipt that doesn't agree, as of a message that comes now. Receipts come often, so that they show the
   * first difference with a device only.
   */
  async disagree(deviceId: string, reading: Reading): Promise<Finding | null> {
    const record = await this.#store.read();
    if (record.diverged.some((known) => known.deviceId === deviceId)) return null;
    const next = { seq: this.#transaction.conversation.lastSeq + 1, sender_device_id: deviceId };
    const { claim, finding } = await this.#compareDifferent(next, reading, true);
    if (finding?.kind === 'missing' && claim !== null) await this.#count(deviceId, claim);
    return finding;
  }

  /**
   * Notes that an own message whose header said that there is no running hash is in the log, which starts it as it does
   * for the others.
   */
  ownHeaderless(entry: LogEntryInput): void {
    const { conversation } = this.#transaction;
    if (conversation.chain === null && conversation.linkFrom === null) this.#startAt(entry.seq - 1);
  }

  /** Adds the next entry of the log. */
  append(entry: LogEntryInput, claim: Claim | null): void {
    const transaction = this.#transaction;
    const { account, conversation, conversationId } = transaction;
    const digest = digestOf(conversationId, entry);
    const { chain } = conversation;
    const deviceId = entry.sender_device_id;
    if (chain !== null) {
      const own = chain.own + (deviceId === account.device.deviceId ? 1 : 0);
      conversation.chain = { ...chain, hash: nextRunningHash(chain.hash, digest), own };
    }
    putRow(transaction, { seq: entry.seq, hash: conversation.chain?.hash ?? null, digest, deviceId, claim });
  }

  /** Returns whether the relay gives another entry than before at a position of the current epoch. */
  async isContradicted(entry: LogEntryInput): Promise<boolean> {
    const row = await readRow(this.#transaction, entry.seq);
    return row !== null && !equalBytes(row.digest, digestOf(this.#transaction.conversationId, entry));
  }

  /**
   * Drops the rows of the epoch that a commit has ended, since who encrypts in the new one has read that commit.
   * @param seq of the commit, which has been appended
   */
  async startEpoch(seq: number): Promise<void> {
    const record = await this.#store.read();
    const rows = await readRows(this.#transaction, record.from, seq);
    const tallies = new Map(record.tallies.map(({ count, deviceId }) => [deviceId, count]));
    for (const deviceId of new Set(rows.map((row) => row.deviceId))) {
      const count = countAt(record, rows, deviceId, seq);
      if (count === null) tallies.delete(deviceId);
      else tallies.set(deviceId, count);
    }
    const diverged = record.diverged.map((one) => {
      const hash = one.shift === 0 && one.position < seq ? fold(one.hash, rows, one.position, seq) : null;
      return { ...one, compared: 0, isMany: false, ...(hash === null ? {} : { position: seq, hash }) };
    });
    this.#store.put({
      ...record,
      whole: this.#wholeAt(record, rows, seq),
      from: seq,
      tallies: [...tallies].map(([deviceId, count]) => ({ deviceId, count })),
      diverged,
    });
    // Earlier rows are kept for the comparison of two views.
    deleteRows(this.#transaction, seq - limits.rowsKept);
  }

  /** Says once of a device that its log is longer than the one that this device was let into. */
  async #tooFar({ sender_device_id: deviceId }: LogEntryInput): Promise<Comparison> {
    const record = await this.#store.read();
    if (record.diverged.some((known) => known.deviceId === deviceId)) return NOTHING;
    const hash = emptyRunningHash();
    this.#diverge(record, {
      deviceId,
      position: 0,
      hash,
      shift: 0,
      byReceipt: false,
      isLost: true,
      isMany: false,
      compared: 1,
    });
    return { finding: { kind: 'diverged' }, claim: null };
  }

  /** The header shows a log that differs from this one, or one that is longer. */
  async #compareDifferent(
    entry: Pick<LogEntryInput, 'seq' | 'sender_device_id'>,
    header: Reading,
    byReceipt = false,
  ): Promise<Comparison> {
    const record = await this.#store.read();
    const last = entry.seq - 1;
    const known = record.diverged.find(({ deviceId }) => deviceId === entry.sender_device_id);
    // A message that was under way when the difference was found says nothing new.
    if (known !== undefined && header.position < known.position) return NOTHING;
    // Each takes reading the epoch's rows, so a client that says whatever it likes is not asked for ever.
    if (known !== undefined && known.compared >= limits.differingHeaders) return NOTHING;
    const rows = await readRows(this.#transaction, record.from, last);
    const beyond = header.position - last;
    const shift = Math.max(known?.shift ?? 0, beyond);
    const position = header.position - shift;
    // Once positions may differ, all that came since counts, so that nothing is missed that came late.
    const upTo = known === undefined ? position : last;
    const expected = countAt(record, rows, entry.sender_device_id, upTo);
    const missing = expected === null ? 0 : header.count - expected;
    const isSame = known === undefined ? null : continues(known, header, rows);
    const isComparable = known !== undefined && !known.isLost && !known.byReceipt && known.shift === 0;
    // Entries that follow at the same positions, after positions have differed, show that they differ no more.
    const isAligned = isSame === true && (isComparable || header.position > (known?.position ?? 0));
    const isNew =
      known === undefined
        ? !record.diverged.some((other) => continues(other, header, rows) === true)
        : (beyond > known.shift && !known.byReceipt) || (isComparable && isSame === false);
    this.#diverge(record, {
      deviceId: entry.sender_device_id,
      position: header.position,
      hash: header.hash,
      shift: isAligned ? 0 : shift,
      byReceipt,
      compared: (known?.compared ?? 0) + 1,
      isMany: known?.isMany === true || missing >= limits.missingMessages,
      isLost: !isAligned && known !== undefined && (known.isLost || isNew),
    });
    const claim = { position, count: header.count };
    if (missing > 0) {
      const count = Math.min(missing, limits.missingMessages);
      return { finding: known?.isMany === true ? null : { kind: 'missing', count }, claim };
    }
    return { finding: isNew ? { kind: 'diverged' } : null, claim };
  }

  /** Keeps what a receipt has counted as that of a message's header is kept. */
  async #count(deviceId: string, claim: Claim): Promise<void> {
    const record = await this.#store.read();
    const rows = await readRows(this.#transaction, record.from, this.#transaction.conversation.lastSeq);
    const row = rows.findLast((one) => one.deviceId === deviceId);
    if (row !== undefined) return putRow(this.#transaction, { ...row, claim });
    const others = record.tallies.filter((tally) => tally.deviceId !== deviceId);
    this.#store.put({ ...record, tallies: [...others, { deviceId, count: claim.count }] });
  }

  /** Starts anew before the first entry, by the entries that were given here. @returns false where not all of them were */
  async #startAtFirst(): Promise<boolean> {
    const { conversation } = this.#transaction;
    const { chain, lastSeq } = conversation;
    const { whole } = await this.#store.read();
    if (whole === null || chain === null) return false;
    const rows = await readRows(this.#transaction, whole.position - 1, lastSeq);
    const hash = fold(whole.hash, rows, whole.position, lastSeq);
    if (hash === null) return false;
    let running = whole.hash;
    for (const row of rows) {
      if (row.seq > whole.position) running = nextRunningHash(running, row.digest);
      putRow(this.#transaction, { ...row, hash: running, claim: null });
    }
    conversation.chain = { start: 0, hash, own: chain.own };
    this.#store.reset({ from: whole.position, isComplete: false });
    return true;
  }

  /** Starts, or starts anew, from the header of a conversation from before the running hash was kept. */
  async #startBy(entry: LogEntryInput, header: ChainHeader): Promise<void> {
    if (header.position === 0) return this.#startAt(entry.seq - 1);
    const { account, conversation } = this.#transaction;
    const lastRow = entry.seq - 1;
    const rows = await readRows(this.#transaction, header.position, lastRow);
    const hash = header.position > lastRow ? null : fold(header.hash, rows, header.position, lastRow);
    if (hash === null) return;
    // Rows hashed from another start can't be compared with anything any more.
    deleteRows(this.#transaction, header.position + 1);
    let running = header.hash;
    for (const row of rows) {
      running = nextRunningHash(running, row.digest);
      putRow(this.#transaction, { ...row, hash: running, claim: null });
    }
    const own = rows.filter(({ deviceId }) => deviceId === account.device.deviceId).length;
    conversation.chain = { start: header.start, hash, own };
    const { whole } = await this.#store.read();
    this.#store.reset({ from: header.position, isComplete: false, whole });
  }

  /** Takes the hash of the whole log on to a position, if this device has been given all entries up to there. */
  #wholeAt({ whole }: ChainRecord, rows: readonly ChainRow[], position: number): ChainRecord['whole'] {
    // The entries from before it was let in are still to come.
    if (whole === null || this.#transaction.conversation.linkFrom !== null) return whole;
    const hash = fold(whole.hash, rows, whole.position, position);
    return hash === null ? null : { ...whole, position, hash };
  }

  get #store(): ChainStore {
    this.#stored ??= new ChainStore(this.#transaction);
    return this.#stored;
  }

  #startAt(position: number): void {
    this.#transaction.conversation.chain = { start: position, hash: emptyRunningHash(), own: 0 };
    deleteRows(this.#transaction);
    this.#store.reset({ from: position, isComplete: true });
  }

  async #hashAt(position: number): Promise<Uint8Array | null> {
    const { chain, lastSeq } = this.#transaction.conversation;
    if (position === lastSeq) return chain?.hash ?? null;
    if (position === chain?.start) return emptyRunningHash();
    return (await readRow(this.#transaction, position))?.hash ?? null;
  }

  #diverge(record: ChainRecord, entry: Diverged): void {
    const others = record.diverged.filter(({ deviceId }) => deviceId !== entry.deviceId);
    this.#store.put({ ...record, diverged: [...others, entry].slice(-limits.divergedDevices) });
  }
}
