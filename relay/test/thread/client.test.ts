import { rm } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SqliteThread } from '../../src/db/sqlite/thread/client.ts';
import { toApiError } from '../../src/errors.ts';
import { threadEntry } from '../../src/messaging/append/threadEntry.ts';
import { temporaryFolder } from '../helpers.ts';

let dataDir: string;
let thread: SqliteThread;
beforeEach(async () => {
  dataDir = await temporaryFolder();
  thread = await SqliteThread.open(path.join(dataDir, 'thread.db'), threadEntry);
  await thread.call('writeAlone', query('create table names (name text primary key)'));
});
afterEach(async () => {
  await thread.close();
  await rm(dataDir, { recursive: true });
});

const query = (sql: string, ...parameters: unknown[]) => ({ sql, parameters });
const insert = (name: string) => query('insert into names values (?)', name);
const names = async () => (await thread.call('read', query('select name from names order by name'))).rows;

describe('the thread of SQLite', () => {
  it('gives each transaction its turn, and shows others what is on disk', async () => {
    await thread.call('begin');
    const later = thread.call('writeAlone', insert('later'));
    await thread.call('write', insert('first'));
    expect(await names()).toEqual([]);
    await thread.call('commit');
    await later;
    expect(await names()).toEqual([{ name: 'first' }, { name: 'later' }]);
  });

  it('undoes what is rolled back', async () => {
    await thread.call('begin');
    await thread.call('write', insert('not for long'));
    await thread.call('rollback');
    expect(await names()).toEqual([]);
  });

  it('hands errors over with their codes', async () => {
    await thread.call('writeAlone', insert('once'));
    await expect(thread.call('writeAlone', insert('once'))).rejects.toMatchObject({
      code: 'SQLITE_CONSTRAINT_PRIMARYKEY',
    });
    await thread.call('writeAlone', query('pragma max_page_count = 1'));
    const failure: unknown = await thread
      .call('writeAlone', insert('x'.repeat(100_000)))
      .catch((error: unknown) => error);
    expect(toApiError(failure)).toMatchObject({ code: 'storage-full' });
  });

  it('runs its program only once that has statements', async () => {
    await expect(thread.call('run', [], 0)).rejects.toThrow("The thread's program has no statements yet.");
    await thread.call('define', {});
    expect(await thread.call('run', [], 0)).toEqual([]);
  });

  it('refuses what comes after its end, and ends once', async () => {
    await thread.close();
    await expect(names()).rejects.toThrow('The database is not open.');
    await thread.close();
  });
});

it('a file that is no database is refused with the code that SQLite gives', async () => {
  await expect(SqliteThread.open(path.join(dataDir, 'missing', 'thread.db'), threadEntry)).rejects.toThrow(
    /ConnectionFailed|unable to open/,
  );
});
