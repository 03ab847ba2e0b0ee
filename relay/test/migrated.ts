import { randomUUID } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { openPostgres } from '../src/db/postgres.ts';
import { openSqlite } from '../src/db/sqlite/sqlite.ts';
import { threadEntry } from '../src/messaging/append/threadEntry.ts';
import { createDatabase } from './servers/postgres.ts';

// Migrating takes a third of a relay's start, so an empty database is migrated once and copied for each relay of these tests.

let file: Promise<Uint8Array> | null = null;
let template: Promise<string> | null = null;

/** Lays an empty database of today's schema into a data folder. */
export async function copySqlite(dataDir: string): Promise<void> {
  file ??= migratedFile(dataDir);
  await writeFile(path.join(dataDir, 'relay.db'), await file);
}

/** @param dataDir where the first one is made */
async function migratedFile(dataDir: string): Promise<Uint8Array> {
  const database = await openSqlite(dataDir, threadEntry);
  // The last one to close it leaves one whole file.
  await database.close();
  return readFile(path.join(dataDir, 'relay.db'));
}

/** Makes an empty database of today's schema unless there is one of that name. */
export async function copyPostgres(serverUrl: string, name: string): Promise<void> {
  template ??= migratedDatabase(serverUrl);
  await createDatabase(serverUrl, name, await template);
}

async function migratedDatabase(serverUrl: string): Promise<string> {
  const name = `migrated_${randomUUID()}`;
  await createDatabase(serverUrl, name);
  const url = new URL(serverUrl);
  url.pathname = name;
  const log = { error: () => {}, warn: () => {} };
  const database = await openPostgres({ url: url.href, poolSize: 1, isShared: false, log });
  await database.close();
  return name;
}
