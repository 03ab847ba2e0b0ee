import { afterEach, beforeEach } from 'vitest';
import { startTestRelay, type TestRelay } from '#relay/test/helpers.ts';
import { Browser, type BrowserOptions } from './browser.ts';

export let relay: TestRelay;
/** In the order in which they were opened. */
export let browsers: Browser[];

/** Gives each test a relay of its own, and closes it with all browsers afterwards. */
export function withRelay(): void {
  beforeEach(async () => {
    await startRelay();
    browsers = [];
  });

  afterEach(async () => {
    for (const browser of browsers) browser.close();
    await relay.close();
  });
}

/** An empty one, in the place of one that was closed. */
export async function startRelay(): Promise<void> {
  relay = await startTestRelay();
}

export function newBrowser(options: BrowserOptions = {}): Browser {
  const browser = new Browser(relay, options);
  browsers.push(browser);
  return browser;
}
