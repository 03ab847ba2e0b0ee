// Runs test files with one mutant at a time. It is killed and started again when a mutant makes a test run on for ever.
import { takeTests } from './shim.mjs';

const loaded = new Map();
let reached = new Set();
let on = null;

globalThis.mutant = (name) => {
  if (on === null) reached.add(name);
  return name === on;
};

process.on('message', ({ mutant, files, all }) => {
  void run(mutant, files, all).then((answer) => process.send(answer));
});

/** @returns the tests that failed: the first, or all of them; and without a mutant, all that the files reach */
async function run(mutant, files, all) {
  const failed = [];
  reached = new Set();
  for (const file of files) {
    const start = process.cpuUsage();
    on = mutant;
    try {
      // Each run has modules of its own, because some keep what they have computed.
      const count = (loaded.get(file) ?? 0) + 1;
      loaded.set(file, count);
      await import(`${file}?run=${count}`);
      const { tests, before } = takeTests();
      for (const hook of before) await hook();
      for (const { title, body } of tests) {
        try {
          await body();
        } catch (error) {
          failed.push({ file, title, message: String(error?.message).slice(0, 200) });
          if (!all) return { mutant, failed };
        }
      }
    } catch (error) {
      takeTests();
      failed.push({ file, title: file, message: String(error?.message).slice(0, 200) });
      if (!all) return { mutant, failed };
    } finally {
      on = null;
    }
    if (mutant === null) {
      return { mutant, failed, reached: [...reached], ms: cpuMilliseconds(start) };
    }
  }
  return { mutant, failed };
}

/** Processor time, because what else runs on the machine doesn't count. */
function cpuMilliseconds(since) {
  return process.cpuUsage(since).user / 1000;
}
