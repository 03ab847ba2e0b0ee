/**
 * How a device that was let in comes by the running hash, and a device that comes back by one that goes on from its own
 * (PROTOCOL section 10).
 */
import { equalBytes } from '@sinetti/crypto-core';
import { emptyRunningHash, type LogPosition, nextRunningHash } from '@sinetti/crypto-core/content';
import { limits } from '../codec/limits.ts';
import type { ChainRecord, ChainStore, Mark, SignedPosition } from './chainRecord.ts';
import { deleteRows, putRow, readRows } from './chainRows.ts';
import type { TransactionScope } from './transactionScope.ts';

/** The device whose word of the log is not what this one was given. */
export type Differing = NonNullable<ChainRecord['signer']>;

export class LogLink {
  readonly #transaction: TransactionScope;
  readonly #store: ChainStore;

  constructor(transaction: TransactionScope, store: ChainStore) {
    this.#transaction = transaction;
    this.#store = store;
  }

  /** Remembers how far this device has read, before it is taken out. */
  async leave(): Promise<void> {
    const { chain, lastSeq } = this.#transaction.conversation;
    if (chain === null) return;
    const past = { start: chain.start, position: lastSeq, hash: chain.hash };
    this.#store.put({ ...(await this.#store.read()), past });
  }

  /**
   * Begins anew after this device was let in. What the signer of the GroupInfo says of the log, and what this device had
   * read of it before, is compared as {@link link} passes.
   * @param signed null where the signer kept no running hash: then, in a long log, the first header that is read starts it
   * @param seq of the commit that lets this device in
   */
  async join(signed: SignedPosition | null, seq: number): Promise<void> {
    const { conversation } = this.#transaction;
    const past = await this.#past();
    // A position that can't be is found out by the headers that follow, which say how far their senders had read.
    const position = signed !== null && signed.position < seq ? signed : null;
    const { anchor, marks } =
      position === null ? { anchor: past ?? beginningOf(seq), marks: [] } : route(position, past);
    conversation.chain = null;
    conversation.linkFrom = anchor?.position ?? null;
    deleteRows(this.#transaction);
    this.#store.reset({
      anchor,
      marks,
      signer: signed?.signer ?? null,
      from: 0,
      isComplete: false,
    });
  }

  /**
   * Takes the running hash on as far as there are rows or digests of the entries since.
   * @param digests by position
   * @returns the signer of the GroupInfo, where what it says of the log differs from these entries, or these from what
   *   this device had read before
   */
  async link(digests: ReadonlyMap<number, Uint8Array>): Promise<Differing | null> {
    const { account, conversation } = this.#transaction;
    const record = await this.#store.read();
    const { anchor, marks, signer } = record;
    if (conversation.linkFrom === null || anchor === null) return null;
    const { lastSeq } = conversation;
    const stored = await readRows(this.#transaction, anchor.position, lastSeq);
    const rows = new Map(stored.map((row) => [row.seq, row]));
    let { hash, position } = anchor;
    let own = 0;
    let differs = false;
    const compare = () => {
      for (const mark of marks) {
        if (mark.position !== position || equalBytes(mark.hash, hash)) continue;
        differs = true;
        if (mark.leads) hash = mark.hash;
      }
    };
    compare();
    while (position < lastSeq) {
      const row = rows.get(position + 1);
      const digest = row?.digest ?? digests.get(position + 1);
      if (digest === undefined) break;
      position++;
      hash = nextRunningHash(hash, digest);
      compare();
      if (row !== undefined) putRow(this.#transaction, { ...row, hash });
      if (row?.deviceId === account.device.deviceId) own++;
    }
    // One difference shows in all that follows, so that it is told of once.
    const left = differs ? [] : marks.filter((mark) => mark.position > position);
    if (position < lastSeq) {
      conversation.linkFrom = position;
      this.#store.put({ ...record, anchor: { ...anchor, position, hash }, marks: left });
    } else {
      conversation.chain = { start: anchor.start, hash, own };
      conversation.linkFrom = null;
      this.#store.put({ ...record, anchor: null, marks: [], signer: null });
    }
    return differs ? signer : null;
  }

  /** How far this device had read when it was in here last; null where that isn't known for certain. */
  async #past(): Promise<LogPosition | null> {
    const { chain, lastSeq, membership } = this.#transaction.conversation;
    if (membership === 'none') return (await this.#store.read()).past;
    return chain === null ? null : { start: chain.start, position: lastSeq, hash: chain.hash };
  }
}

/** The start of a log that isn't long, so that nobody's word is its beginning; null in a longer one. */
function beginningOf(seq: number): LogPosition | null {
  return seq <= limits.entriesLinked ? { start: 0, position: 0, hash: emptyRunningHash() } : null;
}

/**
 * Returns where the hash is taken on from, and what it is compared with on the way. In a log that isn't long it starts at
 * the beginning, and is that of the entries as the relay gives them; in a long one it goes on from this device's own past, or
 * from the signer's word.
 */
function route(signed: LogPosition, past: LogPosition | null): { anchor: LogPosition; marks: Mark[] } {
  const { start } = signed;
  const own = past !== null && past.start === start ? past : null;
  const known = own === null ? [] : [markOf(own)];
  if (signed.position - start <= limits.entriesLinked) {
    return {
      anchor: { start, position: start, hash: emptyRunningHash() },
      marks: [markOf(signed), ...known],
    };
  }
  if (own !== null && own.position <= signed.position)
    return { anchor: own, marks: [{ ...markOf(signed), leads: true }] };
  return { anchor: { start, position: signed.position, hash: signed.hash }, marks: known };
}

function markOf({ hash, position }: LogPosition): Mark {
  return { position, hash, leads: false };
}
