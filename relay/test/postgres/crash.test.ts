import { rm } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { startRestartable } from '../crash/restartable.ts';
import { crashUnderLoad } from '../crash/story.ts';
import { eventually } from '../eventually.ts';
import { temporaryFolder } from '../helpers.ts';
import { type BuiltProgram, buildProgram } from '../program.ts';
import { createDatabase, type PostgresServer, startPostgres } from '../servers/postgres.ts';

/** Few enough for everybody's test run; `npm run test:crash` sets more. */
const crashes = Number(process.env.CRASHES ?? 3);
const seed = Number(process.env.CRASH_SEED ?? Date.now() % 1_000_000);

let program: BuiltProgram;
let dataDir: string;
/** A server of this test's own: the others' must not die with it, and commits must reach the disk here. */
let postgres: PostgresServer;
beforeAll(async () => {
  program = await buildProgram();
}, 300_000);
afterAll(() => program.remove());
beforeEach(async () => {
  dataDir = await temporaryFolder();
  postgres = await startPostgres({ durable: true });
  await createDatabase(postgres.url('postgres'), 'crash');
});
afterEach(async () => {
  await program.killAll();
  await postgres.remove();
  await rm(dataDir, { recursive: true });
});

it(
  `every acknowledged message is there once, and every client comes back, after ${crashes} crashes of the relay, the database or both (CRASH_SEED=${seed})`,
  async () => {
    const relay = await startRestartable(program, {
      DATA_DIR: dataDir,
      WEB_DIR: dataDir,
      DATABASE_URL: postgres.url('crash'),
    });
    const crashRelay = async () => {
      await relay.end('SIGKILL');
      await relay.start();
    };
    const crashDatabase = async () => {
      await postgres.crash();
      await postgres.start();
    };
    const crashBoth = async () => {
      await Promise.all([relay.end('SIGKILL'), postgres.crash()]);
      await postgres.start();
      await relay.start();
    };
    // By turns, so that a short run has one of each.
    const kinds = [crashRelay, crashDatabase, crashBoth];
    let count = 0;
    const crash = async () => {
      await kinds[count % kinds.length]?.();
      count += 1;
    };
    const outcome = await crashUnderLoad({ url: relay.url, crash }, { seed, crashes, chats: 3 });
    expect(outcome.problems).toEqual([]);
    expect(outcome.acknowledged).toBeGreaterThan(crashes);
    await eventually(async () => expect(await outcome.emptied()).toBeGreaterThan(0));
    expect(await outcome.problemsNow()).toEqual([]);
  },
  120_000 + crashes * 20_000,
);
