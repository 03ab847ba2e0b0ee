import { appendFile, copyFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Frame } from 'puppeteer-core';
import { layNext, type SignedReleases, signedReleases, stranger } from '../e2e/support/signedReleases.ts';
import { expect, test as withoutRelease } from './test.ts';
import { button, type Visitor } from './visitor.ts';

const test = withoutRelease.extend<SignedReleases>(signedReleases);

/** Signs up in a browser that holds on to the release from then on. */
async function keep(visitor: Visitor): Promise<void> {
  await visitor.signUp();
  for (const frame of [visitor.page.mainFrame(), visitor.keys]) {
    await frame.evaluate(async () => void (await navigator.serviceWorker.ready));
  }
  await visitor.reload();
  for (const frame of [visitor.page.mainFrame(), visitor.keys]) {
    const agreed = () => frame.evaluate(() => localStorage.getItem('release-agreed'));
    await expect.poll(agreed, frame.url()).toBe('0');
  }
}

const lookForUpdateIn = (frame: Frame) =>
  frame.evaluate(
    async () => void (await (await navigator.serviceWorker.ready).update().catch(() => undefined)),
  );
const lookForUpdate = ({ page }: Visitor) => lookForUpdateIn(page.mainFrame());

/** Has a newer version installed as far as it goes. */
async function tryUpdate(visitor: Visitor): Promise<void> {
  await lookForUpdate(visitor);
  const isAtRest = () =>
    visitor.page.evaluate(async () => (await navigator.serviceWorker.ready).installing === null);
  await expect.poll(isAtRest).toBe(true);
}

const versionOf = ({ page }: Visitor) =>
  page.evaluate(() => document.documentElement.dataset['version']).catch(() => undefined);
const question = 'Version 1.4.0 is here.';
const older = 'This server has gone back to an older version';
const locked = 'Something that isn’t this app has taken its place';

test('a signed release comes into use once the person has agreed to it and to its key room, and no older one after it', async ({
  newVisitor,
  served,
}) => {
  const alice = await newVisitor('alice');
  await keep(alice);
  await layNext(served);
  await lookForUpdate(alice);
  await alice.sees(question);
  await alice.sees('App: changed. Key room: changed.');
  await alice.reload();
  expect(await versionOf(alice)).toBeUndefined();
  await lookForUpdate(alice);
  await alice.click(button('Use it'));
  await alice.sees('The key room changes as well.');
  await alice.click(button('Change the key room'));
  await expect.poll(() => versionOf(alice)).toBe('next');
  await alice.onDashboard();

  await test.step('an older one is refused in a sentence, of the origin of the keys alone too', async () => {
    for (const origins of [['keys'], ['app', 'keys']] as const) {
      await served.goBack(...origins);
      await alice.reload();
      await alice.sees(older);
      expect(await versionOf(alice)).toBe('next');
    }
  });
});

test('of a file that is not what was signed, or not there, the person is asked nothing, and the release in use stays', async ({
  newVisitor,
  served,
}) => {
  const alice = await newVisitor('alice');
  await keep(alice);
  await layNext(served);
  // One that the browser has already is not asked for again.
  const changed = join(served.folder, 'app/index.html');
  await copyFile(changed, `${changed}.kept`);
  for (const spoil of [() => appendFile(changed, '<!-- -->'), () => rm(changed)]) {
    await spoil();
    await tryUpdate(alice);
    expect(await alice.page.evaluate(() => document.body.innerText)).not.toContain(question);
  }
  await rename(`${changed}.kept`, changed);
  await lookForUpdate(alice);
  await alice.sees(question);
  expect(await versionOf(alice)).toBeUndefined();
});

for (const origin of ['app', 'keys'] as const) {
  test(`a service worker of the relay’s own locks the keys, and a whole page says so: at the origin of the ${origin}`, async ({
    newVisitor,
    served,
  }) => {
    const alice = await newVisitor('alice');
    await keep(alice);
    await writeFile(join(served.folder, `${origin}/service-worker.js`), stranger);
    // The frame may be gone before it has answered.
    await lookForUpdateIn(origin === 'app' ? alice.page.mainFrame() : alice.keys).catch(() => undefined);
    await alice.sees(locked);
    // The frame goes once it has locked.
    await expect.poll(async () => (await alice.page.$('#keys, #root')) === null).toBe(true);
  });
}
