import type { Browser } from 'puppeteer-core';
import { test as base, expect } from '../e2e/support/test.ts';
import { launchFirefox } from './launch.ts';
import { Visitor } from './visitor.ts';

interface Firefox {
  /** One of its own for the tests of a worker. */
  readonly firefox: Browser;
}

interface World {
  /** A profile of its own, with a tab for that person. */
  readonly newVisitor: (username: string) => Promise<Visitor>;
}

/** The product in Firefox, over WebDriver BiDi. */
export const test = base.extend<World, Firefox>({
  firefox: [
    async ({}, provide) => {
      const firefox = await launchFirefox();
      await provide(firefox);
      await firefox.close();
    },
    { scope: 'worker' },
  ],
  newVisitor: async ({ firefox, mayBeForbidden, relay }, provide) => {
    const visitors: Visitor[] = [];
    await provide(async (username) => {
      const context = await firefox.createBrowserContext();
      const visitor = await Visitor.at(await context.newPage(), relay.url, username);
      visitors.push(visitor);
      return visitor;
    });
    for (const { page } of visitors) await page.browserContext().close();
    if (!mayBeForbidden) expect(visitors.flatMap(({ complaints }) => complaints)).toEqual([]);
  },
});

export { expect };
