import { rm } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { temporaryFolder } from '../helpers.ts';
import { type BuiltProgram, buildProgram } from '../program.ts';
import { startRestartable } from './restartable.ts';
import { crashUnderLoad } from './story.ts';

/** Few enough for everybody's test run; `npm run test:crash` sets more. */
const crashes = Number(process.env.CRASHES ?? 4);
const seed = Number(process.env.CRASH_SEED ?? Date.now() % 1_000_000);

let program: BuiltProgram;
let dataDir: string;
beforeAll(async () => {
  program = await buildProgram();
}, 300_000);
afterAll(() => program.remove());
beforeEach(async () => {
  dataDir = await temporaryFolder();
});
afterEach(async () => {
  await program.killAll();
  await rm(dataDir, { recursive: true });
});

const startRelay = () => startRestartable(program, { DATA_DIR: dataDir, WEB_DIR: dataDir });

/** The bytes that the relay counts as kept of everybody. */
async function countedBytes(): Promise<number> {
  const { stdout } = await program.command(['usage', '--json'], { DATA_DIR: dataDir });
  return (JSON.parse(stdout) as { messageBytes: number }).messageBytes;
}

it(
  `every acknowledged message is there once, and every client comes back, after ${crashes} kills (CRASH_SEED=${seed})`,
  async () => {
    const relay = await startRelay();
    const crash = async () => {
      await relay.end('SIGKILL');
      await relay.start();
    };
    const outcome = await crashUnderLoad({ url: relay.url, crash }, { seed, crashes, chats: 3 });
    expect(outcome.problems).toEqual([]);
    expect(outcome.acknowledged).toBeGreaterThan(crashes);
    await eventually(async () => expect(await outcome.emptied()).toBeGreaterThan(0));
    // The count for the quota of each is that of what is kept, once the job is through.
    await eventually(async () => expect(await countedBytes()).toBe(await outcome.keptBytes()));
    expect(await outcome.problemsNow()).toEqual([]);
    expect(await relay.end('SIGTERM')).toMatchObject({ code: 0, stderr: '' });
  },
  120_000 + crashes * 15_000,
);

it(`loses nothing when it is stopped and started under load (CRASH_SEED=${seed})`, async () => {
  const relay = await startRelay();
  const exits: unknown[] = [];
  const crash = async () => {
    exits.push((await relay.end('SIGTERM')).code);
    await relay.start();
  };
  const outcome = await crashUnderLoad({ url: relay.url, crash }, { seed, crashes: 2, chats: 3 });
  expect(outcome.problems).toEqual([]);
  expect(exits).toEqual([0, 0, 0]);
}, 180_000);
