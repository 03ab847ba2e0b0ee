// npm run bench:lists: opening and scrolling 50,000 messages with a picture in ten, beside as many without.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import path from 'node:path';
import { chromium } from '@playwright/test';
import { build } from 'vite';
import { chromiumArgs, chromiumPath } from '../../e2e/browser.mjs';
import { describeMachine, progress, runCommand, writeResults } from '../command.mjs';
import { median } from '../statistics.mjs';
import { prepare } from './measures.mjs';

const USAGE = `npm run bench:lists -- [options]
  --messages <n>     50,000 if not given
  --rounds <n>       how often each is measured, 15 if not given
  --json <file>      also write every number there
`;

const origin = 'http://long-lists.test';
const types = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css' };
/** Steps of a scroll, of 600 pixels, each of which is painted before the next. */
const steps = 60;

await runCommand(
  USAGE,
  { messages: { type: 'string', default: '50000' }, rounds: { type: 'string', default: '15' } },
  bench,
);

async function bench(values) {
  const messages = Number(values.messages);
  const folder = await mkdtemp(path.join(tmpdir(), 'sinetti-bench-'));
  const browser = await chromium.launch({ executablePath: chromiumPath, args: chromiumArgs });
  try {
    progress('building the page');
    await build({
      configFile: path.join(import.meta.dirname, 'lists.vite.config.ts'),
      build: { outDir: folder, emptyOutDir: true },
    });
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
    await prepare(context);
    await context.route(`${origin}/**`, (route) => answer(route, folder));
    const results = { plain: [], pictures: [] };
    for (let round = 0; round < Number(values.rounds); round++) {
      progress(`round ${round + 1}`);
      // The first has the warmer machine, or the colder, so they take turns.
      for (const name of round % 2 === 0 ? ['plain', 'pictures'] : ['pictures', 'plain'])
        results[name].push(await measure(context, messages, name));
    }
    const machine = { ...describeMachine(), load: loadavg()[0] };
    process.stdout.write(`${machine.processor}, ${machine.cores} cores, load ${machine.load.toFixed(1)}\n`);
    for (const what of ['opened', 'scrolled']) {
      const of = (name) => results[name].map((one) => one[what]);
      const ratio = median(of('pictures').map((took, round) => took / of('plain')[round]));
      process.stdout.write(
        `${what.padEnd(9)} without ${median(of('plain')).toFixed(0)} ms, with ${median(of('pictures')).toFixed(0)} ms, × ${ratio.toFixed(2)}\n`,
      );
    }
    await writeResults(values.json, { machine, messages, results });
  } finally {
    await browser.close();
    await rm(folder, { recursive: true, force: true });
  }
}

async function answer(route, folder) {
  const { pathname } = new URL(route.request().url());
  const file = pathname === '/' ? 'index.html' : pathname.slice(1);
  const body = await readFile(path.join(folder, file)).catch(() => null);
  const contentType = types[path.extname(file)] ?? 'application/octet-stream';
  return body === null ? route.fulfill({ status: 404 }) : route.fulfill({ body, contentType });
}

/** @returns milliseconds from the click on the chat to its newest message, and of a scroll through older ones */
async function measure(context, messages, name) {
  const page = await context.newPage();
  await page.goto(`${origin}/?messages=${messages}${name === 'pictures' ? '&pictures=10' : ''}`);
  await page.getByRole('button', { name: /^person 0000/ }).waitFor();
  const measured = await page.evaluate(
    async ([newest, count]) => {
      const { bench } = globalThis;
      const row = 'section[aria-label="Conversations"] li button';
      const opened = await bench.clickUntil(row, 'person 0000', { message: newest });
      const list = document.querySelector('section[aria-label^="Messages "]');
      const began = performance.now();
      for (let step = 0; step < count; step++) {
        list.scrollTop -= 600;
        await bench.painted();
      }
      return { opened, scrolled: performance.now() - began };
    },
    [`${messages}: `, steps],
  );
  await page.close();
  return measured;
}
