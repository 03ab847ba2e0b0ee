import { expect, test } from '../e2e/support/test.ts';
import { leaveDocument, leaveWorker } from './support/leaving.ts';
import { Stranger } from './support/stranger.ts';

test.use({ mayBeForbidden: true });

const strangers: Stranger[] = [];
const newStranger = () => {
  const stranger = new Stranger();
  strangers.push(stranger);
  return stranger;
};
test.afterEach(() => {
  for (const stranger of strangers.splice(0)) stranger.close();
});

test('the worker that holds the keys reaches nobody but its page', async ({ newBrowser, relay }) => {
  const { person: alice } = await newBrowser('alice');
  const started = alice.page.waitForEvent('worker');
  await alice.signUp();
  const worker = await started;
  const stranger = newStranger();
  const keysOrigin = new URL(worker.url()).origin;
  const answered: string[] = [];
  alice.page.on('response', (response) => answered.push(response.url()));
  const outcomes = await worker.evaluate(leaveWorker, [await stranger.listen(), keysOrigin, relay.url]);
  expect(Object.entries(outcomes).filter(([, outcome]) => outcome === 'done')).toEqual([]);
  expect(stranger.heard).toEqual([]);
  expect(answered.filter((url) => url.includes('?'))).toEqual([]);
});

test('the service workers of both origins reach no stranger', async ({ newBrowser }) => {
  const { person: alice, context } = await newBrowser('alice');
  await alice.signUp();
  await expect.poll(() => context.serviceWorkers().length).toBe(2);
  const stranger = newStranger();
  const address = await stranger.listen();
  for (const worker of context.serviceWorkers()) {
    const outcomes = await worker.evaluate(leaveWorker, [address]);
    expect(Object.entries(outcomes).filter(([, outcome]) => outcome === 'done')).toEqual([]);
  }
  expect(stranger.heard).toEqual([]);
});

test('the frame of the keys reaches nobody but its page', async ({ newBrowser }) => {
  const { person: alice } = await newBrowser('alice');
  await alice.signUp();
  const keys = alice.page.frames().find((frame) => frame.url().endsWith('/keys'));
  const stranger = newStranger();
  const address = await stranger.listen();
  // A frame that is kept from going elsewhere shows an error in the place of its document.
  await keys?.evaluate(leaveDocument, [address, true] as [string, boolean]).catch(() => undefined);
  // The stranger hears this, so it would have heard the rest.
  await fetch(`${address}/heard`);
  expect(stranger.heard).toEqual(['GET /heard']);
});

test('a script in the page reaches no stranger by what pages load', async ({ newBrowser }) => {
  const { person: alice } = await newBrowser('alice');
  await alice.signUp();
  const stranger = newStranger();
  const address = await stranger.listen();
  const complaints: string[] = [];
  alice.page.on('console', (message) => complaints.push(message.text()));
  await alice.page.evaluate(leaveDocument, [address, false] as [string, boolean]);
  await fetch(`${address}/heard`);
  expect(stranger.heard).toEqual(['GET /heard']);
  expect(complaints.join(' ')).toContain('Content Security Policy');
});
