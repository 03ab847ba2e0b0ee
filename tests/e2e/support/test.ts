import { type Browser, type BrowserContext, test as base, expect } from '@playwright/test';
import { Person } from './person.ts';
import { RunningRelay } from './relay.ts';

export interface World {
  /** True for who tries what the page's policy forbids. */
  readonly mayBeForbidden: boolean;
  readonly relay: RunningRelay;
  /** A browser profile of its own, with a tab for that person. */
  readonly newBrowser: (
    username: string,
    options?: Parameters<Browser['newContext']>[0],
  ) => Promise<{ person: Person; context: BrowserContext }>;
}

/** Collects what a page must never report, in any test: an uncaught error, or something its own policy forbids. */
function collectComplaints(context: BrowserContext, complaints: string[]): void {
  context.on('weberror', (event) => complaints.push(`uncaught: ${event.error().message}`));
  context.on('console', (message) => {
    const text = message.text();
    if (/Content Security Policy|integrity|Trusted ?Types?|trusted-types/i.test(text)) complaints.push(text);
  });
}

export const test = base.extend<World>({
  relay: async ({}, provide) => {
    const relay = await RunningRelay.start();
    await provide(relay);
    await relay.stop();
  },
  mayBeForbidden: [false, { option: true }],
  newBrowser: async ({ browser, mayBeForbidden, relay }, provide) => {
    const contexts: BrowserContext[] = [];
    const complaints: string[] = [];
    await provide(async (username, options) => {
      // A spinner that turns takes more of a busy machine than what it waits for.
      const context = await browser.newContext({ baseURL: relay.url, reducedMotion: 'reduce', ...options });
      contexts.push(context);
      if (!mayBeForbidden) collectComplaints(context, complaints);
      return { person: await Person.in(context, username), context };
    });
    for (const context of contexts) await context.close();
    expect(complaints).toEqual([]);
  },
});

export { expect };
