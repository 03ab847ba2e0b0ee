// npm run bench:commits: what a commit costs in groups of many, beside the primitives that processing it needs.
import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { describeMachine, writeResults } from '../command.mjs';
import { bundle } from '../product.mjs';

const usage = `npm run bench:commits -- [options]
  --members <n>    a size, instead of 100, 1,000 and 10,000; may be given again
  --suite <n>      3 or 77, instead of both
  --rounds <n>     how often each is done; 9 if not given
  --json <file>    also write every number there
`;

/** Processing may take so many times the primitives that it needs. */
const WANTED = 1.5;

const { values } = parseArgs({
  options: {
    members: { type: 'string', multiple: true, default: ['100', '1000', '10000'] },
    suite: { type: 'string', multiple: true, default: ['3', '77'] },
    rounds: { type: 'string', default: '9' },
    json: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) process.stdout.write(usage);
else await bench();

async function bench() {
  const folder = await bundle(new URL('commits.ts', import.meta.url));
  try {
    const options = {
      sizes: values.members.map(Number),
      suites: values.suite.map(Number),
      rounds: Number(values.rounds),
    };
    const { stdout } = await promisify(execFile)(process.execPath, [
      join(folder, 'commits.js'),
      JSON.stringify(options),
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
  lines.push(
    'Milliseconds of processor time: to make a commit with a path, to process it, the primitives for that',
    '',
  );
  for (const { suite, members, filled, bytes, create, process: processed, primitives } of results) {
    const ratio = processed / primitives;
    lines.push(
      [
        `  suite ${suite}`.padEnd(11),
        `${members} members, ${filled ? 'filled' : 'blank'}`.padEnd(24),
        `${bytes} B`.padStart(12),
        ...[create, processed, primitives].map((ms) => ms.toFixed(2).padStart(10)),
        `${ratio.toFixed(2).padStart(8)} times, ${ratio <= WANTED ? 'met' : 'MISSED'}`,
      ].join(' '),
    );
  }
  return `${lines.join('\n')}\n`;
}
