// npm run bench:files: how fast files are sealed and opened, beside the bare cipher and beside age-encryption.
import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { describeMachine, writeResults } from '../command.mjs';
import { bundle } from '../product.mjs';
import { median } from '../statistics.mjs';

const usage = `npm run bench:files -- [options]
  --mebibytes <n>  the size of the file; 32 if not given
  --rounds <n>     how often each is done; 9 if not given
  --json <file>    also write every number there
`;

/** The least part of the bare cipher's rate. */
const WANTED = 0.8;

const { values } = parseArgs({
  options: {
    mebibytes: { type: 'string', default: '32' },
    rounds: { type: 'string', default: '9' },
    json: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) process.stdout.write(usage);
else await bench();

async function bench() {
  const folder = await bundle(new URL('files.ts', import.meta.url));
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [
      join(folder, 'files.js'),
      values.mebibytes,
      values.rounds,
    ]);
    const results = JSON.parse(stdout);
    const machine = { ...describeMachine(), node: process.version, load: loadavg()[0] };
    process.stdout.write(table(results, machine));
    await writeResults(values.json, { machine, results });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function table(results, machine) {
  const lines = [`${machine.processor}, Node ${machine.node}, load ${machine.load.toFixed(1)}`, ''];
  lines.push('Megabytes a second of processor time, and the part of the bare rate in the same round', '');
  for (const [name, rates] of Object.entries(results)) {
    const bare = results[`${name.split(',')[0]}, bare libsodium`];
    const part = median(rates.map((rate, round) => rate / bare[round]));
    const met = name.endsWith('crypto-core') ? (part >= WANTED ? ', met' : ', MISSED') : '';
    lines.push(
      `  ${name.padEnd(22)} ${median(rates).toFixed(0).padStart(6)} ${part.toFixed(2).padStart(6)}${met}`,
    );
  }
  return `${lines.join('\n')}\n`;
}
