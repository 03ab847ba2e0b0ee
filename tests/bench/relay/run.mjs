// npm run bench:relay: what the relay does a second, beside Mosquitto, under the same load in the same run.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { median, quantile } from '../statistics.mjs';
import { introduce, signUp } from './people.mjs';
import { machine, report } from './report.mjs';
import { mosquittoVersion, startMosquitto, startRelay } from './servers.mjs';

const usage = `npm run bench:relay -- [options]
  --quick           a smoke test: short rounds, few connections
  --only <part>     throughput, rest, polls, latency, fan-out, connections; may be given again
  --relay-only      leave Mosquitto out
  --profile <dir>   write a .cpuprofile of the relay there
  --json <file>     also write every measurement there
`;

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true, default: [] },
    'relay-only': { type: 'boolean', default: false },
    profile: { type: 'string' },
    json: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});

const pairCount = 32;
const rounds = values.quick ? 1 : 5;
const seconds = values.quick ? 1 : 3;
const idleConnections = values.quick ? 500 : 5000;
/** Opened before them, so that the program that grows as it warms up isn't taken for memory of theirs. */
const warmingConnections = idleConnections / 5;
const measures = (part) => values.only.length === 0 || values.only.includes(part);
const say = (line) => process.stderr.write(`bench: ${line}\n`);

if (values.help) {
  process.stdout.write(usage);
} else if (mosquittoVersion() === null && !values['relay-only']) {
  process.stderr.write('bench: no mosquitto found. Install it, or pass --relay-only.\n');
  process.exitCode = 1;
} else {
  await bench();
}

async function bench() {
  const before = machine();
  const servers = [await startRelay({ profile: values.profile ?? null })];
  if (!values['relay-only']) servers.push(await startMosquitto());
  const generator = startGenerator();
  try {
    const results = await measure(servers, generator);
    const facts = { ...before, mosquitto: mosquittoVersion(), loadAfter: machine().load };
    const { text, missed } = report(results, facts);
    process.stdout.write(text);
    // A smoke test measures too little to be judged.
    if (missed > 0 && !values.quick) process.exitCode = 1;
    if (values.json !== undefined) {
      await writeFile(values.json, `${JSON.stringify({ machine: facts, results }, null, 2)}\n`);
    }
  } finally {
    await generator.stop();
    await Promise.all(servers.map((server) => server.stop()));
  }
}

async function measure(servers, generator) {
  const [relay] = servers;
  const results = [];
  const note = (name, unit, server, samples, more = {}) => {
    const result = { name, unit, server: server.name, value: median(samples), samples, ...more };
    results.push(result);
    say(`${name}, ${server.name}: ${result.value.toFixed(1)} ${unit}`);
  };

  for (const server of servers)
    note('resident at rest', 'MiB', server, [(await server.residentKiB()) / 1024]);

  const api = `http://127.0.0.1:${relay.port}/api`;
  say(`signing ${2 * pairCount} people up`);
  const pairs = [];
  for (let count = 0; count < pairCount; count += 1) {
    const [sender, receiver] = [await signUp(api), await signUp(api)];
    await introduce(api, sender, receiver);
    pairs.push({ sender, receiver });
  }
  const people = pairs.flatMap(({ sender, receiver }) => [sender, receiver]);

  // First, while the memory is only what the server needs, and no garbage of other measurements hides the growth.
  if (measures('connections')) {
    for (const server of servers) {
      const open = (count) => generator.do('connections', { port: server.port, people, count, atOnce: 50 });
      await open(warmingConnections);
      await server.collectGarbage();
      const restingKiB = await server.residentKiB();
      const { perSecond } = await open(idleConnections);
      note('connections opened', '/s', server, [perSecond]);
      await server.collectGarbage();
      const grownKiB = (await server.residentKiB()) - restingKiB;
      note(`an idle connection, of ${idleConnections}`, 'KiB', server, [grownKiB / idleConnections]);
      await generator.do('hangUp', {});
    }
  }

  /** Rounds alternate between the servers, so that what else the machine does meets both. */
  const alternate = async (name, task, options, of = servers) => {
    const all = new Map(of.map((server) => [server, { rates: [], cpu: [], generator: [] }]));
    for (let round = 0; round < rounds; round += 1) {
      for (const server of of) {
        const cpuBefore = await server.cpuSeconds();
        const result = await generator.do(task, { port: server.port, seconds, ...options });
        if ((result.lost ?? 0) > 0) throw new Error(`${server.name} lost ${result.lost}: ${name}`);
        const { rates, cpu, generator: loads } = all.get(server);
        rates.push(result.perSecond);
        cpu.push((1e6 * ((await server.cpuSeconds()) - cpuBefore)) / result.count);
        if (result.generatorLoad !== undefined) loads.push(100 * result.generatorLoad);
      }
    }
    for (const [server, { rates, cpu, generator: loads }] of all) {
      note(name, '/s', server, rates);
      note(`${name}: processor time of one`, 'µs', server, cpu);
      if (loads.length > 0) note(`${name}: the generator's use of a core`, '%', server, loads);
    }
  };

  if (measures('throughput')) {
    // As people send: many connections, each waiting for its acknowledgement.
    await alternate('direct messages, MQTT QoS 1', 'throughput', { pairs, senders: 32, window: 1 });
    // As outboxes empty: few connections that fill the Receive Maximum.
    await alternate('pipelined direct messages, MQTT QoS 1', 'throughput', { pairs, senders: 1, window: 32 });
  }
  if (measures('rest')) await alternate('direct messages, REST', 'restThroughput', { pairs }, [relay]);
  if (measures('polls')) {
    await alternate('polls, read whole', 'polls', { people, isConditional: false }, [relay]);
    await alternate('polls, conditional', 'polls', { people, isConditional: true }, [relay]);
  }
  if (measures('latency')) {
    for (const server of servers) {
      const options = { port: server.port, pairs, perSecond: 200, seconds: seconds * 2 };
      const { samples, lost } = await generator.do('latency', options);
      if (lost > 0) throw new Error(`${server.name} lost ${lost} of the messages that time latency`);
      for (const at of [0.5, 0.99]) {
        note(`end to end at 200/s, p${at * 100}`, 'ms', server, [quantile(samples, at)]);
      }
    }
  }
  if (measures('fan-out')) {
    for (const qos of [0, 1]) {
      const options = { pairs, senders: 64, devices: 100, window: 2, qos };
      await alternate(`fan-out 1 to 100, deliveries of QoS ${qos}`, 'fanOut', options);
    }
  }
  return results;
}

function startGenerator() {
  const child = fork(path.join(import.meta.dirname, 'load.mjs'));
  return {
    async do(task, options) {
      child.send({ task, options });
      const [{ result, error }] = await once(child, 'message');
      if (error !== undefined) throw new Error(`${task}: ${error}`);
      return result;
    },
    async stop() {
      child.kill();
      await once(child, 'close');
    },
  };
}
