// npm run bench:client: what the page takes, in Chromium, as it is and with a processor four times slower.
import { mkdtemp, rm } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from '@playwright/test';
import { chromiumArgs, chromiumPath } from '../../e2e/browser.mjs';
import { describeMachine, progress, runCommand, writeResults } from '../command.mjs';
import { acceptAll, logIn, openProfile, signUp, startProduct, write } from '../product.mjs';
import { median } from '../statistics.mjs';
import {
  draftToShown,
  landing,
  opening,
  otherScreen,
  prepare,
  reactToShown,
  readToRead,
  reload,
  sendToShown,
  typingWhileDecrypting,
} from './measures.mjs';
import { startPal } from './pal.mjs';
import { report } from './report.mjs';

const USAGE = `npm run bench:client -- [options]
  --quick            a smoke test: 20 contacts, 2,000 messages
  --only <parts>     some of landing, start, opening, pictures, typing, sending, drafts, with commas between
  --messages <n>     in the long conversations of opening and pictures, 50,000 if not given
  --json <file>      also write every number there
`;

const options = {
  quick: { type: 'boolean', default: false },
  only: { type: 'string' },
  messages: { type: 'string' },
};
await runCommand(USAGE, options, bench);

async function bench(values) {
  const amounts = values.quick
    ? { contacts: 20, cached: 1_000, long: 2_000, missed: 200, rounds: 3 }
    : { contacts: 200, cached: 20_000, long: 50_000, missed: 1_000, rounds: 7 };
  if (values.messages !== undefined) amounts.long = Number(values.messages);
  const only = values.only?.split(',');
  const does = (...parts) => only === undefined || parts.some((part) => only.includes(part));
  if (!does('start')) Object.assign(amounts, { contacts: 1, cached: 0 });
  const folder = await mkdtemp(join(tmpdir(), 'sinetti-bench-'));
  const relay = await startProduct();
  const url = `http://localhost:${relay.port}`;
  const pal = await startPal(url);
  const pals = [pal];
  const browser = await chromium.launch({ executablePath: chromiumPath, args: chromiumArgs });
  const openPage = async (name) => {
    const context = await openProfile(join(folder, name), {
      baseURL: url,
      viewport: { width: 1280, height: 800 },
    });
    await prepare(context);
    return context.newPage();
  };
  const contexts = [];
  try {
    const results = { 1: {}, 4: {} };
    for (const rate of does('landing') ? [1, 4] : []) {
      results[rate].landing = await landing(browser, url, { rate, rounds: amounts.rounds });
    }

    progress(`making ${amounts.contacts} contacts`);
    const reader = await openPage('reader');
    contexts.push(reader.context());
    await signUp(reader, 'reader');
    if (amounts.contacts > 1) await pal.ask('crowd', 'reader', String(amounts.contacts - 1));
    const palName = await pal.ask('meet', 'reader');
    await acceptAll(reader);

    if (does('start')) {
      await writeUntil(pal, reader, palName, amounts.cached, 'The newest of the cached.');
      for (const rate of [1, 4]) {
        const how = { rate, rounds: amounts.rounds };
        Object.assign(results[rate], await reload(reader, 'The newest of the cached.', how));
      }
    }

    if (does('opening', 'pictures'))
      await writeUntil(pal, reader, palName, amounts.long - amounts.cached, 'The newest of all.');
    for (const rate of does('opening') ? [1, 4] : []) {
      const how = { rate, rounds: amounts.rounds };
      results[rate].opening = await opening(reader, palName, 'The newest of all.', how);
      results[rate].otherScreen = await otherScreen(reader, how);
    }

    if (does('pictures')) {
      const picturePal = await startPal(url);
      pals.push(picturePal);
      const pictureName = await picturePal.ask('meet', 'reader');
      await acceptAll(reader);
      await writeUntil(picturePal, reader, pictureName, amounts.long, 'The last word.', 'pictures');
      await openChat(reader, pictureName);
      for (let shown = 0; shown < 3; shown++) await picturePal.ask('show', 'reader');
      await picturePal.ask('say', 'reader', 'The newest beside pictures.');
      await messageShown(reader, 'The newest beside pictures.');
      for (const rate of [1, 4]) {
        const ratios = [];
        // In turns with the chat without pictures: a ratio within a round is little of the machine's.
        for (let round = 0; round < amounts.rounds; round++) {
          const once = { rate, rounds: 1 };
          const plain = await opening(reader, palName, 'The newest of all.', once);
          const pictures = await opening(reader, pictureName, 'The newest beside pictures.', once);
          ratios.push(pictures / plain);
        }
        results[rate].picturesRatio = median(ratios);
      }
    }

    if (does('typing')) progress(`typing while ${amounts.missed} messages are decrypted`);
    for (const rate of does('typing') ? [1, 4] : []) {
      const newest = `Now typing, ${rate}`;
      await openChat(reader, palName);
      const typing = await typingWhileDecrypting(reader, {
        rate,
        newest,
        async writeMissed() {
          await pal.ask('write', 'reader', String(amounts.missed));
          await pal.ask('say', 'reader', newest);
        },
      });
      Object.assign(results[rate], typing);
    }

    let friend = reader;
    if (does('sending', 'drafts')) {
      progress('sending from browser to browser');
      friend = await openPage('friend');
      contexts.push(friend.context());
      await signUp(friend, 'friend');
      await befriend(friend, reader, 'reader');
      await openChat(friend, 'reader');
      // Only the rows in sight are drawn, and a message brings its writer to the top.
      await write(friend, 'Hello');
      await openChat(reader, 'friend');
      await messageShown(reader, 'Hello');
      if (does('sending')) {
        results[1].sendToShown = await sendToShown(friend, reader);
        const { here, there } = await reactToShown(friend, reader);
        Object.assign(results[1], { reactToOwn: here, reactToShown: there });
      }
    }

    if (does('drafts')) {
      progress('typing in one browser of two');
      const second = await openPage('second');
      contexts.push(second.context());
      await logIn(second, 'reader');
      await row(second, 'friend').waitFor();
      results[1].draftToShown = await draftToShown(reader, second);
      const chat = {
        close: () => openChat(reader, palName),
        say: (text) => write(friend, text),
        open: () => row(reader, 'friend').getByRole('button').first().click(),
      };
      results[1].readToRead = await readToRead(chat, reader, second);
    }

    const machine = { ...describeMachine(), load: loadavg()[0] };
    process.stdout.write(report(results, amounts, machine));
    await writeResults(values.json, { machine, amounts, results });
  } finally {
    for (const context of contexts) await context.close();
    await browser.close();
    for (const one of pals) await one.stop();
    await relay.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Has so many messages written, and then one that the reader has to show before anything is measured. */
async function writeUntil(pal, reader, name, count, newest, ...pictures) {
  progress(`writing ${count}${pictures.length === 0 ? '' : ' with a picture in ten'}`);
  await pal.ask('write', 'reader', String(count), ...pictures);
  await openChat(reader, name);
  await pal.ask('say', 'reader', newest);
  await messageShown(reader, newest);
}

async function befriend(one, other, otherName) {
  await one.evaluate(async (name) => {
    const headers = { authorization: `Bearer ${localStorage.getItem('token')}` };
    const found = await (await fetch(`/api/users/search?q=${name}`, { headers })).json();
    const { id } = found.find(({ username }) => username === name);
    await fetch(`/api/contacts/request/${id}`, { method: 'POST', headers });
  }, otherName);
  await acceptAll(other);
  await one.reload();
}

function row(page, name) {
  return page.getByRole('region', { name: 'Conversations' }).getByRole('listitem').filter({ hasText: name });
}

async function openChat(page, name) {
  await page.getByRole('tab', { name: /^Messages/ }).click();
  await row(page, name).getByRole('button').first().click();
}

async function messageShown(page, text) {
  await page
    .getByRole('region', { name: /^Messages / })
    .getByText(text)
    .waitFor({ timeout: 600_000 });
}
