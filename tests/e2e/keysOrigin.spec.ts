import { freePort } from '../../relay/test/servers/freePort.ts';
import { fits } from './support/layout.ts';
import { Person } from './support/person.ts';
import { RunningRelay } from './support/relay.ts';
import { expect, test } from './support/test.ts';

/** Milliseconds after which the page gives up on a frame that says nothing. */
const patience = 10_000;

/** The addresses of the keys that lead nowhere. @param port of the relay */
const wrong = {
  'nobody listens there': (port: number) => `http://localhost:${port + 1}`,
  'a proxy leads it to the app': (port: number) => `http://keys.localhost:${port}`,
};

for (const [how, address] of Object.entries(wrong)) {
  test(`who comes where the address of the keys can't be reached reads which setting is wrong: ${how}`, async ({
    browser,
  }) => {
    const port = await freePort();
    const relay = await RunningRelay.start({
      PORT: String(port),
      KEYS_PORT: String(await freePort()),
      KEYS_ORIGIN: address(port),
    });
    try {
      const context = await browser.newContext({ baseURL: relay.url, reducedMotion: 'reduce' });
      const visitor = await Person.in(context, 'visitor');
      const { page } = visitor;
      await page.clock.install();
      await page.setViewportSize({ width: 360, height: 740 });
      await visitor.fillSignUp('/signup');
      await page.clock.fastForward(patience);
      const alert = page.getByRole('alert');
      await expect(alert).toContainText('whoever runs this server has to look at its setting KEYS_ORIGIN');
      await expect(alert).toBeInViewport();
      await fits(page);
      await page.setViewportSize({ width: 1440, height: 900 });
      await fits(page);
      await context.close();
    } finally {
      await relay.stop();
    }
  });
}
