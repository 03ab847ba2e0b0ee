// npm run bench:commits: what commits and joins cost in groups of many, beside the primitives that processing a commit needs, and ts-mls.
import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { describeMachine, progress, writeResults } from '../command.mjs';
import { bundle } from '../product.mjs';

const usage = `npm run bench:commits -- [options]
  --members <n>    a size, instead of 100, 1,000 and 10,000; may be given again
  --suite <n>      3 or 77, instead of both
  --rounds <n>     how often each is done; 60 if not given, since the first ones compile the code
  --patience <n>   seconds for ts-mls in a group of one size; 300 if not given, 0 to leave it out
  --json <file>    also write every number there
`;

/** Processing may take so many times the primitives that it needs. */
const WANTED = 1.5;
/** Milliseconds that joining may take, of 10,000 members. */
const WANTED_JOIN = 5000;

const { values } = parseArgs({
  options: {
    members: { type: 'string', multiple: true, default: ['100', '1000', '10000'] },
    suite: { type: 'string', multiple: true, default: ['3', '77'] },
    rounds: { type: 'string', default: '60' },
    patience: { type: 'string', default: '300' },
    json: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) process.stdout.write(usage);
else await bench();

async function bench() {
  const sizes = values.members.map(Number);
  const rounds = Number(values.rounds);
  const before = loadavg()[0];
  const suites = values.suite.map(Number);
  const results = JSON.parse(await program('commits', { sizes, suites, rounds }));
  const tsMls = suites.includes(3) && Number(values.patience) > 0 ? await measureTsMls(sizes, rounds) : [];
  const machine = { ...describeMachine(), node: process.version, load: [before, loadavg()[0]] };
  process.stdout.write(table(results, tsMls, machine));
  await writeResults(values.json, { machine, results, tsMls });
}

/** Runs commits.ts or tsMls.ts. @returns what it prints */
async function program(name, options, limits = {}) {
  const folder = await bundle(new URL(`${name}.ts`, import.meta.url));
  try {
    const args = [join(folder, `${name}.js`), JSON.stringify(options)];
    const { stdout } = await promisify(execFile)(process.execPath, args, limits);
    return stdout;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Measures ts-mls in suite 0x0003, a program for each size, since one may run out of time or memory. */
async function measureTsMls(sizes, rounds) {
  const results = [];
  for (const members of sizes) {
    for (const filled of [false, true]) {
      progress(`ts-mls, ${members} members, ${filled ? 'filled' : 'blank'}`);
      const limits = { timeout: 1000 * Number(values.patience), killSignal: 'SIGKILL' };
      let stdout;
      let failure = null;
      try {
        stdout = await program('tsMls', { members, filled, rounds }, limits);
      } catch (error) {
        ({ stdout } = error);
        failure = error.killed ? `not within ${values.patience} s` : reasonOf(error);
      }
      const figures = stdout
        .trim()
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line));
      results.push({ suite: 3, members, filled, ...Object.assign({}, ...figures), failure });
    }
  }
  return results;
}

/** The line of a program's last words that names the error. */
function reasonOf({ stderr, message }) {
  return stderr.split('\n').find((line) => /^\w*Error: /.test(line)) ?? message;
}

function table(results, tsMls, machine) {
  const load = machine.load.map((one) => one.toFixed(1)).join(' to ');
  const lines = [`${machine.processor}, Node ${machine.node}, load ${load}`, ''];
  lines.push(
    'Milliseconds of processor time: to make a commit with a path, to process it, the primitives for that; to join by a Welcome',
    '',
  );
  for (const result of results) {
    const { bytes, create, primitives, told } = result;
    const ratio = result.process / primitives;
    lines.push(
      [
        ...labels(result),
        `${bytes} B`.padStart(12),
        ...[create, result.process, primitives].map(shown),
        `${ratio.toFixed(2).padStart(8)} times, ${verdict(ratio, WANTED)}`,
        shown(result.join),
        `told ${told} times, ${verdict(result.join, WANTED_JOIN)}`,
      ].join(' '),
    );
  }
  if (tsMls.length > 0) lines.push('', 'ts-mls, and how many times what it takes here');
  for (const peer of tsMls) {
    const ours = results.find(
      ({ filled, members, suite }) => suite === 3 && members === peer.members && filled === peer.filled,
    );
    const figures = ['create', 'process', 'join'].map((what) =>
      peer[what] === undefined
        ? `${what} –`
        : `${what} ${peer[what].toFixed(2)} (${(peer[what] / ours[what]).toFixed(1)})`,
    );
    lines.push(
      [...labels(peer), ...figures.map((figure) => figure.padStart(26)), peer.failure ?? ''].join(' '),
    );
  }
  return `${lines.join('\n')}\n`;
}

function labels({ suite, members, filled }) {
  return [`  suite ${suite}`.padEnd(11), `${members} members, ${filled ? 'filled' : 'blank'}`.padEnd(24)];
}

function shown(ms) {
  return ms.toFixed(2).padStart(10);
}

/** An aim that is missed makes the run fail. */
function verdict(value, wanted) {
  if (value > wanted) process.exitCode = 1;
  return value <= wanted ? 'met' : 'MISSED';
}
