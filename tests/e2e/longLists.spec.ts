import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, type Locator, type Page, test } from '@playwright/test';
import react from '@vitejs/plugin-react';
import { build } from 'vite';
import { compileCatalogues } from '../../build/catalogues.ts';
import { compileEmojis } from '../../build/emojis.ts';

const origin = 'http://long-lists.test';
const types: Record<string, string> = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css' };
let files: string;

test.beforeAll(async () => {
  files = await mkdtemp(path.join(tmpdir(), 'sinetti-long-lists-'));
  await build({
    configFile: false,
    root: path.join(import.meta.dirname, 'support/longLists'),
    logLevel: 'error',
    plugins: [react(), compileCatalogues(), compileEmojis()],
    build: { outDir: files, emptyOutDir: true },
  });
});

test.afterAll(() => rm(files, { recursive: true, force: true }));

test.beforeEach(async ({ page }) => {
  await page.route(`${origin}/**`, async (route) => {
    const { pathname } = new URL(route.request().url());
    const file = pathname === '/' ? 'index.html' : pathname.slice(1);
    const contentType = types[path.extname(file)] ?? 'application/octet-stream';
    const body = await readFile(path.join(files, file)).catch(() => null);
    return body === null ? route.fulfill({ status: 404 }) : route.fulfill({ body, contentType });
  });
});

async function openChat(page: Page, query: string): Promise<Locator> {
  await page.goto(`${origin}/?${query}`);
  await page.getByRole('button', { name: /^person 0000/ }).click();
  const messages = page.getByRole('region', { name: 'Messages with person 0000' });
  await expect(messages).toBeVisible();
  return messages;
}

const fromEnd = (messages: Locator) =>
  messages.evaluate((element) => Math.round(element.scrollHeight - element.scrollTop - element.clientHeight));

/** Looks at every frame from now on; answers the most pixels that ever were blank. */
async function watchBlanks(messages: Locator): Promise<() => Promise<number>> {
  await messages.evaluate((element) => {
    const look = () => {
      const view = element.getBoundingClientRect();
      const rows = [...element.querySelectorAll('li')].map((row) => row.getBoundingClientRect());
      const top = Math.min(...rows.map((row) => row.top));
      const bottom = Math.max(...rows.map((row) => row.bottom));
      // The list begins and ends with some room.
      const blank = Math.max(0, top - view.top - 20, view.bottom - bottom - 20);
      element.dataset.blank = String(Math.max(Number(element.dataset.blank ?? 0), blank));
      requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  });
  return async () => Number(await messages.getAttribute('data-blank'));
}

/** How far the messages are scrolled once they hold still: the browser scrolls some frames after a turn of the wheel was taken. */
async function placeAtRest(messages: Locator): Promise<number> {
  return messages.evaluate(async (element) => {
    let place = element.scrollTop;
    for (let still = 0; still < 10; still += 1) {
      await new Promise(requestAnimationFrame);
      if (element.scrollTop !== place) still = 0;
      place = element.scrollTop;
    }
    return place;
  });
}

/** Scrolls to so many pixels below the top, then holds still: how often the messages in sight changed their place. */
async function moves(messages: Locator, top: number): Promise<number> {
  return messages.evaluate(async (element, target) => {
    const frame = () => new Promise(requestAnimationFrame);
    element.scrollTop = target;
    await frame();
    await frame();
    const view = element.getBoundingClientRect();
    const place = () =>
      new Map(
        [...element.querySelectorAll('article')].map((one) => [
          one.textContent,
          one.getBoundingClientRect().top,
        ]),
      );
    const before = [...place()].filter(([, at]) => at > view.top && at < view.bottom);
    const height = element.scrollHeight;
    let changed = 0;
    let left = 20;
    // Until older messages have come, and a while longer.
    for (let frames = 0; frames < 200 && left > 0; frames += 1) {
      left -= element.scrollHeight === height ? 0 : 1;
      await frame();
      const now = place();
      if (before.some(([text, at]) => Math.abs((now.get(text) ?? Number.NaN) - at) > 1)) changed += 1;
    }
    return changed;
  }, top);
}

test('50,000 messages: opens at the end, scrolls both ways without a blank, keeps the place of the reader', async ({
  page,
}) => {
  const messages = await openChat(page, 'messages=50000');
  await expect(messages.getByText(/^50000: /)).toBeInViewport();
  expect(await fromEnd(messages)).toBe(0);
  expect(await messages.getByRole('listitem').count()).toBeLessThan(60);

  const blanks = await watchBlanks(messages);
  await messages.hover();
  for (let turn = 0; turn < 40; turn += 1) await page.mouse.wheel(0, -900);
  for (let turn = 0; turn < 20; turn += 1) await page.mouse.wheel(0, 700);
  expect(await blanks()).toBe(0);

  await test.step('a message that comes does not move what is read, and is counted', async () => {
    const place = await placeAtRest(messages);
    await page.evaluate(() => window.arrive('Are you there?'));
    const jump = page.getByRole('button', { name: '1 new message' });
    await expect(jump).toBeVisible();
    expect(await messages.evaluate((element) => element.scrollTop)).toBe(place);
    await jump.click();
    await expect(messages.getByText('Are you there?')).toBeInViewport();
    await expect(jump).toBeHidden();
  });

  await test.step('at the end it follows, however tall what comes is', async () => {
    await page.evaluate(() => window.arrive('Long '.repeat(200)));
    await expect.poll(() => fromEnd(messages)).toBe(0);
    await messages
      .getByRole('button', { name: 'Show more' })
      .or(messages.getByText('Long Long').last())
      .first()
      .hover();
    await page.setViewportSize({ width: 1280, height: 420 });
    await expect.poll(() => fromEnd(messages)).toBe(0);
  });

  await test.step('the beginning is a key away', async () => {
    await messages.focus();
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Home');
    await expect(messages.getByText(/^1: /)).toBeInViewport();
    await expect(messages.getByRole('listitem').filter({ hasText: /person 0000: 1: / })).toBeFocused();
  });
});

test('5,000 pictures among them: no blank, few rows, and no more is fetched and held than what is near', async ({
  page,
}) => {
  const messages = await openChat(page, 'messages=50000&pictures=10');
  await expect(messages.getByText(/^50000: /)).toBeInViewport();
  await expect(messages.getByRole('img', { name: 'Picture 49995' })).toHaveJSProperty('naturalWidth', 800);
  expect(await fromEnd(messages)).toBe(0);
  const rows = messages.getByRole('listitem');
  const pictures = () => page.evaluate(() => ({ ...window.pictures, fetched: window.pictures.fetched.size }));
  const fewNear = async () => {
    const drawn = await rows.count();
    expect(drawn).toBeLessThan(60);
    const { held } = await pictures();
    expect(held).toBeLessThanOrEqual(await rows.getByRole('img').count());
    expect(held).toBeLessThan(15);
  };
  await fewNear();
  expect((await pictures()).fetched).toBeLessThan(15);

  const blanks = await watchBlanks(messages);
  await messages.hover();
  for (let turn = 0; turn < 40; turn += 1) await page.mouse.wheel(0, -900);
  for (let turn = 0; turn < 20; turn += 1) await page.mouse.wheel(0, 700);
  await placeAtRest(messages);
  expect(await blanks()).toBe(0);
  await fewNear();
  // 36,000 pixels have at most so many pictures.
  expect((await pictures()).fetched).toBeLessThan(120);

  await messages.focus();
  await page.keyboard.press('Home');
  await expect(messages.getByText(/^1: /)).toBeInViewport();
  await expect(messages.getByRole('img', { name: 'Picture 5', exact: true })).toHaveJSProperty(
    'naturalWidth',
    800,
  );
  await fewNear();
  expect((await pictures()).fetched).toBeLessThan(140);
});

for (const reducedMotion of ['no-preference', 'reduce'] as const) {
  test(`older messages come page by page, and what is read stays where it is (reduced motion: ${reducedMotion})`, async ({
    page,
  }) => {
    await page.emulateMedia({ reducedMotion });
    const messages = await openChat(page, 'messages=1500&held=50');
    const blanks = await watchBlanks(messages);
    for (let page = 0; page < 6; page += 1) expect(await moves(messages, 500)).toBe(0);
    expect(await blanks()).toBe(0);
    await messages.focus();
    await expect(async () => {
      await page.keyboard.press('Home');
      await expect(messages.getByText(/^1: /)).toBeInViewport({ timeout: 500 });
    }).toPass();
  });
}

test('the place is kept from chat to chat', async ({ page }) => {
  const messages = await openChat(page, 'messages=5000');
  await messages.hover();
  await page.mouse.wheel(0, -30_000);
  await expect.poll(() => fromEnd(messages)).toBeGreaterThan(20_000);
  const topmost = () =>
    messages.evaluate((element) => {
      const view = element.getBoundingClientRect();
      const row = [...element.querySelectorAll('li')].find(
        (each) => each.getBoundingClientRect().top >= view.top,
      );
      return [row?.textContent, Math.round((row?.getBoundingClientRect().top ?? 0) - view.top)];
    });
  const place = await topmost();
  await page.getByRole('button', { name: /^person 0001/ }).click();
  await page.getByRole('button', { name: /^person 0000/ }).click();
  await expect.poll(topmost).toEqual(place);
});

test('5,000 contacts: any of them is a key or a few letters away', async ({ page }) => {
  await page.goto(`${origin}/?messages=10&people=5000`);
  const list = page.getByRole('region', { name: 'Conversations' });
  expect(await list.getByRole('listitem').count()).toBeLessThan(60);
  await list.getByRole('button', { name: /^person 0000/ }).focus();
  await page.keyboard.press('End');
  await expect(list.getByRole('button', { name: /^person 4999/ })).toBeFocused();
  await expect(list.getByRole('button', { name: /^person 4999/ })).toBeInViewport();
  await page.keyboard.press('Home');
  await expect(list.getByRole('button', { name: /^person 0000/ })).toBeInViewport();
});
