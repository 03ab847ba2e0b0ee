import { readConfig } from '../config.ts';
import { copyRows, hasPeople } from '../db/copy.ts';
import type { OpenDatabase } from '../db/openDatabase.ts';
import { threadEntry } from '../messaging/append/threadEntry.ts';
import { type Command, Refusal } from './command.ts';

const log = { warn: () => {}, error: () => {} };

export const convert: Command = {
  name: 'convert',
  summary:
    'Copies the relay.db of a relay that is stopped into the empty PostgreSQL database of DATABASE_URL',
  async runAlone(environment) {
    const { dataDir, databaseUrl } = readConfig(environment);
    if (databaseUrl === null) {
      throw new Refusal('Set DATABASE_URL to the PostgreSQL database that the relay is to have.');
    }
    const { openSqlite } = await import('../db/sqlite/sqlite.ts');
    const { openPostgres } = await import('../db/postgres.ts');
    // Both are locked, so that no relay writes meanwhile.
    const from = await openSqlite(dataDir, threadEntry);
    try {
      const to = await openPostgres({ url: databaseUrl, poolSize: 2, isShared: false, log });
      try {
        const rows = await copy(from, to);
        const text = `${rows} rows copied. Start the relay with DATABASE_URL; relay.db stays as it is, and is used no more.`;
        return { json: { rows }, text };
      } finally {
        await to.close();
      }
    } finally {
      await from.close();
    }
  },
};

/** @throws Refusal if there is somebody already */
function copy(from: OpenDatabase, to: OpenDatabase): Promise<number> {
  return to.db.transaction().execute(async (tx) => {
    if (await hasPeople(tx)) {
      throw new Refusal('Somebody has an account in that PostgreSQL database: make an empty one.');
    }
    return copyRows(from.db, tx);
  });
}
