// npm run bench:compare -- --with <folder>: a start and a message, here and in another built checkout, in turns.
import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { progress, runCommand, writeResults } from '../command.mjs';
import { acceptAll, bundle, openProfile, signUp, write } from '../product.mjs';
import { startRelay } from '../relay/servers.mjs';
import { median } from '../statistics.mjs';
import { prepare, sendToShown } from './measures.mjs';
import { openUnobserved } from './unobserved.mjs';

const USAGE = `npm run bench:compare -- --with <folder> [options]
  --with <folder>    another checkout, built with npm run build
  --signed           the client here is a signed release, which its service workers hold on to
  --rounds <number>  how often each is measured, 25 unless told
  --json <file>      also write every number there
`;

const here = path.resolve(import.meta.dirname, '../../..');
const newest = 'The newest of all.';
const conversationButton = 'section[aria-label="Conversations"] li button';

const options = {
  with: { type: 'string' },
  signed: { type: 'boolean', default: false },
  rounds: { type: 'string', default: '25' },
};
await runCommand(USAGE, options, bench);

async function bench(values) {
  if (values.with === undefined) throw new Error(USAGE);
  const folder = await mkdtemp(path.join(tmpdir(), 'sinetti-bench-'));
  const sides = {};
  try {
    const other = path.resolve(values.with);
    sides.other = await open(other, path.join(other, 'dist'), path.join(folder, 'other'));
    const client = values.signed ? await signedClient(path.join(folder, 'client')) : path.join(here, 'dist');
    sides.here = await open(here, client, path.join(folder, 'here'));
    const results = {
      other: { ready: [], reopened: [], shown: [] },
      here: { ready: [], reopened: [], shown: [] },
    };
    for (let round = 0; round < 4; round += 1) {
      for (const name of ['other', 'here']) {
        progress(`messages, round ${round + 1}, ${name}`);
        results[name].shown.push(await sendToShown(sides[name].bob, sides[name].alice));
      }
    }
    for (const side of Object.values(sides)) await side.leaveAlone();
    // Holding on begins with a load after the first.
    if (values.signed) await sides.here.whenPinned();
    for (let round = 0; round < Number(values.rounds); round += 1) {
      // The first has the warmer machine, or the colder, so they take turns.
      for (const name of round % 2 === 0 ? ['other', 'here'] : ['here', 'other']) {
        const { ready, reopened } = await sides[name].reload();
        results[name].ready.push(ready);
        results[name].reopened.push(reopened);
      }
    }
    for (const measure of ['ready', 'reopened', 'shown']) {
      const [other, own] = [median(results.other[measure]), median(results.here[measure])];
      process.stdout.write(
        `${measure.padEnd(9)} other ${other.toFixed(0)} ms, here ${own.toFixed(0)} ms, ${(own / other).toFixed(2)} times\n`,
      );
    }
    await writeResults(values.json, results);
  } finally {
    for (const side of Object.values(sides)) await side.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Makes a signed release of the client here. */
async function signedClient(folder) {
  const program = await bundle(new URL('signedClient.ts', import.meta.url));
  try {
    await mkdir(folder);
    execFileSync(process.execPath, [path.join(program, 'signedClient.js'), path.join(here, 'dist'), folder]);
    return folder;
  } finally {
    await rm(program, { recursive: true, force: true });
  }
}

/** Two friends in a chat, in browsers of their own. @param root a built checkout @param webDir its client */
async function open(root, webDir, folder) {
  const relay = await startRelay({ root, webDir });
  const url = `http://localhost:${relay.port}`;
  const openPage = async (name) => {
    const context = await openProfile(path.join(folder, name), { baseURL: url });
    await prepare(context);
    const page = await context.newPage();
    await signUp(page, name);
    return page;
  };
  progress(`${root}: two friends`);
  const alice = await openPage('alice');
  const bob = await openPage('bob');
  await befriend(bob, 'alice');
  await acceptAll(alice);
  await openChat(alice, 'bob');
  await openChat(bob, 'alice');
  let unobserved;
  return {
    alice,
    bob,
    /** Closes both browsers and opens the first profile anew, without Playwright. */
    async leaveAlone() {
      await write(bob, newest);
      await alice.evaluate((text) => globalThis.bench.whenMessageShown(text), newest);
      for (const page of [alice, bob]) await page.context().close();
      unobserved = await openUnobserved(path.join(folder, 'alice'), url);
      await unobserved.goto('/dashboard');
      await unobserved.evaluate('globalThis.bench.dashboardReady');
      // A reload shows the conversation again that was open.
      await unobserved.evaluate(
        `globalThis.bench.clickUntil('${conversationButton}', 'bob', { message: ${JSON.stringify(newest)} })`,
      );
    },
    async whenPinned() {
      for (let loads = 0; loads < 10; loads += 1) {
        await unobserved.reload();
        await unobserved.evaluate('globalThis.bench.dashboardReady');
        await delay(1_000);
        if (await unobserved.evaluate("localStorage.getItem('release-agreed') !== null")) return;
      }
      throw new Error('the browser does not hold on to its release');
    },
    async reload() {
      await unobserved.reload();
      return {
        ready: await unobserved.evaluate('globalThis.bench.dashboardReady'),
        reopened: await unobserved.evaluate(`globalThis.bench.whenMessageShown(${JSON.stringify(newest)})`),
      };
    },
    async stop() {
      for (const page of unobserved === undefined ? [alice, bob] : []) await page.context().close();
      await unobserved?.close();
      await relay.stop();
    },
  };
}

async function befriend(page, username) {
  await page.evaluate(async (name) => {
    const headers = {
      authorization: `Bearer ${localStorage.getItem('token')}`,
    };
    const found = await (await fetch(`/api/users/search?q=${name}`, { headers })).json();
    const { id } = found.find((person) => person.username === name);
    await fetch(`/api/contacts/request/${id}`, { method: 'POST', headers });
  }, username);
}

async function openChat(page, name) {
  await page.getByRole('tab', { name: /^Messages/ }).click();
  await page
    .getByRole('region', { name: 'Conversations' })
    .getByRole('listitem')
    .filter({ hasText: name })
    .getByRole('button')
    .click();
}
