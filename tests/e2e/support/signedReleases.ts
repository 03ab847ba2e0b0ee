import { cp, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, type Fixtures, type Frame, type Page } from '@playwright/test';
import { verifyChain } from '../../../verify/src/chain/chain.ts';
import {
  firstRelease,
  holders,
  publish,
  type SignedChain,
  signed,
  stated,
} from '../../../verify/test/support/releases.ts';
import { appIsKept, builtClient, layNextApp, layNextRoom } from './built.ts';
import type { Person } from './person.ts';
import { RunningRelay } from './relay.ts';

const people = holders('anna', 'bertta', 'carl');

/** The relay serves this now, and did before. */
export interface Served {
  /** With `app` and `keys` in it. */
  readonly folder: string;
  readonly first: SignedChain;
  /** Goes back to the first release, at both origins unless one is named. */
  readonly goBack: (...origins: readonly ('app' | 'keys')[]) => Promise<void>;
}

export interface SignedReleases {
  readonly built: { readonly folder: string; readonly chain: SignedChain };
  readonly served: Served;
}

/** A relay that serves a chain of signed releases. */
export const signedReleases: Fixtures<SignedReleases, object, { readonly relay: RunningRelay }> = {
  built: async ({}, provide) => {
    const folder = await mkdtemp(join(tmpdir(), 'sinetti-pinned-'));
    for (const part of ['app', 'keys'])
      await cp(join(builtClient, part), join(folder, part), { recursive: true });
    const chain = await firstRelease(folder, people);
    await provide({ folder, chain });
    await rm(folder, { recursive: true, force: true });
  },
  relay: async ({ built }, provide) => {
    // The relay has a route for each file that is there as it starts.
    const [, step] = built.chain.steps;
    await publish(built.folder, { ...built.chain, steps: [...built.chain.steps, step!] });
    const relay = await RunningRelay.start({ WEB_DIR: built.folder });
    await provide(relay);
    await relay.stop();
  },
  served: async ({ built, relay }, provide) => {
    const copies = join(relay.dataDir, 'web');
    const folder = join(copies, (await readdir(copies))[0] ?? '');
    const origins = ['app', 'keys'] as const;
    const dropThird = async (at: string, parts: readonly string[] = origins) => {
      for (const part of parts) {
        const chain = join(at, part, '.well-known/sinetti/chain');
        for (const name of await readdir(chain)) if (name.startsWith('3.')) await rm(join(chain, name));
      }
    };
    await dropThird(folder);
    await dropThird(built.folder);
    await provide({
      folder,
      first: built.chain,
      async goBack(...named) {
        const parts = named.length > 0 ? named : origins;
        for (const part of parts) await cp(join(built.folder, part), join(folder, part), { recursive: true });
        await dropThird(folder, parts);
      },
    });
  },
};

/** Lays there what a next release would have, signed by its holders. */
export async function layNext({ first, folder }: Served): Promise<void> {
  await layNextApp(folder);
  await layNextRoom(folder);
  const step = signed(await stated(folder, first.chain, { version: '1.4.0' }), people);
  const steps = [...first.steps, step];
  await publish(folder, { root: first.root, steps, chain: await verifyChain(steps, first.root) });
}

/** Signs up in a browser that holds on to the release from then on. */
export async function keep(person: Person): Promise<void> {
  await person.signUp();
  await appIsKept(person.page);
  await frameOf(person.page, 'keys').evaluate(async () => void (await navigator.serviceWorker.ready));
  await person.page.reload();
  await person.onDashboard();
  for (const origin of ['app', 'keys'] as const) {
    const isPinned = () =>
      frameOf(person.page, origin).evaluate(() => localStorage.getItem('release-agreed'));
    await expect.poll(isPinned).toBe('0');
  }
}

/** The page, or the frame of the keys in it. */
function frameOf(page: Page, origin: 'app' | 'keys'): Frame {
  return (
    page.frames().find((frame) => frame.url().endsWith('/keys') === (origin === 'keys')) ?? page.mainFrame()
  );
}

export const lookForUpdate = (page: Page) =>
  page.evaluate(
    async () => void (await (await navigator.serviceWorker.ready).update().catch(() => undefined)),
  );
export const versionOf = (page: Page) => page.locator('html').getAttribute('data-version');

/** It takes over at once, and answers every page by its own. */
export const stranger = `self.addEventListener('install', () => self.skipWaiting());
self.addEventListener('fetch', (event) => {
  if (event.request.mode === 'navigate') event.respondWith(new Response('<h1>Password?</h1>', { headers: { 'content-type': 'text/html' } }));
});`;
