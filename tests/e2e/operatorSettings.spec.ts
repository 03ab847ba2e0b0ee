import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { appIsKept } from './support/built.ts';
import { RunningRelay } from './support/relay.ts';
import { expect, test as withDefaults } from './support/test.ts';

const operator = {
  productName: 'Letterbox',
  supportEmail: 'help@letterbox.example.org',
  privacyEmail: null,
  controller: { name: 'Letterbox Oy', address: 'Postikatu 1, 00100 Helsinki', country: 'Finland' },
  governingLaw: { en: 'Swedish law', fi: 'Ruotsin laki' },
  certificates: [],
};

/** A relay whose operator has said who they are; the client is the one that every other relay serves. */
const test = withDefaults.extend({
  relay: async ({}, provide) => {
    const folder = await mkdtemp(join(tmpdir(), 'sinetti-operator-'));
    const file = join(folder, 'operator.json');
    await writeFile(file, JSON.stringify(operator));
    const relay = await RunningRelay.start({ OPERATOR_FILE: file });
    await provide(relay);
    await relay.stop();
    await rm(folder, { recursive: true });
  },
});

test('an operator’s names are on its pages, also offline, and no script of the page changes them', async ({
  newBrowser,
}) => {
  const { context, person: alice } = await newBrowser('alice');
  const { page } = alice;
  await page.goto('/terms');
  await expect(page).toHaveTitle(/ – Letterbox$/);
  await expect(page.getByText(/^Swedish law governs these terms\./)).toBeVisible();
  await expect(page.getByText(/between you and Letterbox Oy/)).toBeVisible();
  await expect(page.locator('#keys')).toHaveAttribute('title', 'Letterbox');
  const asked: string[] = [];
  page.on('request', (request) => void asked.push(new URL(request.url()).pathname));
  await alice.signUp();
  await appIsKept(page);
  await page.reload();
  await alice.onDashboard();
  // It is asked for beside the scripts, once.
  expect(asked.filter((path) => path === '/operator.json').length).toBeGreaterThan(0);

  await page.evaluate(async () => {
    const hostile = JSON.stringify({ productName: 'Bank' });
    for (const name of [...(await caches.keys()), 'another']) {
      await (await caches.open(name)).put('/operator.json', new Response(hostile));
    }
  });
  await context.setOffline(true);
  await page.reload();
  await alice.onDashboard();
  await expect(page).toHaveTitle(/Letterbox$/);
});

test('settings that are no settings leave the app with its own', async ({ newBrowser }) => {
  const { context, person: alice } = await newBrowser('alice');
  const lines: string[] = [];
  alice.page.on('console', (line) => lines.push(line.text()));
  const body = JSON.stringify({ ...operator, apiHost: 'javascript:alert(1)', mqttUrl: null });
  await context.route('**/operator.json', (route) =>
    route.fulfill({ contentType: 'application/json', body }),
  );
  await alice.page.goto('/terms');
  await expect(alice.page).toHaveTitle(/ – Sinetti$/);
  await expect(alice.page.getByText(/^Finnish law governs these terms\./)).toBeVisible();
  await expect.poll(() => lines.join()).toContain('invalid-response');
});
