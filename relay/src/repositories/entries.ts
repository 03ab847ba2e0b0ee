import { sql } from 'kysely';
import { prepared } from '../db/prepared.ts';
import type { Db } from '../db/tables.ts';
import { entriesAtOnce } from './entriesAtOnce.ts';

export interface EntryHead {
  readonly conversationId: string;
  readonly seq: number;
  readonly id: string;
  readonly kind: 'application' | 'commit';
  readonly epoch: number;
  readonly senderId: string;
  readonly senderDeviceId: string;
  readonly createdAt: number;
}

export interface EntryRow extends EntryHead {
  readonly content: Buffer;
}

/** An entry as it is stored. */
export interface StoredEntry extends EntryRow {
  /** The digest of the entry as it was, if its content or sender is gone; else null. */
  readonly digest: Buffer | null;
}

const headColumns = [
  'conversation_id',
  'seq',
  'id',
  'kind',
  'epoch',
  'sender_id',
  'sender_device_id',
  'created_at',
] as const;

export interface StoredHead {
  conversation_id: string;
  seq: number;
  id: string;
  kind: 'application' | 'commit';
  epoch: number;
  sender_id: string;
  sender_device_id: string;
  created_at: number;
}

const fromRow = (row: StoredHead): EntryHead => ({
  conversationId: row.conversation_id,
  seq: row.seq,
  id: row.id,
  kind: row.kind,
  epoch: row.epoch,
  senderId: row.sender_id,
  senderDeviceId: row.sender_device_id,
  createdAt: row.created_at,
});

export const entryInsertion = prepared<EntryRow>()((db, entry) =>
  db.insertInto('entries').values({
    conversation_id: entry('conversationId'),
    seq: entry('seq'),
    id: entry('id'),
    kind: entry('kind'),
    epoch: entry('epoch'),
    sender_id: entry('senderId'),
    sender_device_id: entry('senderDeviceId'),
    content: entry('content'),
    created_at: entry('createdAt'),
  }),
);

export async function insertEntry(db: Db, entry: EntryRow): Promise<void> {
  await entryInsertion(db, entry);
}

export const entryQuery = prepared<{ id: string }>()((db, parameter) =>
  db.selectFrom('entries').select(headColumns).where('id', '=', parameter('id')),
);

const positions = Array.from({ length: entriesAtOnce }, (_, position) => String(position));

/**
 * Finds the entries of `entriesAtOnce` ids, which are named by their positions. Naming an id again is
 * harmless.
 */
export const entriesQuery = prepared<Readonly<Record<string, string>>>()((db, id) =>
  db.selectFrom('entries').select(headColumns).where('id', 'in', positions.map(id)),
);

export async function findEntry(db: Db, id: string): Promise<EntryHead | null> {
  const [row] = await entryQuery(db, { id });
  return row === undefined ? null : fromRow(row);
}

export interface PageRequest {
  /** Entries above this position, lowest first taken. Without it the highest are taken. */
  readonly after?: number | undefined;
  /** Entries from this position on, whatever else is asked for. */
  readonly from?: number | undefined;
  /** Entries below this position. */
  readonly before?: number | undefined;
  readonly limit: number;
  /** No more content than this altogether, except that the first entry taken always comes. */
  readonly maxBytes: number;
}

/** A page of a conversation's log, ascending by position. */
export async function entriesOf(db: Db, conversationId: string, page: PageRequest): Promise<StoredEntry[]> {
  const upwards = page.after !== undefined;
  const lowest = Math.max(page.from ?? 0, upwards ? (page.after ?? 0) + 1 : 0);
  const sizes = await db
    .selectFrom('entries')
    .select(['seq', sql<number>`length(content)`.as('size')])
    .where('conversation_id', '=', conversationId)
    .$if(lowest > 0, (query) => query.where('seq', '>=', lowest))
    .$if(page.before !== undefined, (query) => query.where('seq', '<', page.before ?? 0))
    .orderBy('seq', upwards ? 'asc' : 'desc')
    .limit(page.limit)
    .execute();
  const seqs = sizes.slice(0, countWithin(sizes, page.maxBytes)).map((row) => row.seq);
  if (seqs.length === 0) return [];
  return entriesAt(db, conversationId, seqs);
}

/** The entries at these positions, which are next to each other, ascending. */
export async function entriesAt(
  db: Db,
  conversationId: string,
  seqs: readonly number[],
): Promise<StoredEntry[]> {
  const rows = await db
    .selectFrom('entries')
    .select([...headColumns, 'content', 'digest'])
    .where('conversation_id', '=', conversationId)
    .where('seq', '>=', Math.min(...seqs))
    .where('seq', '<=', Math.max(...seqs))
    .orderBy('seq')
    .execute();
  return rows.map((row) => ({ ...fromRow(row), content: row.content, digest: row.digest }));
}

/** Counts the items, from the first, that stay within a number of bytes; at least one. */
export function countWithin(items: readonly { readonly size: number }[], maxBytes: number): number {
  let bytes = 0;
  const beyond = items.findIndex(({ size }, index) => {
    bytes += size;
    return index > 0 && bytes > maxBytes;
  });
  return beyond === -1 ? items.length : beyond;
}
