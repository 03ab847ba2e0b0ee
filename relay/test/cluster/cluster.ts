import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { presencePath } from '../../contract/index.ts';
import { temporaryFolder } from '../helpers.ts';
import { type BuiltProgram, buildProgram, type Program } from '../program.ts';
import { createDatabase } from '../servers/postgres.ts';
import { type RedisServer, startRedis } from '../servers/redis.ts';

/** One of the relays, as its clients reach it. */
export interface ClusterRelay {
  readonly url: string;
  readonly mqttUrl: string;
  readonly presenceUrl: string;
  readonly program: Program;
}

export interface Cluster {
  /** The settings that all relays have. */
  readonly environment: Readonly<Record<string, string>>;
  /** Starts relays together, on the database and Redis of the others. */
  start(count: number): Promise<ClusterRelay[]>;
  remove(): Promise<void>;
}

/** Relays as processes of their own, on one PostgreSQL database and one Redis. */
export async function createCluster(
  postgresUrl: string,
  environment: Record<string, string> = {},
): Promise<Cluster> {
  const database = new URL(postgresUrl);
  database.pathname = `cluster_${randomUUID()}`;
  await createDatabase(postgresUrl, database.pathname.slice(1));
  const [redis, built, dataDir]: [RedisServer, BuiltProgram, string] = await Promise.all([
    startRedis(),
    buildProgram(),
    temporaryFolder(),
  ]);
  const settings = {
    DATA_DIR: dataDir,
    WEB_DIR: path.join(dataDir, 'no-web-client'),
    DATABASE_URL: database.href,
    DATABASE_POOL_SIZE: '5',
    REDIS_URL: redis.url,
    ...environment,
  };
  const startOne = async (): Promise<ClusterRelay> => {
    const program = built.start(settings);
    const host = `127.0.0.1:${new URL(await program.ready).port}`;
    return {
      url: `http://${host}`,
      mqttUrl: `ws://${host}/mqtt`,
      presenceUrl: `ws://${host}${presencePath}`,
      program,
    };
  };
  return {
    environment: settings,
    start: (count) => Promise.all(Array.from({ length: count }, startOne)),
    async remove() {
      await built.killAll();
      await Promise.all([redis.remove(), built.remove(), rm(dataDir, { recursive: true })]);
    },
  };
}
