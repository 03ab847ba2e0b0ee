import { createHash } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { startTestRelay, type TestRelay } from '#relay/test/helpers.ts';
import { isPageOfApp } from '#src/serviceWorker/navigations.ts';
import { type Build, type OperatorSettings, Precache } from '#src/serviceWorker/precache.ts';
import { installReleased, PinnedReleases } from '#src/serviceWorker/releases.ts';
import { MemoryCaches } from '#tests/support/memoryCaches.ts';
import { verifyChain } from '../../../verify/src/chain/chain.ts';
import { settingsIn } from '../../../verify/src/chain/expected.ts';
import { newHolder } from '../../../verify/test/support/keys.ts';
import {
  clientFiles,
  firstRelease,
  type Holders,
  holders,
  publish,
  type SignedChain,
  signed,
  stated,
  writeClient,
} from '../../../verify/test/support/releases.ts';

type Origin = 'app' | 'keys';

export const people = holders('anna', 'bertta', 'carl');
/** The next release changes the app alone by these. */
export const nextApp = {
  'app/assets/index-B2x_4f.js': 'page(2);',
  'app/service-worker.js': 'keep(2);',
};
export const nextRoom = {
  'keys/assets/keys-B2x_4f.css': 'form { color: blue }',
  'keys/service-worker.js': 'keepKeys(2);',
};

let data: string;
export let folder: string;
let relay: TestRelay;
export let first: SignedChain;
export let bases: Record<Origin, string>;
/** How an answer is changed on its way to the browser, and that there is no way. */
export const way: {
  change: (answer: Response, path: string) => Response | Promise<Response>;
  isOffline: boolean;
} = { change: (answer) => answer, isOffline: false };

/** Lays what a relay serves: a client, and its chain if it has one. */
export async function lay(
  chain: SignedChain | null,
  files: Readonly<Record<string, string>> = {},
): Promise<void> {
  for (const part of ['app', 'keys']) await rm(path.join(folder, part), { recursive: true, force: true });
  await writeClient(folder, { ...clientFiles, ...files });
  if (chain !== null) await publish(folder, chain);
}

/** The chain with one more release, of these files. */
export async function grown(
  files: Readonly<Record<string, string>>,
  signers: Holders = people,
  from = first,
  edited = (statement: Uint8Array) => statement,
): Promise<SignedChain> {
  await lay(null, files);
  const step = signed(edited(await stated(folder, from.chain, { version: '1.4.0' })), signers);
  const steps = [...from.steps, step];
  const isSigned = Object.keys(signers).filter((name) => signers[name] === people[name]).length >= 2;
  const chain = isSigned
    ? await verifyChain(steps, from.root)
    : { ...from.chain, release: { ...from.chain.release!, seq: 3 } };
  return { root: from.root, steps, chain };
}

/** The storage of a browser, with what its service worker does in it. */
export class Browser {
  readonly caches = { app: new MemoryCaches(), keys: new MemoryCaches() };

  readonly #fetch = (origin: Origin) => async (input: RequestInfo | URL, init?: RequestInit) => {
    if (way.isOffline) throw new TypeError('Failed to fetch');
    const asked = input as string;
    return way.change(
      await fetch(`${bases[origin]}${asked}`, { redirect: init?.redirect ?? 'follow' }),
      `${origin}${asked}`,
    );
  };

  /** The script of the service worker that was built with these files, as the relay gives it its settings now. */
  async version(files: Readonly<Record<string, string>> = {}, origin: Origin = 'app') {
    const answer = await this.#fetch(origin)('/operator.js').catch(() => null);
    const settings = answer === null ? this.settings : (settingsIn(await answer.text()) as OperatorSettings);
    this.settings = settings;
    const build = buildOf({ ...clientFiles, ...files }, origin);
    const caches = this.caches[origin];
    const fetching = this.#fetch(origin);
    const releases = new PinnedReleases({
      origin,
      address: bases[origin],
      build,
      settings,
      exclusively: (work) => work(),
      caches,
      fetch: fetching,
    });
    const precache = new Precache({
      build,
      page: { file: origin === 'app' ? '/index.html' : '/keys.html', answers: isPageOfApp },
      headersOf: () => settings.headers[origin].page,
      origin: bases[origin],
      caches,
      fetch: fetching,
      digest: (content) => crypto.subtle.digest('SHA-256', content),
      onRefused: () => undefined,
      isPinned: () => releases.isPinned(),
    });
    return {
      releases,
      precache,
      /** Returns how the installation ends: the code of what stands against it, or `installed`. */
      install: async (): Promise<string> =>
        installReleased(releases, precache, async () => undefined).then(
          () => 'installed',
          ({ code }: { code: string }) => code,
        ),
      async page(): Promise<string> {
        const request = { method: 'GET', mode: 'navigate', url: `${bases[origin]}/dashboard` } as Request;
        return (await precache.answer(request))?.text() ?? '';
      },
      async script(): Promise<string> {
        const answer = await precache.answer(new Request(`${bases[origin]}/assets/index-B2x_4f.js`));
        return answer?.text() ?? '';
      },
    };
  }

  settings!: OperatorSettings;

  /** Its storage is evicted. */
  evict(): void {
    for (const { stored } of Object.values(this.caches)) stored.clear();
  }
}

function buildOf(files: Readonly<Record<string, string>>, origin: Origin): Build {
  const listed = Object.entries(files)
    .filter(([name]) => name.startsWith(origin) && !/service-worker|webmanifest|robots|storage/.test(name))
    .map(([name, content]) => ({
      path: name.slice(origin.length),
      sha256: createHash('sha256').update(content).digest('hex'),
      atInstall: true,
    }));
  return {
    version: createHash('sha256').update(JSON.stringify(listed)).digest('hex').slice(0, 16),
    files: listed,
  };
}

export let browser: Browser;
/** The version in use. */
export let inUse: Awaited<ReturnType<Browser['version']>>;

/** Has a relay that serves the first release, and before each test a browser that holds on to it. */
export function servePinned(): void {
  beforeAll(async () => {
    data = await mkdtemp(path.join(tmpdir(), 'sinetti-pinned-'));
    folder = path.join(data, 'built');
    await writeClient(folder);
    first = await firstRelease(folder, people);
    // The relay has a route for each file that is there as it starts.
    const heirs = { ...people, dora: newHolder() };
    const any = signed(Buffer.from('{}'), heirs);
    await publish(folder, { ...first, steps: Array.from({ length: 8 }, () => any) });
    relay = await startTestRelay({ environment: { WEB_DIR: folder }, dataDir: path.join(data, 'relay') });
    const app = relay.url.replace('127.0.0.1', 'localhost');
    const frame = await fetch(`${app}/keys`, { redirect: 'manual' });
    bases = { app, keys: new URL(frame.headers.get('location') ?? '').origin };
    const copies = path.join(data, 'relay/web');
    folder = path.join(copies, (await readdir(copies))[0] ?? '');
  });
  afterAll(async () => {
    await relay.close();
    await rm(data, { recursive: true });
  });
  beforeEach(async () => {
    way.change = (answer) => answer;
    way.isOffline = false;
    await lay(first);
    browser = new Browser();
    inUse = await browser.version();
    if ((await inUse.install()) !== 'installed') throw new Error('the first release is not installed');
  });
}
