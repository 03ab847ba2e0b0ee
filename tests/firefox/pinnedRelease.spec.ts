import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
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

const lookForUpdate = ({ page }: Visitor) =>
  page.evaluate(
    async () => void (await (await navigator.serviceWorker.ready).update().catch(() => undefined)),
  );

test('a signed release comes into use once the person has agreed to it, and to its key room by itself', async ({
  newVisitor,
  served,
}) => {
  const alice = await newVisitor('alice');
  await keep(alice);
  const version = () => alice.page.evaluate(() => document.documentElement.dataset['version']);
  await layNext(served);
  await lookForUpdate(alice);
  await alice.sees('Version 1.4.0 is here.');
  await alice.sees('App: changed. Key room: changed.');
  await alice.reload();
  expect(await version()).toBeUndefined();
  await lookForUpdate(alice);
  await alice.click(button('Use it'));
  await alice.sees('The key room changes as well.');
  await alice.click(button('Change the key room'));
  await expect.poll(() => version().catch(() => undefined)).toBe('next');
  await alice.onDashboard();
});

test('a service worker of the relay’s own locks the keys, and a whole page says so', async ({
  newVisitor,
  served,
}) => {
  const alice = await newVisitor('alice');
  await keep(alice);
  await writeFile(join(served.folder, 'app/service-worker.js'), stranger);
  await lookForUpdate(alice);
  await alice.sees('Something that isn’t this app has taken its place');
  // The frame goes once it has locked.
  await expect.poll(async () => (await alice.page.$('#keys, #root')) === null).toBe(true);
});
