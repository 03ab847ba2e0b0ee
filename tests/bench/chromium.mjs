// Builds the benchmark page, serves it on loopback and runs it in Chromium with a profile on the disk: a private
// window keeps IndexedDB in memory, where a flush costs nothing.

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from '@playwright/test';
import { build } from 'vite';
import { chromiumArgs, chromiumPath } from '../e2e/browser.mjs';

const TYPES = { '.html': 'text/html', '.js': 'text/javascript' };

/**
 * @param {{ quick: boolean, only: string[], bytes: number, profilePath: string | null }} options
 * @param {(line: string) => void} progress
 */
export async function runInChromium({ profilePath, ...options }, progress) {
  const folder = await mkdtemp(join(tmpdir(), 'sinetti-bench-'));
  const site = join(folder, 'site');
  try {
    progress('building the page');
    await build({
      configFile: fileURLToPath(new URL('vite.config.ts', import.meta.url)),
      mode: profilePath === null ? 'production' : 'profile',
      build: { outDir: site },
    });
    return await served(site, (origin) =>
      browse(join(folder, 'profile'), origin, options, profilePath, progress),
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function served(root, visit) {
  const server = createServer((request, response) => void answer(root, request, response));
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    return await visit(`http://127.0.0.1:${server.address().port}/`);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

async function answer(root, request, response) {
  const { pathname } = new URL(request.url, 'http://bench');
  const path = normalize(pathname === '/' ? 'index.html' : pathname);
  try {
    const body = await readFile(join(root, path));
    response.writeHead(200, {
      'content-type': TYPES[extname(path)] ?? 'application/octet-stream',
      // An isolated page gets a clock of 5 µs instead of 100 µs.
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-embedder-policy': 'require-corp',
    });
    response.end(body);
  } catch {
    response.writeHead(404).end();
  }
}

async function browse(userDataDir, origin, options, profilePath, progress) {
  const context = await chromium.launchPersistentContext(userDataDir, {
    executablePath: chromiumPath,
    args: chromiumArgs,
  });
  try {
    const page = await context.newPage();
    page.on('console', (message) => progress(message.text()));
    page.on('pageerror', (error) => progress(error.message));
    await page.goto(origin);
    await page.waitForFunction(() => 'runInWorker' in window);
    if (profilePath === null) return await page.evaluate((chosen) => window.runInWorker(chosen), options);

    const profiler = await context.newCDPSession(page);
    await profiler.send('Profiler.enable');
    await profiler.send('Profiler.setSamplingInterval', { interval: 100 });
    await profiler.send('Profiler.start');
    const result = await page.evaluate((chosen) => window.runOnPage(chosen), options);
    const { profile } = await profiler.send('Profiler.stop');
    await writeFile(profilePath, JSON.stringify(profile));
    return result;
  } finally {
    await context.close();
  }
}
