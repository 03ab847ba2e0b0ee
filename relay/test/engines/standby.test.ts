import { rm } from 'node:fs/promises';
import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { startRestartable } from '../crash/restartable.ts';
import { crashUnderLoad } from '../crash/story.ts';
import { eventually } from '../eventually.ts';
import { temporaryFolder } from '../helpers.ts';
import { type BuiltProgram, buildProgram } from '../program.ts';
import { createDatabase, type PostgresServer, startPostgres } from '../servers/postgres.ts';
import { type Address, openAddress } from './address.ts';

const failovers = Number(process.env.CRASHES ?? 2);
const seed = Number(process.env.CRASH_SEED ?? Date.now() % 1_000_000);

let program: BuiltProgram;
let dataDir: string;
let primary: PostgresServer;
let standby: PostgresServer;
let address: Address;
const portOf = (server: PostgresServer) => Number(new URL(server.url('postgres')).port);

async function ask(server: PostgresServer, ...statements: readonly string[]): Promise<unknown[]> {
  const client = new Client(server.url('postgres'));
  await client.connect();
  try {
    let rows: unknown[] = [];
    for (const statement of statements) ({ rows } = await client.query(statement));
    return rows;
  } finally {
    await client.end();
  }
}

/** Gives the primary a standby that each commit waits for. */
async function startStandby(): Promise<void> {
  standby = await startPostgres({ durable: true, standbyOf: primary.url('postgres') });
  // After the copy, which takes settings along: a standby that is promoted waits for nobody.
  await ask(primary, "alter system set synchronous_standby_names = '*'", 'select pg_reload_conf()');
  const states = () => ask(primary, 'select sync_state from pg_stat_replication');
  await eventually(async () => expect(await states()).toEqual([{ sync_state: 'sync' }]));
}

/** Parts the two, and waits until the primary keeps a commit back for the standby: it is on one disk alone, and acknowledged to nobody. */
async function partStandby(): Promise<void> {
  await ask(standby, "alter system set primary_conninfo = ''", 'select pg_reload_conf()');
  const waiting = () => ask(primary, "select 1 from pg_stat_activity where wait_event = 'SyncRep'");
  await eventually(async () => expect((await waiting()).length).toBeGreaterThan(0));
}

beforeAll(async () => {
  program = await buildProgram();
}, 120_000);
afterAll(() => program.remove());
beforeEach(async () => {
  dataDir = await temporaryFolder();
  primary = await startPostgres({ durable: true });
  await createDatabase(primary.url('postgres'), 'failover');
  await startStandby();
  address = await openAddress(portOf(primary));
}, 120_000);
afterEach(async () => {
  await program.killAll();
  await address.close();
  await Promise.all([primary.remove(), standby.remove()]);
  await rm(dataDir, { recursive: true });
});

it(
  `a relay goes on by itself, and every acknowledged message is there once, after ${failovers} times the primary was killed under load and its synchronous standby promoted (CRASH_SEED=${seed})`,
  async () => {
    const url = new URL(primary.url('failover'));
    url.port = String(address.port);
    const relay = await startRestartable(program, {
      DATA_DIR: dataDir,
      WEB_DIR: dataDir,
      DATABASE_URL: url.href,
    });
    let count = 0;
    const crash = async () => {
      // By turns, so that a short run has one of each.
      if (count % 2 === 0) await partStandby();
      count += 1;
      const lost = primary;
      await lost.crash();
      primary = standby;
      await ask(primary, 'select pg_promote()');
      address.moveTo(portOf(primary));
      await lost.remove();
      await startStandby();
    };
    const outcome = await crashUnderLoad({ url: relay.url, crash }, { seed, crashes: failovers, chats: 3 });
    expect(outcome.problems).toEqual([]);
    expect(outcome.acknowledged).toBeGreaterThan(failovers);
  },
  120_000 + failovers * 60_000,
);
