/** The rows of the running hash: one for each entry of the current epoch, since no sender refers to an older one. */
import { CryptoError } from '@sinetti/crypto-core';
import { uuidFromBytes, uuidToBytes } from '../codec/uuid.ts';
import { type Transaction, withinConversation } from '../storage/db.ts';
import { sealingKey } from '../storage/sealer.ts';
import type { TransactionScope } from './transactionScope.ts';

const HASH = 32;
const DEVICE = 16;
const LENGTH = 2 * HASH + DEVICE + 2 * 4;
/** A claim above this, to which no log comes, is not kept. */
const MOST = 0xffff_ffff;

/** All that reading takes, which a transaction that only reads has too. */
type RowSource = Pick<TransactionScope, 'account' | 'conversationId'> & { readonly tx: Transaction };

export interface ChainRow {
  readonly seq: number;
  /** The running hash after the entry; null where it isn't known. */
  readonly hash: Uint8Array | null;
  readonly digest: Uint8Array;
  readonly deviceId: string;
  /** The claim in this message's header about its device, in positions of this log; null where it was not confirmed. */
  readonly claim: Claim | null;
}

/** The number of a device's entries up to a position, by its own word. */
export interface Claim {
  readonly position: number;
  readonly count: number;
}

export function putRow(transaction: TransactionScope, row: ChainRow): void {
  const { account, conversationId, tx } = transaction;
  const bytes = new Uint8Array(LENGTH);
  const view = new DataView(bytes.buffer);
  bytes.set(row.hash ?? new Uint8Array(HASH));
  bytes.set(row.digest, HASH);
  bytes.set(uuidToBytes(row.deviceId), 2 * HASH);
  if (row.claim !== null && Math.max(row.claim.position, row.claim.count) <= MOST) {
    view.setUint32(2 * HASH + DEVICE, row.claim.position);
    view.setUint32(2 * HASH + DEVICE + 4, row.claim.count);
  }
  const sealed = account.sealer.sealBytes('chain', sealingKey(conversationId, row.seq), bytes);
  transaction.queueWrite(tx.objectStore('chain').put(sealed, [conversationId, row.seq]));
}

/** Reads a row; null where there is none, or none that opens. */
export async function readRow(source: RowSource, seq: number): Promise<ChainRow | null> {
  const sealed = await source.tx.objectStore('chain').get([source.conversationId, seq]);
  return sealed === undefined ? null : openRow(source, seq, sealed);
}

/** Reads the rows above one position up to and including another, ascending; those that don't open are left out. */
export async function readRows(
  transaction: TransactionScope,
  after: number,
  upTo: number,
): Promise<ChainRow[]> {
  const { conversationId, tx } = transaction;
  if (upTo <= after) return [];
  const range = IDBKeyRange.bound([conversationId, after], [conversationId, upTo], true);
  const store = tx.objectStore('chain');
  const [keys, values] = await Promise.all([store.getAllKeys(range), store.getAll(range)]);
  return keys.flatMap(([, seq], i) => {
    const sealed = values[i];
    const row = sealed === undefined ? null : openRow(transaction, seq, sealed);
    return row === null ? [] : [row];
  });
}

/** Deletes the rows below a position, or all. */
export function deleteRows(transaction: TransactionScope, below?: number): void {
  const { conversationId, tx } = transaction;
  const range =
    below === undefined
      ? withinConversation(conversationId)
      : IDBKeyRange.bound([conversationId], [conversationId, below], false, true);
  transaction.queueWrite(tx.objectStore('chain').delete(range));
}

function openRow(
  { account, conversationId }: Pick<RowSource, 'account' | 'conversationId'>,
  seq: number,
  sealed: Uint8Array,
): ChainRow | null {
  let bytes: Uint8Array;
  try {
    bytes = account.sealer.openBytes('chain', sealingKey(conversationId, seq), sealed);
  } catch (error) {
    // A row that can't be read back leaves nothing to compare with, which is no reason to refuse the entry.
    if (error instanceof CryptoError) return null;
    throw error;
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const hash = bytes.slice(0, HASH);
  // Rows from before have six bytes for each.
  const isShort = bytes.length === LENGTH;
  const at = 2 * HASH + DEVICE;
  const position = isShort ? view.getUint32(at) : readU48(view, at);
  const count = isShort ? view.getUint32(at + 4) : readU48(view, at + 6);
  return {
    seq,
    hash: hash.every((octet) => octet === 0) ? null : hash,
    digest: bytes.slice(HASH, 2 * HASH),
    deviceId: uuidFromBytes(bytes.subarray(2 * HASH, 2 * HASH + DEVICE)),
    claim: position === 0 ? null : { position, count },
  };
}

function readU48(view: DataView, at: number): number {
  return view.getUint16(at) * 0x1_0000_0000 + view.getUint32(at + 2);
}
