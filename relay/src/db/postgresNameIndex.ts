import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Client } from 'pg';
import { endOfBeginnings, type NameIndex } from './nameIndex.ts';
import type { Db } from './tables.ts';

/** Any number that no other program locks in this database. */
const buildLock = 0x53696e32;

/** Milliseconds between two looks at whether another relay has finished. */
const retryMs = 1000;

const indexes = [
  { name: 'users_by_beginning', definition: '(username_key collate "C")', extension: null },
  { name: 'users_by_trigram', definition: 'using gin (username_key gin_trgm_ops)', extension: 'pg_trgm' },
] as const;

/**
 * @param db the relay's pool: the server runs searches in processes of their own
 * @param connect makes a connection, not connected yet, whose statements may take their time
 */
export async function openNameIndex(db: Db, connect: () => Client): Promise<NameIndex> {
  let isReady = await isValid(db, 'users_by_trigram');
  return {
    db,

    beginning: (key) => {
      const name = sql<string>`username_key collate "C"`;
      return db
        .selectFrom('users')
        .where(name, '>=', key)
        .where(name, '<', endOfBeginnings(key))
        .orderBy(name);
    },

    containing: (key) =>
      // Letters and digits are all that the index knows: for others the server would read every name.
      isReady && /[\p{L}\p{N}]/u.test(key)
        ? db
            .selectFrom('users')
            .where(sql<boolean>`username_key like ${`%${key.replace(/[\\%_]/g, '\\$&')}%`} escape '\\'`)
        : null,

    async build(signal) {
      if (isReady || signal.aborted) return;
      const client = connect();
      // A connection that breaks fails its query too.
      client.on('error', () => {});
      const end = () => void client.end();
      await client.connect();
      signal.addEventListener('abort', end);
      try {
        await client.query('set statement_timeout = 0');
        // Relays that start together take turns; those that come later find it made. None waits inside a statement,
        // because an index that is made beside traffic waits for statements that are older.
        while (!(await hasTurn(client))) await sleep(retryMs, undefined, { signal });
        for (const { name, definition, extension } of indexes) {
          if (await isValid(db, name)) continue;
          if (extension !== null) await client.query(`create extension if not exists ${extension}`);
          // One that was interrupted is kept up to date, and used by nobody.
          await client.query(`drop index concurrently if exists ${name}`);
          await client.query(`create index concurrently ${name} on users ${definition}`);
        }
        isReady = true;
      } catch (error) {
        if (!signal.aborted) throw error;
      } finally {
        signal.removeEventListener('abort', end);
        if (!signal.aborted) await client.end();
      }
    },
  };
}

async function hasTurn(client: Client): Promise<boolean> {
  const { rows } = await client.query<{ locked: boolean }>('select pg_try_advisory_lock($1) as locked', [
    buildLock,
  ]);
  return rows[0]?.locked === true;
}

async function isValid(db: Db, index: string): Promise<boolean> {
  const { rows } = await sql`
    select 1 from pg_index where indexrelid = to_regclass(${index}) and indisvalid`.execute(db);
  return rows.length > 0;
}
