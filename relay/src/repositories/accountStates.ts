import type { Db } from '../db/tables.ts';

export interface AccountStateRow {
  readonly version: number;
  readonly sealed: Buffer;
}

export async function findAccountState(db: Db, userId: string): Promise<AccountStateRow | null> {
  const row = await db
    .selectFrom('account_states')
    .select(['version', 'sealed'])
    .where('user_id', '=', userId)
    .executeTakeFirst();
  return row ?? null;
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
