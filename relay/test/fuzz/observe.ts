import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { sql } from 'kysely';
import { expect } from 'vitest';
import type { TestRelay } from '../helpers.ts';

/** Every row of every table, as text. */
export async function everythingStored({ relay }: Pick<TestRelay, 'relay'>): Promise<Record<string, string>> {
  const { db } = relay.database;
  const tables = await db.introspection.getTables();
  const contents = tables.map(async ({ name }): Promise<[string, string]> => {
    const { rows } = await sql`select * from ${sql.table(name)}`.execute(db);
    return [name, JSON.stringify(rows.map((row) => JSON.stringify(row)).toSorted())];
  });
  return Object.fromEntries(await Promise.all(contents));
}

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Bytes of memory in use, on the heap and beside it. */
export function memoryInUse(): number {
  collectGarbage();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

/** Log lines of a level at which something is wrong with the relay rather than with what it was sent. */
export function expectNoFailureLogged({ logLines }: Pick<TestRelay, 'logLines'>): void {
  const failures = logLines.filter((line) => {
    const { level, msg } = JSON.parse(line) as { level: number; msg: string };
    return level >= 40 && !msg.startsWith('no built web client');
  });
  expect(failures).toEqual([]);
}
