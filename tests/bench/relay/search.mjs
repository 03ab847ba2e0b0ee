// npm run bench:search: how long a search for people takes, and what it does to messages that are sent meanwhile.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { quantile } from '../statistics.mjs';
import { fillNames, queryOf, sequence } from './names.mjs';
import { introduce, signUp } from './people.mjs';
import { startRelay } from './servers.mjs';

const { values } = parseArgs({
  options: {
    accounts: { type: 'string', default: '1000000' },
    rate: { type: 'string', default: '30' },
    rounds: { type: 'string', default: '5' },
  },
});
const [accounts, searchesPerSecond, rounds] = [values.accounts, values.rate, values.rounds].map(Number);
const [pairCount, messagesPerSecond, seconds] = [8, 100, 10];
const say = (line) => process.stdout.write(`${line}\n`);
const ms = (samples, at) => `${quantile(samples, at).toFixed(1)} ms`;

const relay = await startRelay();
const generator = fork(path.join(import.meta.dirname, 'load.mjs'));
try {
  const api = `http://127.0.0.1:${relay.port}/api`;
  const pairs = [];
  for (let count = 0; count < pairCount; count += 1) {
    const [sender, receiver] = [await signUp(api), await signUp(api)];
    await introduce(api, sender, receiver);
    pairs.push({ sender, receiver });
  }
  const startedAt = performance.now();
  say(
    `${fillNames(relay.folder, accounts)} accounts, made in ${Math.round((performance.now() - startedAt) / 1000)} s`,
  );
  const random = sequence(2);
  const { token } = pairs[0].sender;
  const search = async () => {
    const query = encodeURIComponent(queryOf(random));
    const sentAt = performance.now();
    const answer = await fetch(`${api}/users/search?q=${query}`, {
      headers: { authorization: `Bearer ${token}` },
    });
    if (answer.status !== 200) throw new Error(`a search was answered ${answer.status}`);
    await answer.arrayBuffer();
    return performance.now() - sentAt;
  };
  /** Asks at its rate for as long as messages are sent; whether an answer has come changes nothing. */
  const searchFor = async () => {
    const answers = [];
    for (let count = 0; count < searchesPerSecond * seconds; count += 1) {
      answers.push(search());
      await delay(1000 / searchesPerSecond);
    }
    return Promise.all(answers);
  };
  const send = async () => {
    generator.send({
      task: 'latency',
      options: { port: relay.port, pairs, perSecond: messagesPerSecond, seconds },
    });
    const [{ result, error }] = await once(generator, 'message');
    if (error !== undefined || result.lost > 0) throw new Error(error ?? `${result.lost} messages were lost`);
    return result.samples;
  };

  await send();
  await Promise.all(Array.from({ length: 20 }, search));
  const [quiet, busy, searches] = [[], [], []];
  // Rounds alternate, so that what else the machine does meets both.
  for (let round = 0; round < rounds; round += 1) {
    quiet.push(...(await send()));
    const [sent, searched] = await Promise.all([send(), searchFor()]);
    busy.push(...sent);
    searches.push(...searched);
  }
  say(`a search, ${searchesPerSecond} a second: p50 ${ms(searches, 0.5)}, p99 ${ms(searches, 0.99)}`);
  say(`a message, ${messagesPerSecond} a second, quiet: p50 ${ms(quiet, 0.5)}, p99 ${ms(quiet, 0.99)}`);
  say(`a message, while people search: p50 ${ms(busy, 0.5)}, p99 ${ms(busy, 0.99)}`);
  say(
    `the p99 of a message is ${(quantile(busy, 0.99) / quantile(quiet, 0.99)).toFixed(2)} times its quiet one`,
  );

  const startedBurst = performance.now();
  const [burst, together] = await Promise.all([
    send(),
    Promise.all(Array.from({ length: 60 }, search)).then((samples) => [
      ...samples,
      performance.now() - startedBurst,
    ]),
  ]);
  say(
    `60 searches at once: all answered in ${Math.round(together.at(-1))} ms; the longest message ${ms(burst, 1)}`,
  );
} finally {
  generator.kill();
  await relay.stop();
}
