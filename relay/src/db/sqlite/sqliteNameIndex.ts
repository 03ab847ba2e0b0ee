import { setTimeout as sleep } from 'node:timers/promises';
import { Kysely, sql } from 'kysely';
import { endOfBeginnings, type NameIndex } from '../nameIndex.ts';
import type { Db, Tables } from '../tables.ts';
import { SqliteDialect } from './sqliteDriver.ts';
import { SqliteThread } from './thread/client.ts';

/** Two, so that one long search is not everybody's; each takes a core while it lasts. */
const readerCount = 2;

/** Names of one bite: about two milliseconds of the thread that commits. */
const biteSize = 250;

/** Milliseconds between two bites, in which the thread is messages' alone. */
const rest = 10;

export interface ClosableNameIndex extends NameIndex {
  close(): Promise<void>;
}

/**
 * Opens the index of parts of names. Its threads start with the first search.
 * @param db the writer of the same file
 */
export function openNameIndex(db: Db, file: string, threadEntry: URL): ClosableNameIndex {
  const readers = new Map<number, Promise<SqliteThread>>();
  let turn = 0;
  const nextReader = (): Promise<SqliteThread> => {
    turn = (turn + 1) % readerCount;
    const index = turn;
    const open = readers.get(index);
    if (open !== undefined) return open;
    const reader = SqliteThread.open(file, threadEntry, true);
    readers.set(index, reader);
    // After a failure the next search tries again.
    reader.catch(() => readers.delete(index));
    return reader;
  };
  const reading: Db = new Kysely<Tables>({ dialect: new SqliteDialect(nextReader) });

  return {
    db: reading,

    beginning: (key) =>
      reading
        .selectFrom('users')
        .where('username_key', '>=', key)
        .where('username_key', '<', endOfBeginnings(key))
        .orderBy('username_key'),

    containing: (key) =>
      reading
        .selectFrom(sql<{ rowid: number }>`username_trigrams`.as('trigrams'))
        .innerJoin('usernames', 'usernames.number', 'trigrams.rowid')
        .innerJoin('users', 'users.id', 'usernames.user_id')
        .where(sql<boolean>`trigrams.username_trigrams match ${trigramsOf(key)}`)
        // The index knows that they are there, but not where.
        .where(sql<boolean>`instr(usernames.username_key, ${key}) > 0`),

    async build(signal) {
      const { rows } = await sql<{ user_version: number }>`pragma user_version`.execute(db);
      if (rows[0]?.user_version !== 1) return;
      // From the beginning each time: what is there already costs a look.
      let after = '';
      while (!signal.aborted) {
        const last = await takeIn(db, after);
        if (last === null) {
          await sql`pragma user_version = 0`.execute(db);
          return;
        }
        after = last;
        await sleep(rest);
      }
    },

    async close() {
      const open = await Promise.allSettled(readers.values());
      for (const reader of open) if (reader.status === 'fulfilled') await reader.value.close();
    },
  };
}

/** As few trigrams as cover the text, all of which a name that contains it has: each one more is a list to go through. */
function trigramsOf(key: string): string {
  const characters = Array.from(key);
  const last = characters.length - 3;
  const starts = Array.from({ length: Math.ceil(last / 3) + 1 }, (_none, index) => Math.min(3 * index, last));
  const trigrams = starts.map((start) => characters.slice(start, start + 3).join(''));
  return trigrams.map((trigram) => `"${trigram.replaceAll('"', '""')}"`).join(' AND ');
}

/** Takes in the next names. Returns the last one's user id, or null when there were none. */
async function takeIn(db: Db, after: string): Promise<string | null> {
  const bite = db
    .selectFrom('users')
    .select(['id', 'username_key'])
    .where('id', '>', after)
    .orderBy('id')
    .limit(biteSize);
  return db.transaction().execute(async (tx) => {
    const last = await tx
      .selectFrom(bite.as('bite'))
      .select((select) => select.fn.max('id').as('id'))
      .executeTakeFirst();
    await tx
      .insertInto('usernames')
      .columns(['user_id', 'username_key'])
      .expression(bite)
      .onConflict((conflict) => conflict.column('user_id').doNothing())
      .execute();
    return last?.id ?? null;
  });
}
