import { open, rm } from 'node:fs/promises';
import path from 'node:path';
import Database from 'libsql';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { signUp, startTestRelay, temporaryFolder } from './helpers.ts';

let dataDir: string;
beforeEach(async () => {
  dataDir = await temporaryFolder();
});
afterEach(() => rm(dataDir, { recursive: true }));

const start = () => startTestRelay({ dataDir });

/** Writes over the page of the database file that holds a table's only rows. */
async function damage(table: string): Promise<void> {
  const file = path.join(dataDir, 'relay.db');
  const database = new Database(file);
  const [{ rootpage }] = database
    .prepare('select rootpage from sqlite_master where name = ?')
    .all([table]) as [{ rootpage: number }];
  const [{ page_size: size }] = database.prepare('pragma page_size').all([]) as [{ page_size: number }];
  database.close();
  const handle = await open(file, 'r+');
  await handle.write(Buffer.alloc(size, 0xa5), 0, size, (rootpage - 1) * size);
  await handle.close();
}

describe('a damaged table of users', () => {
  beforeEach(async () => {
    const relay = await start();
    await signUp(relay);
    await relay.close();
  });

  it('stops the start with a sentence', async () => {
    await damage('users');
    await expect(start()).rejects.toThrow(
      new RegExp(`^The database in ${dataDir} is damaged \\(.+\\)\\. Restore a backup\\.$`),
    );
  });

  it('is told apart from a file that is no database', async () => {
    const handle = await open(path.join(dataDir, 'relay.db'), 'r+');
    await handle.write(Buffer.alloc(200, 0xa5), 0, 200, 0);
    await handle.close();
    await expect(start()).rejects.toThrow(/^The database in .+ is damaged \(.*not a database\)/);
  });
});

describe('a data folder that can only be read', () => {
  const sentence =
    /^The data folder .+ can't be written to\. Give it, with all that is in it, to the account/;

  it('stops the start with a sentence', async () => {
    // Nobody, root neither, makes files there.
    await expect(startTestRelay({ dataDir: '/sys/kernel' })).rejects.toThrow(sentence);
  });
});
