import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { BlobStorage } from '../../contract/blobs.ts';
import { createBlobFiles } from '../../src/blobs/blobFiles.ts';
import { createBlobJob } from '../../src/jobs/blobs.ts';
import { Metrics } from '../../src/metrics/metrics.ts';
import { logIn, type Person, signUp, startTestRelay, type TestRelay } from '../helpers.ts';

export const mebibyte = 1024 * 1024;

/** A relay that keeps files of at most 2 MiB, and 4 MiB of one person. */
export let relay: TestRelay;
/** Two people who are new for each test. */
export let person: Person;
export let other: Person;
/** The relay's clock. */
export let now = Date.now();

/** Starts the relay for the tests of a file, and signs two people up for each of them. */
export function withFileRelay(): void {
  beforeAll(async () => {
    relay = await startTestRelay({
      clock: () => now,
      environment: { BLOB_MAX_MIB: '2', BLOB_QUOTA_MIB: '4' },
    });
  });
  afterAll(() => relay.close());
  beforeEach(async () => {
    now = Date.now();
    [person, other] = [await signUp(relay), await signUp(relay)];
  });
}

export function advance(milliseconds: number): void {
  now += milliseconds;
}

/** Both come back in new sessions, as after days. */
export async function comeBack(): Promise<void> {
  [person, other] = [await logIn(relay, person), await logIn(relay, other)];
}

export const storage = async (of: Person) => BlobStorage.parse((await of.call('GET', '/blobs')).body);
export const folder = () => path.join(relay.dataDir, 'blobs');
export const fileOf = (id: string) => path.join(folder(), id.slice(0, 2), id.slice(2));

/** The ids of the files that there are. */
export async function files(): Promise<string[]> {
  const names = await readdir(folder(), { recursive: true });
  return names.filter((name) => name.includes('/')).map((name) => name.replace('/', ''));
}

export const store = () => createBlobFiles(folder(), async () => false);

/** The job of files, which doesn't rest. */
export function blobJob() {
  const { database, services, app } = relay.relay;
  return createBlobJob({
    db: database.db,
    store: store(),
    blobs: services.blobs,
    settings: { days: 90 },
    clock: () => now,
    metrics: new Metrics(),
    log: app.log,
    rest: async () => undefined,
  });
}
