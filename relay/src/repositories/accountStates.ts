import type { Db } from '../db/tables.ts';

export interface AccountStateRow {
  readonly version: number;
  readonly sealed: Buffer;
}

export interface StoredAccountState extends AccountStateRow {
  /** In no order: the signature over the state has that. */
  readonly segments: readonly Buffer[];
}

/** Reads a state with its segments, by one statement, so that both are of one time. */
export async function findAccountState(db: Db, userId: string): Promise<StoredAccountState | null> {
  const rows = await db
    .selectFrom('account_states as state')
    .leftJoin('account_state_segments as segment', 'segment.user_id', 'state.user_id')
    .select(['state.version', 'state.sealed', 'segment.sealed as segment'])
    .where('state.user_id', '=', userId)
    .execute();
  const [first] = rows;
  if (first === undefined) return null;
  const segments = rows.flatMap(({ segment }) => (segment === null ? [] : [segment]));
  return { version: first.version, sealed: first.sealed, segments };
}

/** Returns the version of a person's state, 0 for none, and whether it is in segments. */
export async function findStateVersion(
  db: Db,
  userId: string,
): Promise<{ readonly version: number; readonly isInSegments: boolean }> {
  const state = await db
    .selectFrom('account_states')
    .select('version')
    .where('user_id', '=', userId)
    .executeTakeFirst();
  const segment = await db
    .selectFrom('account_state_segments')
    .select('hash')
    .where('user_id', '=', userId)
    .limit(1)
    .executeTakeFirst();
  return { version: state?.version ?? 0, isInSegments: segment !== undefined };
}

export interface SegmentRow {
  /** SHA-256, in hexadecimal. */
  readonly hash: string;
  readonly sealed: Buffer;
}

/** Stores segments, and deletes all that are not among those of these hashes. @returns the number of segments there are then */
export async function replaceSegments(
  db: Db,
  userId: string,
  hashes: readonly string[],
  added: readonly SegmentRow[],
): Promise<number> {
  if (added.length > 0) {
    await db
      .insertInto('account_state_segments')
      .values(added.map((segment) => ({ user_id: userId, ...segment })))
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  }
  let gone = db.deleteFrom('account_state_segments').where('user_id', '=', userId);
  if (hashes.length > 0) gone = gone.where('hash', 'not in', hashes);
  await gone.execute();
  const { count } = await db
    .selectFrom('account_state_segments')
    .select((query) => query.fn.countAll<number | string>().as('count'))
    .where('user_id', '=', userId)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Stores a state if the stored version is the one before; 0 stands for none. False if it is not. */
export async function replaceAccountState(
  db: Db,
  userId: string,
  { version, sealed }: AccountStateRow,
): Promise<boolean> {
  if (version === 1) {
    const { numInsertedOrUpdatedRows } = await db
      .insertInto('account_states')
      .values({ user_id: userId, version, sealed })
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirstOrThrow();
    return numInsertedOrUpdatedRows === 1n;
  }
  const { numUpdatedRows } = await db
    .updateTable('account_states')
    .set({ version, sealed })
    .where('user_id', '=', userId)
    .where('version', '=', version - 1)
    .executeTakeFirstOrThrow();
  return numUpdatedRows === 1n;
}
