import { observe } from './observe.mjs';

const median = (numbers) => {
  const sorted = numbers.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
};

/** Messages above which nothing more is learnt. */
const sends = 40;

/** Reactions given and taken back. */
const reactions = 20;

/** Drafts, of which one is told a second. */
const drafts = 15;

/** Messages that are read, of which the other browser is told once a second as well. */
const readings = 15;

export async function prepare(context) {
  await context.addInitScript(observe);
}

/** One for each page: a reload restores what every session has set, so that an older one would slow the page down again. */
const sessions = new WeakMap();

/** @param rate 1, or how many times slower the page's thread is to be */
async function slowDown(page, rate) {
  const client = sessions.get(page) ?? (await page.context().newCDPSession(page));
  sessions.set(page, client);
  await client.send('Emulation.setCPUThrottlingRate', { rate });
}

async function repeated(rounds, measure) {
  const results = [];
  for (let round = 0; round < rounds; round++) results.push(await measure());
  return median(results);
}

/** Until the landing page is painted, not what may stand in for it while it loads; with nothing cached, in milliseconds. */
export function landing(browser, url, { rate, rounds }) {
  return repeated(rounds, async () => {
    const context = await browser.newContext({ baseURL: url });
    await prepare(context);
    const page = await context.newPage();
    await slowDown(page, rate);
    await page.goto('/');
    const painted = await page.evaluate(() => globalThis.bench.landingPainted);
    await context.close();
    return painted;
  });
}

/**
 * From the start of a reload until the list of chats is painted (`ready`), and until the chat that was open shows its
 * newest message (`reopened`), in milliseconds.
 */
export async function reload(page, newest, { rate, rounds }) {
  await slowDown(page, rate);
  const ready = [];
  const reopened = [];
  for (let round = 0; round < rounds; round++) {
    await page.reload();
    ready.push(await page.evaluate(() => globalThis.bench.dashboardReady));
    reopened.push(await page.evaluate((text) => globalThis.bench.whenMessageShown(text), newest));
  }
  await slowDown(page, 1);
  return { ready: median(ready), reopened: median(reopened) };
}

/** From the click on a chat until its newest message is painted, in milliseconds, each time in a page just opened. */
export async function opening(page, name, newest, { rate, rounds }) {
  const result = await repeated(rounds, async () => {
    // Unlike a reload, this leaves no chat open.
    await page.goto('/dashboard');
    await page.evaluate(() => globalThis.bench.dashboardReady);
    // The rest of the start must not be counted.
    await page.waitForTimeout(1_500);
    await slowDown(page, rate);
    const took = await page.evaluate(
      ([who, text]) =>
        globalThis.bench.clickUntil('section[aria-label="Conversations"] li button', who, { message: text }),
      [name, newest],
    );
    await slowDown(page, 1);
    return took;
  });
  return result;
}

/** From the click on a tab until its panel is painted, the slowest of four, in milliseconds. */
export async function otherScreen(page, { rate, rounds }) {
  await slowDown(page, rate);
  let slowest = 0;
  for (const tab of ['Groups', 'Contacts', 'Profile', 'Messages']) {
    const took = await repeated(rounds, async () => {
      const there = await page.evaluate((name) => globalThis.bench.clickUntil('[role="tab"]', name, {}), tab);
      await page.evaluate(
        (name) => globalThis.bench.clickUntil('[role="tab"]', name, {}),
        tab === 'Messages' ? 'Groups' : 'Messages',
      );
      return there;
    });
    slowest = Math.max(slowest, took);
  }
  await page.evaluate((name) => globalThis.bench.clickUntil('[role="tab"]', name, {}), 'Messages');
  await slowDown(page, 1);
  return slowest;
}

/**
 * Types while messages that came in the meantime are being decrypted in the open chat.
 *
 * @param missed how many there are, the newest with the text `newest`
 * @returns the longest task of the page's thread and the longest wait for a key to be drawn, in milliseconds
 */
export async function typingWhileDecrypting(page, { rate, writeMissed, newest }) {
  await page.context().setOffline(true);
  await writeMissed();
  await slowDown(page, rate);
  const input = page.getByPlaceholder('Type a message...');
  await input.click();
  const since = await page.evaluate(() => performance.now());
  const shown = page.evaluate((text) => globalThis.bench.whenMessageShown(text), newest);
  await page.context().setOffline(false);
  const stillComing = Promise.resolve('still coming');
  while ((await Promise.race([shown, stillComing])) === 'still coming') {
    await page.keyboard.press('a', { delay: 20 });
    await page.waitForTimeout(40);
  }
  const until = await shown;
  await page.waitForTimeout(200);
  const { longTasks, inputs } = await page.evaluate(() => globalThis.bench.notes);
  const during = ({ startTime }) => startTime >= since && startTime <= until;
  await slowDown(page, 1);
  await input.fill('');
  const longest = (entries) => Math.max(0, ...entries.filter(during).map(({ duration }) => duration));
  return { longTask: longest(longTasks), key: longest(inputs) };
}

/** From Enter in one browser until the message is painted in the other, in milliseconds: median. */
export async function sendToShown(from, to) {
  const took = [];
  for (let number = 0; number < sends; number++) {
    const text = `Ping ${number} of ${Date.now()}`;
    const shown = to.evaluate(
      async (wanted) => (await globalThis.bench.whenMessageShown(wanted)) + performance.timeOrigin,
      text,
    );
    const input = from.getByPlaceholder('Type a message...');
    await input.fill(text);
    await from.evaluate(() => {
      addEventListener(
        'keydown',
        () => {
          globalThis.bench.enterAt = performance.timeOrigin + performance.now();
        },
        { once: true, capture: true },
      );
    });
    await input.press('Enter');
    const at = await shown;
    took.push(at - (await from.evaluate(() => globalThis.bench.enterAt)));
  }
  return median(took);
}

/**
 * From the choice of a heart for the newest message, or taking it back, until it is painted, in milliseconds: medians.
 * @returns in the browser of who reacts, and in the other
 */
export async function reactToShown(from, to) {
  const took = { here: [], there: [] };
  for (let number = 0; number < reactions; number++) {
    const shownIn = (page) =>
      page.evaluate(
        async (isThere) => (await globalThis.bench.whenHeart(isThere)) + performance.timeOrigin,
        number % 2 === 0,
      );
    const shown = Promise.all([shownIn(from), shownIn(to)]);
    await from.getByRole('article').last().getByRole('button', { name: 'Message actions' }).press('Enter');
    const heart = from.getByRole('menuitemcheckbox', { name: 'React with ❤️' });
    await heart.evaluate((item) =>
      item.addEventListener(
        'click',
        () => {
          globalThis.bench.chosenAt = performance.timeOrigin + performance.now();
        },
        { once: true, capture: true },
      ),
    );
    await heart.click();
    const [here, there] = await shown;
    const chosenAt = await from.evaluate(() => globalThis.bench.chosenAt);
    took.here.push(here - chosenAt);
    took.there.push(there - chosenAt);
  }
  return { here: median(took.here), there: median(took.there) };
}

/**
 * From a draft that is typed in one browser of a person until it stands in the list of chats of the other, in milliseconds:
 * median. The pause before each is another one, as a draft is told at most once a second.
 */
export async function draftToShown(from, to) {
  const took = [];
  const input = from.getByPlaceholder('Type a message...');
  for (let number = 0; number < drafts; number++) {
    const text = `Half a thought, no. ${number} of ${Date.now()}`;
    const shown = to.evaluate(
      async (wanted) => (await globalThis.bench.whenDraftShown(wanted)) + performance.timeOrigin,
      text,
    );
    await input.fill(text);
    const typed = await from.evaluate(() => performance.timeOrigin + performance.now());
    took.push((await shown) - typed);
    await from.waitForTimeout(100 * (number % 10));
  }
  return median(took);
}

/**
 * From the click that opens a chat with an unread message in one browser of a person until the list of chats of the other says that
 * nothing in it is unread, in milliseconds: median.
 */
export async function readToRead({ close, open, say }, from, to) {
  const took = [];
  for (let number = 0; number < readings; number++) {
    await close();
    const [unread, unreadElsewhere] = [from, to].map((page) =>
      page.evaluate(() => globalThis.bench.whenUnread(true)),
    );
    await say(`Unread, no. ${number}`);
    await Promise.all([unread, unreadElsewhere]);
    const read = to.evaluate(async () => (await globalThis.bench.whenUnread(false)) + performance.timeOrigin);
    const clicked = await from.evaluate(() => performance.timeOrigin + performance.now());
    await open();
    took.push((await read) - clicked);
  }
  return median(took);
}
