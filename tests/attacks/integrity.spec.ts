import type { Page } from '@playwright/test';
import { expect, test as withoutPage } from '../e2e/support/test.ts';

/** In its service worker's place, which would answer by files that it has compared. */
const test = withoutPage.extend({
  page: async ({ browser, relay }, provide) => {
    const context = await browser.newContext({ baseURL: relay.url, serviceWorkers: 'block' });
    await provide(await context.newPage());
    await context.close();
  },
});

const header = 'integrity-policy';
const policy = 'content-security-policy';
const importMap = /<script type="importmap">.*?<\/script>/s;

/** Has the relay's answers changed on their way to a page. */
async function changing(
  page: Page,
  address: RegExp,
  change: (answer: { body: string; headers: Record<string, string> }) => void,
): Promise<void> {
  await page.route(address, async (route) => {
    const response = await fetch(route.request().url(), { headers: { accept: 'text/html' } });
    const { 'content-encoding': _, ...headers } = Object.fromEntries(response.headers);
    const answer = { body: await response.text(), headers };
    change(answer);
    await route.fulfill({ status: response.status, ...answer });
  });
}

/** Imports a script by its address, as whoever has got into a page would. @returns how that ended */
const imported = (page: Page, address: string) =>
  page.evaluate((url) => import(url).then(() => 'ran', String), address);
const hasRun = (page: Page) => page.evaluate(() => 'stranger' in globalThis);
const stranger = 'globalThis.stranger = true;';
const address = '/assets/stranger-Aa1.js';
const layStranger = (page: Page) =>
  page.route(`**${address}`, (route) => route.fulfill({ contentType: 'text/javascript', body: stranger }));

test('a script that is changed on its way isn’t run by a page that is not, but would be by one without the hashes', async ({
  page,
}) => {
  await changing(page, /\/assets\/AboutPage-[\w-]+\.js$/, (answer) => {
    answer.body += stranger;
  });
  await page.goto('/about');
  await expect(page.getByRole('heading', { name: 'This page could not be shown' })).toBeVisible();
  expect(await hasRun(page)).toBe(false);
  await changing(page, /\/about$/, (answer) => {
    answer.body = answer.body.replace(importMap, '');
    delete answer.headers[header];
  });
  await page.goto('/about');
  await expect.poll(() => hasRun(page)).toBe(true);
});

test('a part of the page whose script was removed says that it could not be shown, and the rest goes on', async ({
  page,
}) => {
  await page.route(/\/assets\/AboutPage-[\w-]+\.js$/, (route) => route.fulfill({ status: 404 }));
  await page.goto('/about');
  await expect(page.getByRole('heading', { name: 'This page could not be shown' })).toBeVisible();
  await page.goto('/terms');
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  await expect(page.getByRole('heading', { name: 'This page could not be shown' })).toBeHidden();
});

test('a script of the relay that the page doesn’t know isn’t run, but would be without Integrity-Policy', async ({
  page,
}) => {
  await layStranger(page);
  await page.goto('/about');
  expect(await imported(page, address)).toMatch(/^TypeError/);
  // Its bytes are each relay's own, so that no page says their hash.
  expect(await imported(page, '/operator.js')).toMatch(/^TypeError/);
  await changing(page, /\/about$/, ({ headers }) => {
    delete headers[header];
  });
  await page.goto('/about');
  expect(await imported(page, address)).toBe('ran');
});

test('the frame of the keys runs no script of its origin, even without its own policy, but would without both', async ({
  page,
  relay,
}) => {
  await layStranger(page);
  const left: string[] = [policy];
  await changing(page, /\/keys$/, ({ headers }) => {
    for (const name of left) delete headers[name];
  });
  const frame = await fetch(`${relay.url}/keys`, { redirect: 'manual' });
  const keys = frame.headers.get('location') ?? '';
  await page.goto(keys);
  expect(await imported(page, address)).toMatch(/^TypeError/);
  left.push(header);
  await page.goto(keys);
  expect(await imported(page, address)).toBe('ran');
});
