// npm run bench:groups: what a large group takes, in real Chromium, of the page of who acts and of one who is added.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeMachine, progress, runCommand, writeResults } from '../command.mjs';
import {
  acceptAll,
  bundle,
  composer,
  openProfile,
  password,
  signUp,
  startProduct,
  write,
} from '../product.mjs';
import { watchTasks } from './tasks.mjs';
import { startWire } from './wire.mjs';

const usage = `npm run bench:groups -- [options]
  --people <n>     in the group at the end, all with two devices; 250 if not given
  --json <file>    also write every number there
`;

const devicesEach = 2;
const groupName = 'Everybody';

await runCommand(usage, { people: { type: 'string', default: '250' } }, bench);

async function bench(values) {
  const people = Number(values.people);
  const folder = await mkdtemp(join(tmpdir(), 'sinetti-bench-'));
  const programs = await bundle(new URL('crowd.ts', import.meta.url));
  const relay = await startProduct();
  const visitors = [];
  try {
    const crowd = (...args) => run(join(programs, 'crowd.js'), [`http://localhost:${relay.port}`, ...args]);
    const open = async (name) => {
      const visitor = await visit(join(folder, name), relay.port);
      visitors.push(visitor);
      await signUp(visitor.page, name);
      await tab(visitor.page, 'Messages').waitFor();
      return visitor;
    };
    const results = await measure(people, open, crowd);
    const machine = { ...describeMachine(), load: loadavg()[0] };
    process.stdout.write(table(people, results, machine));
    await writeResults(values.json, { machine, people, results });
  } finally {
    for (const { context, wire } of visitors) {
      await context.close();
      await wire.stop();
    }
    await relay.stop();
    await rm(folder, { recursive: true, force: true });
    await rm(programs, { recursive: true, force: true });
  }
}

async function measure(people, open, crowd) {
  const results = [];
  /** Times what somebody does until they see that it is done, with what it takes on the wire and of the page. */
  const timed = async (what, { page, wire }, act) => {
    // Earlier work must not be counted.
    await page.waitForTimeout(3_000);
    const before = wire.bytes();
    const stopWatching = await watchTasks(page);
    const start = performance.now();
    await act();
    const ms = performance.now() - start;
    // Waits for the rest of it, which is still on its way.
    await page.waitForTimeout(1_500);
    const after = wire.bytes();
    const task = await stopWatching();
    const result = { what, ms, up: after.up - before.up, down: after.down - before.down, task };
    results.push(result);
    progress(line(result));
  };

  const anna = await open('anna');
  const bert = await open('bert');
  progress(`signing ${people - 2} others up, with ${devicesEach} devices each`);
  const askedId = await idOf(anna.page);
  const begun = performance.now();
  await inParts(people - 2, (first, last) => crowd(askedId, `${first}`, `${last}`, `${devicesEach}`));
  for (const name of ['anna', 'bert']) await crowd(name, password);
  progress(`which took ${Math.round((performance.now() - begun) / 1000)} s`);
  await request(bert.page, askedId);
  await acceptAll(anna.page);
  await tab(anna.page, 'Messages').waitFor();
  const lastOne = `crowd-${String(people - 2).padStart(3, '0')}`;

  const page = anna.page;
  await tab(page, 'Groups').click();
  await timed('create the group', anna, async () => {
    await page.getByRole('button', { name: 'New Group' }).click();
    await page.getByLabel('Group name').fill(groupName);
    await page.getByRole('button', { name: 'Create Group' }).click();
    await page.getByRole('heading', { name: groupName }).waitFor();
  });

  await page.getByRole('button', { name: 'Group Details' }).click();
  const details = page.getByRole('region', { name: 'Group Details' });
  const contacts = details.getByRole('combobox', { name: 'Add Member' });
  const choose = async (name) => {
    await contacts.fill(name);
    await page.getByRole('option', { name, exact: true }).click();
    await page.keyboard.press('Escape');
  };
  const add = details.getByRole('button', { name: 'Add', exact: true });
  await details.getByRole('button', { name: /^Choose all/ }).click();
  await choose(lastOne);
  await tab(bert.page, 'Groups').click();
  const row = (on) => on.getByRole('region', { name: 'Groups' }).getByRole('listitem').getByRole('button');
  await Promise.all([
    timed(`add ${people - 2} people at once`, anna, async () => {
      await add.click();
      await page.getByText(`${people - 2} people added to the group!`).waitFor({ timeout: 300_000 });
    }),
    timed('the same, until one of them has the group', bert, async () => {
      await row(bert.page).filter({ hasText: groupName }).waitFor({ timeout: 300_000 });
    }),
  ]);
  await choose(lastOne);
  await timed(`add one to ${people - 1}`, anna, async () => {
    await add.click();
    await page.getByText(`${lastOne} added to the group!`).waitFor({ timeout: 60_000 });
  });

  await row(bert.page).click();
  await composer(bert.page).waitFor();

  await timed('send a message', anna, async () => {
    await write(page, 'From anna, with a commit of hers before it.');
    await sent(page, 'From anna, with a commit of hers before it.');
  });
  await timed('first message of another: with their commit', anna, async () => {
    await write(bert.page, 'The first of bert.');
    await shown(page, 'The first of bert.');
  });
  await timed('their next message', anna, async () => {
    await write(bert.page, 'The second of bert.');
    await shown(page, 'The second of bert.');
  });
  await timed('the first message, for its writer', bert, async () => {
    await write(page, 'One more of anna.');
    await shown(bert.page, 'One more of anna.');
  });

  await timed('start, with the group open', anna, async () => {
    await page.reload();
    await shown(page, 'The second of bert.');
  });
  // A tab comes back with what was open, so another tab it is.
  await page.close();
  anna.page = await anna.context.newPage();
  await anna.page.goto('/dashboard');
  await tab(anna.page, 'Groups').waitFor();
  await timed('start, with the group closed', anna, async () => {
    await anna.page.reload();
    await tab(anna.page, 'Groups').waitFor();
  });
  await tab(anna.page, 'Groups').click();
  await timed('open the group', anna, async () => {
    await row(anna.page).filter({ hasText: groupName }).click();
    await shown(anna.page, 'The second of bert.');
  });
  return results;
}

async function visit(profile, relayPort) {
  const wire = await startWire();
  const context = await openProfile(profile, {
    baseURL: `http://localhost:${relayPort}`,
    proxy: wire.proxy,
    viewport: { width: 1440, height: 900 },
  });
  return { context, wire, page: await context.newPage() };
}

/** By the relay's calls: clicking hundreds of times measures nothing. */
function idOf(page) {
  return page.evaluate(async () => {
    const headers = { authorization: `Bearer ${localStorage.getItem('token')}` };
    return (await (await fetch('/api/profile', { headers })).json()).id;
  });
}

async function request(page, userId) {
  await page.evaluate(async (id) => {
    const headers = { authorization: `Bearer ${localStorage.getItem('token')}` };
    await fetch(`/api/contacts/request/${id}`, { method: 'POST', headers });
  }, userId);
}

function tab(page, name) {
  return page.getByRole('tab', { name: new RegExp(`^${name}`) });
}

function messages(page) {
  return page.getByRole('region', { name: `Messages in ${groupName}` });
}

function shown(page, text) {
  return messages(page).getByText(text, { exact: true }).waitFor({ timeout: 60_000 });
}

async function sent(page, text) {
  await messages(page)
    .getByRole('listitem')
    .filter({ hasText: text })
    .getByText('Sent')
    .waitFor({ timeout: 60_000 });
}

/** @param task is given the first and the last number of each part */
async function inParts(count, task) {
  const parts = Math.min(availableParallelism(), count);
  const bound = (part) => Math.floor((count * part) / parts);
  await Promise.all(Array.from({ length: parts }, (_, part) => task(bound(part) + 1, bound(part + 1))));
}

async function run(program, args) {
  const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'inherit', 'inherit'] });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`the crowd ended with ${code}`);
}

function kilobytes(bytes) {
  return (bytes / 1000).toFixed(bytes < 10_000 ? 1 : 0);
}

function line({ what, ms, up, down, task }) {
  return `${what}: ${Math.round(ms)} ms, up ${kilobytes(up)} kB, down ${kilobytes(down)} kB, longest task ${Math.round(task)} ms`;
}

function table(people, results, { processor, cores, load }) {
  const rows = results.map(
    ({ what, ms, up, down, task }) =>
      `| ${what} | ${Math.round(ms)} | ${kilobytes(up)} | ${kilobytes(down)} | ${Math.round(task)} |`,
  );
  return [
    `${people} people with ${people * devicesEach} devices; ${processor}, ${cores} cores, load ${load.toFixed(1)}`,
    '',
    '| what | ms | up, kB | down, kB | longest task, ms |',
    '|---|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}
