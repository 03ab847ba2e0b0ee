import { expect, test } from './support/test.ts';

test('the room with the keys has no network, and the page compiles no WebAssembly', async ({
  newBrowser,
}) => {
  const { person: alice } = await newBrowser('alice');
  const workerStarted = alice.page.waitForEvent('worker');
  await alice.signUp();
  const worker = await workerStarted;

  const fetched = await worker.evaluate(() =>
    fetch('/healthz').then(
      () => 'reached the network',
      () => 'refused',
    ),
  );
  expect(fetched).toBe('refused');
});

test('the page may not compile WebAssembly nor evaluate text', async ({ browser, relay }) => {
  const page = await browser.newPage({ baseURL: relay.url });
  await page.goto('/');
  const empty = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0];
  const compiled = await page.evaluate(
    (bytes) =>
      WebAssembly.compile(new Uint8Array(bytes)).then(
        () => 'compiled',
        () => 'refused',
      ),
    empty,
  );
  expect(compiled).toBe('refused');
  await expect(
    page.evaluate(() => document.body.insertAdjacentHTML('beforeend', '<b>x</b>')),
  ).rejects.toThrow(/TrustedHTML/);
  await page.close();
});
