import { createHash } from 'node:crypto';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from '@playwright/test';

/** The folder of the built client, with `app` and `keys` in it. */
export const builtClient = process.env.WEB_DIR ?? join(import.meta.dirname, '..', '..', '..', 'dist');

/** Resolves once the browser has everything that it needs to open the app by itself. */
export async function appIsKept(page: Page): Promise<void> {
  await page.evaluate(async () => void (await navigator.serviceWorker.ready));
}

/** Lays there what a build with another page would have: its root element says `next`. */
export async function layNextApp(webDir: string): Promise<void> {
  await layChanged(join(webDir, 'app'), 'index.html', (page) =>
    page.replace('<html ', '<html data-version="next" '),
  );
}

/** Lays there what a build with other styles of the frame would have. */
export async function layNextRoom(webDir: string): Promise<void> {
  const folder = join(webDir, 'keys');
  const styles = (await readdir(join(folder, 'assets'))).find((name) => /^keys-.*\.css$/.test(name)) ?? '';
  await layChanged(folder, join('assets', styles), (css) => `${css}/* next */`);
}

/** Changes a file of an origin, and the service worker that was built around it. */
async function layChanged(folder: string, name: string, change: (content: string) => string): Promise<void> {
  const file = join(folder, name);
  const worker = join(folder, 'service-worker.js');
  const before = await readFile(file, 'utf8');
  const after = change(before);
  const script = await readFile(worker, 'utf8');
  const [, version = ''] = /version:[`"']([0-9a-f]{16})[`"']/.exec(script) ?? [];
  await writeFile(file, after);
  await rm(`${file}.br`, { force: true });
  await writeFile(
    worker,
    script.replace(sha256(before), sha256(after)).replace(version, sha256(version).slice(0, 16)),
  );
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
