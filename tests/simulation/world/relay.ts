import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { buildApp, type Relay } from '#relay/src/app.ts';
import { readConfig } from '#relay/src/config.ts';
import { createRetentionJob } from '#relay/src/jobs/retention.ts';
import { worldNow } from '../seams/time.ts';
import { BlobsInMemory } from './blobsInMemory.ts';

/** The real relay, which listens nowhere: its requests and connections are handed to it. */
export interface WorldRelay {
  readonly relay: Relay;
  /** Every line that it has logged as an error. */
  readonly errors: readonly string[];
  /** Deletes what it keeps no longer. @returns the number of entries and Welcomes that were deleted */
  retain(): Promise<number>;
  close(): Promise<void>;
}

const inMemory = '/dev/shm';

export async function startRelay(): Promise<WorldRelay> {
  const dataDir = await mkdtemp(path.join(existsSync(inMemory) ? inMemory : tmpdir(), 'sinetti-simulation-'));
  const errors: string[] = [];
  const relay = await buildApp({
    config: readConfig({
      DATA_DIR: dataDir,
      LOG_LEVEL: 'error',
      RATE_LIMITS: 'off',
      WEB_DIR: path.join(dataDir, 'none'),
    }),
    logStream: { write: (line) => void errors.push(line) },
    clock: worldNow,
    blobStore: new BlobsInMemory(),
  });
  return {
    relay,
    errors,
    async retain() {
      let deleted = 0;
      await createRetentionJob({
        database: relay.database,
        retention: { days: 90, historyDays: null },
        clock: worldNow,
        metrics: { emptied: (_kind, count) => void (deleted += count) },
        log: relay.app.log,
        rest: async () => {},
      }).run();
      return deleted;
    },
    async close() {
      await relay.close();
      await rm(dataDir, { recursive: true });
    },
  };
}
