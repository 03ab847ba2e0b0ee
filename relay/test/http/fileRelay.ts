import { readdir } from 'node:fs/promises';
import path from 'node:path';
import Fastify from 'fastify';
import { afterAll, beforeAll, beforeEach, onTestFinished } from 'vitest';
import { BlobStorage } from '../../contract/blobs.ts';
import { createBlobFiles } from '../../src/blobs/blobFiles.ts';
import type { BlobStore } from '../../src/blobs/blobStore.ts';
import { createBlobs } from '../../src/blobs/blobs.ts';
import { answerErrors, parseBodies } from '../../src/http/errors.ts';
import { createBlobJob } from '../../src/jobs/blobs.ts';
import { Metrics } from '../../src/metrics/metrics.ts';
import { serveBlobs } from '../../src/routes/blobs.ts';
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

export const store = () => createBlobFiles(folder(), relay.relay.database.db);

/**
 * The job of files, which doesn't rest.
 * @param of what its store has otherwise than the relay's
 */
export async function blobJob(of: Partial<BlobStore> = {}) {
  const { database, services, app } = relay.relay;
  return createBlobJob({
    db: database.db,
    store: { ...(await store()), ...of },
    blobs: services.blobs,
    settings: { days: 90 },
    clock: () => now,
    metrics: new Metrics(),
    log: app.log,
    rest: async () => undefined,
  });
}

/**
 * Another relay on the same database and folder, as far as files go.
 * @param of what it has otherwise than the first
 */
export async function anotherRelay(of: Partial<BlobStore> = {}) {
  const { app: first, database, services } = relay.relay;
  const blobs = createBlobs({
    db: database.db,
    store: { ...(await store()), ...of },
    settings: services.config.blobs,
    clock: () => now,
    metrics: new Metrics(),
    log: first.log,
  });
  const app = Fastify();
  answerErrors(app);
  parseBodies(app);
  await app.register(async (api) => serveBlobs(api, { ...services, blobs }), { prefix: '/api' });
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  onTestFinished(async () => {
    await blobs.close();
    await app.close();
  });
  return { url, blobs };
}
