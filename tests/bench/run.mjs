// npm run bench: what a message costs, beside the bare primitives and beside ts-mls, in Chromium.
import { writeFile } from 'node:fs/promises';
import { cpus, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { chromiumPath } from '../e2e/browser.mjs';
import { runInChromium } from './chromium.mjs';
import { judge, table } from './tables.mjs';

const USAGE = `npm run bench -- [options]
  --quick            a smoke test: few rounds, groups of 2 and 100
  --json <file>      also write every measurement there
  --only <library>   "crypto-core", "ts-mls", "bare libsodium" or "IndexedDB alone"; may be given again
  --profile <file>   run on the page's thread and write a .cpuprofile (open it in Chromium's developer tools)
`;

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    json: { type: 'string' },
    only: { type: 'string', multiple: true, default: [] },
    profile: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});

if (values.help) {
  process.stdout.write(USAGE);
} else if (chromiumPath === undefined) {
  process.stderr.write('bench: no Chromium found. Install one or name it in CHROMIUM_PATH.\n');
  process.exitCode = 1;
} else {
  await bench();
}

async function bench() {
  const loadBefore = loadavg()[0];
  const result = await runInChromium(
    { quick: values.quick, only: values.only, profilePath: values.profile ?? null },
    (line) => process.stderr.write(`bench: ${line}\n`),
  );
  const aims = judge(result, values.quick);
  const machine = {
    processor: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    loadBefore,
    loadAfter: loadavg()[0],
    userAgent: result.userAgent,
  };
  process.stdout.write(table(result, aims, machine));
  if (values.json !== undefined) {
    await writeFile(values.json, `${JSON.stringify({ machine, aims, ...result }, null, 2)}\n`);
  }
  // Times depend on the machine and are reported; bytes don't, so those are enforced.
  if (aims.some((aim) => aim.exact && !aim.met)) process.exitCode = 1;
}
