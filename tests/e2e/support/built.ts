import { join } from 'node:path';
import type { Page } from '@playwright/test';

/** The folder of the built client, with `app` and `keys` in it. */
export const builtClient = process.env.WEB_DIR ?? join(import.meta.dirname, '..', '..', '..', 'dist');

/** Resolves once the browser has everything that it needs to open the app by itself. */
export async function appIsKept(page: Page): Promise<void> {
  await page.evaluate(async () => void (await navigator.serviceWorker.ready));
}
