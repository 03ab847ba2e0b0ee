import { cp, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Fixtures } from '@playwright/test';
import { verifyChain } from '../../../verify/src/chain/chain.ts';
import {
  firstRelease,
  holders,
  publish,
  type SignedChain,
  signed,
  stated,
} from '../../../verify/test/support/releases.ts';
import { builtClient, layNextApp, layNextRoom } from './built.ts';
import { RunningRelay } from './relay.ts';

const people = holders('anna', 'bertta', 'carl');

/** The relay serves this now, and did before. */
export interface Served {
  /** With `app` and `keys` in it. */
  readonly folder: string;
  readonly first: SignedChain;
  /** Goes back to the first release. */
  readonly goBack: () => Promise<void>;
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
    const dropThird = async (at: string) => {
      for (const part of ['app', 'keys']) {
        const chain = join(at, part, '.well-known/sinetti/chain');
        for (const name of await readdir(chain)) if (name.startsWith('3.')) await rm(join(chain, name));
      }
    };
    await dropThird(folder);
    await dropThird(built.folder);
    await provide({
      folder,
      first: built.chain,
      async goBack() {
        for (const part of ['app', 'keys'])
          await cp(join(built.folder, part), join(folder, part), { recursive: true });
        await dropThird(folder);
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

/** It takes over at once, and answers every page by its own. */
export const stranger = `self.addEventListener('install', () => self.skipWaiting());
self.addEventListener('fetch', (event) => {
  if (event.request.mode === 'navigate') event.respondWith(new Response('<h1>Password?</h1>', { headers: { 'content-type': 'text/html' } }));
});`;
