// npm run bench: what a message costs, beside the bare primitives and beside ts-mls, in Chromium.
import { loadavg } from 'node:os';
import { runInChromium } from './chromium.mjs';
import { describeMachine, progress, runCommand, writeResults } from './command.mjs';
import { judge, table } from './tables.mjs';

const USAGE = `npm run bench -- [options]
  --quick            a smoke test: few rounds, groups of 2 and 100
  --json <file>      also write every measurement there
  --bytes <n>        the message's size; 200 if not given
  --only <library>   "crypto-core", "ts-mls", "bare libsodium" or "IndexedDB alone"; may be given again
  --profile <file>   run on the page's thread and write a .cpuprofile (open it in Chromium's developer tools)
`;

/** The most that a message may have here: a round of one message each then takes some seconds. */
const MOST_BYTES = 16 * 1024 * 1024;

await runCommand(
  USAGE,
  {
    quick: { type: 'boolean', default: false },
    bytes: { type: 'string', default: '200' },
    only: { type: 'string', multiple: true, default: [] },
    profile: { type: 'string' },
  },
  bench,
);

async function bench(values) {
  const bytes = Number(values.bytes);
  if (!Number.isInteger(bytes) || bytes < 0 || bytes > MOST_BYTES) {
    process.stderr.write(`bench: --bytes takes 0 to ${MOST_BYTES}\n`);
    process.exitCode = 1;
    return;
  }
  const loadBefore = loadavg()[0];
  const result = await runInChromium(
    { quick: values.quick, only: values.only, bytes, profilePath: values.profile ?? null },
    progress,
  );
  const aims = judge(result, values.quick);
  const machine = {
    ...describeMachine(),
    loadBefore,
    loadAfter: loadavg()[0],
    userAgent: result.userAgent,
  };
  process.stdout.write(table(result, aims, machine));
  await writeResults(values.json, { machine, aims, ...result });
  // Times depend on the machine and are reported; bytes don't, so those are enforced.
  if (aims.some((aim) => aim.exact && !aim.met)) process.exitCode = 1;
}
