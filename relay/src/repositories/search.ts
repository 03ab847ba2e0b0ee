import type { Discoverability } from '../../contract/index.ts';
import type { NameIndex } from '../db/nameIndex.ts';
import type { Db } from '../db/tables.ts';
import { fromRow, profileColumns, type StoredProfile, type UserRow } from './users.ts';

/** The length of the parts that names are indexed by. */
const partLength = 3;

export interface FoundUser extends UserRow {
  readonly showsEmail: boolean;
}

export interface PeopleSearch {
  readonly key: string;
  readonly exceptId: string;
  readonly limit: number;
  /** An email finds its owner once it is verified. */
  readonly verifiesEmails: boolean;
}

type FoundRow = StoredProfile & { readonly shows_email: number };

/**
 * People whose username contains the text, or whose email is the text, as far as they let themselves be found so: first
 * whoever is called so, then those whose usernames begin so, in their order, then others. Fewer than three characters find
 * beginnings only.
 */
export async function searchUsers(
  names: NameIndex,
  { key, exceptId, limit, verifiesEmails }: PeopleSearch,
): Promise<FoundUser[]> {
  const found = new Map<string, FoundRow>();
  const take = (rows: readonly FoundRow[]) => {
    for (const row of rows) if (row.id !== exceptId && found.size < limit) found.set(row.id, row);
  };
  take(await called(names.db, key, verifiesEmails));
  // Usernames hold no @.
  if (!key.includes('@')) {
    const beginning = names.beginning(key).select(columns).where('users.found_by', 'in', byName);
    // One more each time, because the person who asks may be among them.
    take(await beginning.limit(limit + 1).execute());
    const parts = Array.from(key).length < partLength ? null : names.containing(key);
    if (parts !== null && found.size < limit) {
      const containing = parts.select(columns).where('users.found_by', 'in', byName);
      // Names that begin so are among them again. They have no order, so that a common part is read no further.
      const rows = await containing.limit(2 * limit + 1).execute();
      take(rows.toSorted((one, other) => (one.username < other.username ? -1 : 1)));
    }
  }
  return [...found.values()].map((row) => ({ ...fromRow(row), showsEmail: row.shows_email === 1 }));
}

const columns = [...profileColumns.map((column) => `users.${column}` as const), 'users.shows_email'] as const;
const byName: Discoverability['found_by'][] = ['name', 'both'];
const byEmail: Discoverability['found_by'][] = ['email', 'both'];

const called = (db: Db, key: string, verifiesEmails: boolean): Promise<FoundRow[]> =>
  db
    .selectFrom('users')
    .select(columns)
    .where((where) =>
      where.or([
        where.and([where('username_key', '=', key), where('found_by', 'in', byName)]),
        where.and([
          where('email_key', '=', key),
          where('found_by', 'in', byEmail),
          ...(verifiesEmails ? [where('email_verified_at', 'is not', null)] : []),
        ]),
      ]),
    )
    .execute();

export async function setDiscoverability(
  db: Db,
  userId: string,
  { found_by, shows_email }: Discoverability,
): Promise<void> {
  await db
    .updateTable('users')
    .set({ found_by, shows_email: shows_email ? 1 : 0 })
    .where('id', '=', userId)
    .execute();
}
