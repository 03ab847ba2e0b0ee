// Runs tests with one mutant at a time. It is killed and started again when a mutant makes a test run on for ever.
import { takeTests } from './shim.mjs';

let runs = 0;
let reached = new Set();
let on = null;

globalThis.mutant = (name) => {
  if (on === null) reached.add(name);
  return name === on;
};

process.on('message', ({ mutant, plan, file }) => {
  const answer = file === undefined ? run(mutant, plan) : cover(file);
  void answer.then((result) => process.send(result));
});

/** Each run has modules of its own, because some keep what they have computed. */
async function load(file) {
  runs += 1;
  await import(`${file}?run=${runs}`);
  const { tests, before } = takeTests();
  for (const hook of before) await hook();
  return tests;
}

/** Runs a file without a mutant. @returns what each of its tests takes and reaches; what loading it reaches, all do */
async function cover(file) {
  reached = new Set();
  const tests = await load(file);
  const byLoading = reached;
  const covered = [];
  for (const { title, body } of tests) {
    reached = new Set();
    const start = process.cpuUsage();
    await body();
    process.send({ isWorking: true });
    covered.push({ title, ms: cpuMilliseconds(start), reached: [...new Set([...byLoading, ...reached])] });
  }
  return { tests: covered };
}

/**
 * @param {{ file: string, indices: number[] }[]} plan the tests to run, in this order
 * @returns the title of the first test that fails, or null
 */
async function run(mutant, plan) {
  on = mutant;
  try {
    for (const { file, indices } of plan) {
      const failed = await firstToFail(file, indices);
      if (failed !== null) return { failed };
    }
    return { failed: null };
  } finally {
    on = null;
  }
}

async function firstToFail(file, indices) {
  let title = 'loading';
  try {
    const tests = await load(file);
    for (const index of indices) {
      const test = tests[index];
      if (test === undefined) return { file, title };
      title = test.title;
      await test.body();
      process.send({ isWorking: true });
    }
    return null;
  } catch {
    takeTests();
    return { file, title };
  }
}

/** Processor time, because what else runs on the machine doesn't count. */
function cpuMilliseconds(since) {
  return process.cpuUsage(since).user / 1000;
}
