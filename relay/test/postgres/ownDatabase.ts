import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { afterEach, beforeEach, inject } from 'vitest';
import { temporaryFolder } from '../helpers.ts';
import { createDatabase, dropDatabase } from '../servers/postgres.ts';

/** Gives each test an empty database at the server of the tests, and a data folder. */
export function withOwnDatabase(): { readonly url: string; dataDir: string } {
  const serverUrl = inject('postgresUrl');
  const name = `test_${randomUUID()}`;
  const own = { url: serverUrl.replace(/\/postgres$/, `/${name}`), dataDir: '' };
  beforeEach(async () => {
    own.dataDir = await temporaryFolder();
    await createDatabase(serverUrl, name);
  });
  afterEach(async () => {
    await dropDatabase(serverUrl, name);
    await rm(own.dataDir, { recursive: true });
  });
  return own;
}
