// npm run bench:scale: what thousands of real clients ask of the relay, and what each of them takes of it.
import { rm } from 'node:fs/promises';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { describeMachine, progress, writeResults } from '../command.mjs';
import { startLines } from '../lines.mjs';
import { bundle } from '../product.mjs';
import { startRelay } from '../relay/servers.mjs';

const usage = `npm run bench:scale -- [options]
  --clients <n>    people with a browser each, in pairs; 2000 if not given
  --programs <n>   processes that they are in; 4 if not given
  --seconds <n>    of each part; 60 if not given
  --json <file>    also write every number there
`;

const { values } = parseArgs({
  options: {
    clients: { type: 'string', default: '2000' },
    programs: { type: 'string', default: '4' },
    seconds: { type: 'string', default: '60' },
    json: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});

/** Messages of each client in the part in which they talk. */
const messagesEach = 4;

if (values.help) process.stdout.write(usage);
else await bench();

async function bench() {
  const [seconds, count] = [Number(values.seconds), Number(values.programs)];
  // Pairs are within one program.
  const each = 2 * Math.round(Number(values.clients) / count / 2);
  const clients = each * count;
  const folder = await bundle(new URL('clients.ts', import.meta.url));
  const relay = await startRelay();
  const url = `http://127.0.0.1:${relay.port}`;
  const programs = Array.from({ length: count }, (_, at) =>
    startLines(join(folder, 'clients.js'), url, String(at * each)),
  );
  const all = (...words) => Promise.all(programs.map((program) => program.ask(...words)));
  const facts = { ...describeMachine(), load: loadavg()[0] };
  const parts = [];
  /** Measures what the relay takes for what the clients do. */
  const part = async (what, act) => {
    progress(what);
    await all('asked');
    const [cpu, started] = [await relay.cpuSeconds(), performance.now()];
    await act();
    const lasted = (performance.now() - started) / 1_000;
    const used = (await relay.cpuSeconds()) - cpu;
    parts.push({ what, lasted, used, requests: sum((await all('asked')).map((text) => JSON.parse(text))) });
  };
  try {
    await relay.collectGarbage();
    const before = await relay.residentKiB();
    await part('sign up, become contacts, write the first messages', () => all('join', String(each)));
    // Receipts and pings that follow a first message are over by then.
    await delay(20_000);
    await part('nobody does anything', () => delay(seconds * 1_000));
    await relay.collectGarbage();
    const resident = { before, after: await relay.residentKiB() };
    await part(`everybody writes ${messagesEach} messages`, () =>
      all('talk', String(messagesEach), String(seconds)),
    );
    await part('all MQTT connections break at once', () => all('comeBack'));
    const results = { clients, seconds, resident, parts };
    process.stdout.write(table(results, facts));
    await writeResults(values.json, { machine: facts, ...results });
  } finally {
    await Promise.all(programs.map((program) => program.stop()));
    await relay.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Adds up what the programs have asked. */
function sum(counts) {
  const all = {};
  for (const one of counts) {
    for (const [request, times] of Object.entries(one)) all[request] = (all[request] ?? 0) + times;
  }
  return all;
}

function table({ clients, resident, parts }, machine) {
  const total = (requests) => Object.values(requests).reduce((one, other) => one + other, 0);
  const [, quiet, talking] = parts;
  const idle = quiet.used / quiet.lasted;
  const messages = clients * messagesEach;
  const perMessage = ((talking.used - idle * talking.lasted) / messages) * 1_000;
  return [
    `${machine.processor}, ${machine.cores} cores, load ${machine.load.toFixed(1)} before; ${clients} clients`,
    '',
    '| | seconds | requests | a second for each client | processor of the relay, s |',
    '|---|---|---|---|---|',
    ...parts.map(({ lasted, requests, used, what }) =>
      [
        `| ${what}`,
        lasted.toFixed(0),
        total(requests),
        (total(requests) / lasted / clients).toFixed(3),
        `${used.toFixed(1)} |`,
      ].join(' | '),
    ),
    '',
    `- a client that does nothing: ${((idle / clients) * 1_000).toFixed(3)} ms of processor a second, ${((resident.after - resident.before) / clients).toFixed(1)} KiB of memory`,
    `- a message beside that, with its receipts and signs: ${perMessage.toFixed(2)} ms of processor`,
    '',
    ...asked('nobody does anything', quiet, (quiet.lasted * clients) / 60, 'a minute for each client'),
    ...asked(talking.what, talking, messages, 'for each message'),
  ].join('\n');
}

/** Lists the requests that one part made most. @param {number} share what it is divided by */
function asked(what, { requests }, share, title) {
  const most = Object.entries(requests).toSorted(([, one], [, other]) => other - one);
  const rows = most.slice(0, 12).map(([request, times]) => `| ${request} | ${(times / share).toFixed(2)} |`);
  return [`| ${what} | ${title} |`, '|---|---|', ...rows, ''];
}
