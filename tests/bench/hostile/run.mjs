// npm run bench:hostile: how long a client takes to refuse what strangers and members made to keep it busy.
import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { describeMachine, writeResults } from '../command.mjs';
import { bundle } from '../product.mjs';

const usage = `npm run bench:hostile -- [options]
  --rounds <n>     how often each is refused; 5 if not given
  --json <file>    also write every number there
It fails when a refusal takes longer than is wanted, by the least of its rounds.
`;

/** Milliseconds that a refusal may take beyond reading the message. */
const WANTED = 50;
/** Bytes of a message that it is asked of. */
const MOST = 2.2 * 1024 * 1024;

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    json: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) process.stdout.write(usage);
else await bench();

async function bench() {
  const folder = await bundle(new URL('attacks.ts', import.meta.url));
  try {
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [join(folder, 'attacks.js'), values.rounds],
      { maxBuffer: 16 * 1024 * 1024 },
    );
    const results = JSON.parse(stdout);
    const machine = { ...describeMachine(), node: process.version, load: loadavg()[0] };
    process.stdout.write(table(results, machine));
    await writeResults(values.json, { machine, ...results });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function table({ attacks, dear }, machine) {
  const lines = [`${machine.processor}, Node ${machine.node}, load ${machine.load.toFixed(1)}`, ''];
  lines.push(
    'Milliseconds of processor time to refuse a message, to read it (one SHA-256), and the difference',
    '',
  );
  const [over, accepted] = [[], []];
  for (const { name, bytes, code, refused, read } of attacks) {
    const difference = least(refused) - least(read);
    if (difference > WANTED) over.push(name);
    if (code === null) accepted.push(name);
    lines.push(
      row([name, `${bytes} B`, code ?? 'accepted', ms(least(refused)), ms(least(read)), ms(difference)]),
    );
  }
  const trees = [
    '',
    'Trees of which only the last leaf is wrong, and commits of which only the last client. To refuse one, and to read it,',
    'when the application does not accept its signer, or the clients, and the difference; when it does: to refuse it, to',
    'accept its honest twin, the signatures alone',
    '',
  ];
  for (const { name, bytes, code, refused, read, joined, unknownSigner, primitives } of dear) {
    const difference = least(unknownSigner) - least(read);
    if (bytes <= MOST && difference > WANTED) over.push(name);
    if (code === null) accepted.push(name);
    const ofStranger = [least(unknownSigner), least(read), difference];
    const ofMember = [least(refused), least(joined), least(primitives)];
    trees.push(row([name, `${bytes} B`, code ?? 'accepted', ...[...ofStranger, ...ofMember].map(ms)]));
  }
  lines.push(...trees);
  lines.push('', over.length === 0 ? `None is over ${WANTED} ms.` : `Over ${WANTED} ms: ${over.join('; ')}.`);
  if (accepted.length > 0) lines.push(`Accepted: ${accepted.join('; ')}.`);
  if (over.length + accepted.length > 0) process.exitCode = 1;
  return `${lines.join('\n')}\n`;
}

function row([name, bytes, code, ...times]) {
  return `  ${name.padEnd(78)} ${bytes.padStart(10)}  ${code.padEnd(16)} ${times.map((time) => time.padStart(8)).join(' ')}`;
}

/** Takes the least of the times, since other programs of the machine only add to one, also by emptying caches. */
function least(times) {
  return Math.min(...times);
}

function ms(value) {
  return value.toFixed(1);
}
