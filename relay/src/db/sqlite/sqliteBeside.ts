import { stat } from 'node:fs/promises';
import path from 'node:path';
import { Kysely } from 'kysely';
import { StartupError } from '../../errors.ts';
import type { DatabaseBeside } from '../beside.ts';
import type { Tables } from '../tables.ts';
import { SqliteDialect, type ThreadSource } from './sqliteDriver.ts';
import { SqliteFile } from './sqliteFile.ts';
import type { Query, ThreadCalls } from './thread/protocol.ts';

type Calls = Pick<ThreadCalls, 'begin' | 'commit' | 'rollback' | 'write' | 'writeAlone' | 'read'>;

/**
 * Opens relay.db for a command that runs beside the relay, or without one. Its transactions wait for the relay's, which take
 * milliseconds, and the relay's for them.
 * @throws StartupError if there is none, or it belongs to another account of this machine
 */
export async function openSqliteBeside(dataDir: string): Promise<DatabaseBeside> {
  const file = path.join(dataDir, 'relay.db');
  await requireOwn(file, dataDir);
  const open = new SqliteFile(file);
  for (const setting of [
    'busy_timeout = 10000',
    // Each commit waits for the disk, with whatever the relay has in the log before it.
    'synchronous = FULL',
    // The relay keeps the log short.
    'wal_autocheckpoint = 0',
    'foreign_keys = ON',
    'secure_delete = ON',
  ]) {
    open.pragma(setting);
  }
  const run = async ({ sql, parameters }: Query) => open.run(sql, parameters);
  const calls: Calls = {
    begin: async () => open.exec('begin immediate'),
    commit: async () => open.exec('commit'),
    rollback: async () => {
      if (open.inTransaction) open.exec('rollback');
    },
    write: run,
    writeAlone: run,
    read: run,
  };
  const source: ThreadSource = () => ({
    call: (name, ...parameters) => {
      // A connection asks no more than these.
      const perform = calls[name as keyof Calls] as (...given: readonly unknown[]) => Promise<unknown>;
      return perform(...parameters) as never;
    },
  });
  const db = new Kysely<Tables>({ dialect: new SqliteDialect(source) });
  return {
    db,
    async damage() {
      const { rows } = open.run<{ quick_check: string }>('pragma quick_check(users)', []);
      return rows[0]?.quick_check === 'ok' ? null : (rows[0]?.quick_check ?? 'no answer');
    },
    size: async () => open.size,
    close: async () => open.close(),
  };
}

/** Files that another account makes here could keep the relay from its own database. */
async function requireOwn(file: string, dataDir: string): Promise<void> {
  const found = await stat(file).catch(() => null);
  // Opening would make an empty one.
  if (found === null) throw new StartupError(`There is no relay.db in ${dataDir}. Set DATA_DIR.`);
  const user = process.getuid?.();
  if (user !== undefined && user !== found.uid) {
    throw new StartupError(`${file} is another account's. Run this as the account that runs the relay.`);
  }
}
