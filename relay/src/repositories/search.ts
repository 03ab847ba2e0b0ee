import type { NameIndex } from '../db/nameIndex.ts';
import type { Db } from '../db/tables.ts';
import { fromRow, profileColumns, type StoredProfile, type UserRow } from './users.ts';

/** The length of the parts that names are indexed by. */
const partLength = 3;

/**
 * People whose username contains the text, or whose email is the text: first whoever is called so, then those whose
 * usernames begin so, in their order, then others. Fewer than three characters find beginnings only.
 */
export async function searchUsers(
  names: NameIndex,
  { key, exceptId, limit }: { key: string; exceptId: string; limit: number },
): Promise<UserRow[]> {
  const found = new Map<string, StoredProfile>();
  const take = (rows: readonly StoredProfile[]) => {
    for (const row of rows) if (row.id !== exceptId && found.size < limit) found.set(row.id, row);
  };
  take(await called(names.db, key));
  // Usernames hold no @.
  if (!key.includes('@')) {
    // One more each time, because the person who asks may be among them.
    take(
      await names
        .beginning(key)
        .select(profileColumns)
        .limit(limit + 1)
        .execute(),
    );
    const parts = Array.from(key).length < partLength ? null : names.containing(key);
    if (parts !== null && found.size < limit) {
      // They hold those that begin so, too. They come in no order, so that a common part is read no further.
      const rows = await parts
        .select(usersColumns)
        .limit(2 * limit + 1)
        .execute();
      take(rows.toSorted((one, other) => (one.username < other.username ? -1 : 1)));
    }
  }
  return [...found.values()].map(fromRow);
}

const usersColumns = profileColumns.map((column) => `users.${column}` as const);

const called = (db: Db, key: string): Promise<StoredProfile[]> =>
  db
    .selectFrom('users')
    .select(profileColumns)
    .where((where) => where.or([where('username_key', '=', key), where('email_key', '=', key)]))
    .execute();
