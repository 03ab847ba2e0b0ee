import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { longOperations, operationNames } from './world/operations.ts';

const seed = process.env['SINETTI_TEST_SEED'] ?? randomBytes(4).toString('hex');
const seconds = Number(process.env['SIMULATION_SECONDS'] ?? 120);
const root = path.join(import.meta.dirname, '../..');
const folder = path.join('tests', 'simulation', 'kept');
const files = readdirSync(path.join(root, folder))
  .filter((name) => name.endsWith('.json'))
  .map((name) => path.join(folder, name));
const longestMs = 900_000 + 3_000 * seconds;

/**
 * Returns what `npm run simulate` prints. It has a process of its own: what Vitest does meanwhile draws from the world's randomness, and a
 * run that fails has to be the same for whoever plays it again.
 */
function simulate(options: readonly string[]): Promise<{ exitCode: number; printed: string }> {
  return new Promise((resolve) => {
    const program = ['tests/simulation/run.mjs', ...options];
    const child = execFile(process.execPath, program, { cwd: root }, (_error, printed) =>
      resolve({ exitCode: child.exitCode ?? -1, printed }),
    );
    child.stderr?.pipe(process.stderr);
  });
}

/** Each run that was printed: its plan, with `ok` or `FAILED` before it and its hash behind. */
const runsIn = (printed: string): string[] =>
  printed.split('\n').filter((line) => /^(ok|FAILED) /.test(line));

describe('kept runs of the simulated world', () => {
  let forwards: string[];
  let backwards: string[];
  beforeAll(async () => {
    const kept = (names: readonly string[]) => simulate(names.flatMap((name) => ['--kept', name]));
    forwards = runsIn((await kept(files)).printed);
    backwards = runsIn((await kept(files.toReversed())).printed);
  }, longestMs);

  it.each([...files.entries()])('show no more what they once showed (%i %s)', (at) => {
    expect(forwards[at]).toMatch(/^ok /);
  });

  it('are the same in another process, whatever was played before', () => {
    expect(forwards).toHaveLength(files.length);
    expect(backwards.toReversed()).toEqual(forwards);
  });
});

describe('a simulated world', () => {
  it(`is the same in two processes that have played nothing before (SINETTI_TEST_SEED=${seed})`, {
    timeout: longestMs,
  }, async () => {
    const options = ['--seed', `${seed}/twice`, '--steps', '12', '--people', '3'];
    const [one, other] = await Promise.all([simulate(options), simulate(options)]);
    expect(runsIn(one.printed)).toEqual([expect.stringMatching(/^ok .* [\da-f]{64}$/)]);
    expect(other.printed.split('\n')[0]).toBe(one.printed.split('\n')[0]);
  });

  it(`has no fault and no false alarm, and every lie is noticed (SINETTI_TEST_SEED=${seed} SIMULATION_SECONDS=${seconds})`, {
    timeout: longestMs,
  }, async () => {
    const options = ['--mixed', '--shrink', '--seed', seed, '--seconds', String(seconds)];
    const { exitCode, printed } = await simulate(options);
    process.stdout.write(printed);
    const runs = runsIn(printed);
    expect(runs.filter((run) => run.startsWith('FAILED'))).toEqual([]);
    expect(exitCode).toBe(0);
    expect(runs.length).toBeGreaterThan(0);
    // Where there was nothing to lie about, another run was played in the place of that one.
    const asked = runs.filter((run) => run.includes('"lie"'));
    const told = printed.split('\n').filter((line) => line.startsWith('  told '));
    const kinds = (lines: string[]) => new Set(lines.map((line) => /"lie":"(\w+)"/.exec(line)?.[1]));
    expect(told.length).toBeGreaterThan(0);
    expect(kinds(told)).toEqual(kinds(asked));
    expect(printed).toContain(`"told":${told.length},"untold":0`);
  });
});

describe('a browser in a simulated world', () => {
  it(`may be gone at any point of what it does (SINETTI_TEST_SEED=${seed})`, {
    timeout: longestMs,
  }, async () => {
    const short = operationNames.filter((name) => !longOperations.includes(name));
    const some = await simulate(['--crash', short.join(','), '--every', '12', '--seed', seed]);
    const few = await simulate(['--crash', longOperations.join(','), '--every', '40', '--seed', seed]);
    const printed = `${some.printed}${few.printed}`;
    process.stdout.write(printed);
    const runs = runsIn(printed);
    expect(runs).toHaveLength(operationNames.length);
    expect(runs.filter((run) => run.startsWith('FAILED'))).toEqual([]);
    expect([some.exitCode, few.exitCode]).toEqual([0, 0]);
    // Each kind of point was met, in each operation some.
    for (const run of runs) expect(run).toMatch(/"tried":[1-9]/);
    expect(printed).toMatch(/"disk":[1-9]/);
    expect(printed).toMatch(/"request":[1-9]/);
    expect(printed).toMatch(/"answer":[1-9]/);
    expect(printed).toMatch(/"socket":[1-9]/);
    expect(printed).toMatch(/"worker":[1-9]/);
  });
});
