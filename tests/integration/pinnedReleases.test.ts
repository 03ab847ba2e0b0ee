import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startTestRelay, type TestRelay } from '#relay/test/helpers.ts';
import { isPageOfApp } from '#src/serviceWorker/navigations.ts';
import { type Build, type OperatorSettings, Precache } from '#src/serviceWorker/precache.ts';
import type { ReleaseVerdict } from '#src/serviceWorker/releaseMessages.ts';
import { installReleased, PinnedReleases } from '#src/serviceWorker/releases.ts';
import { MemoryCaches } from '#tests/support/memoryCaches.ts';
import { verifyChain } from '../../verify/src/chain/chain.ts';
import { settingsIn } from '../../verify/src/chain/expected.ts';
import { stateKeys } from '../../verify/src/making.ts';
import { newHolder } from '../../verify/test/support/keys.ts';
import {
  clientFiles,
  firstRelease,
  type Holders,
  holders,
  keyLines,
  publish,
  type SignedChain,
  signed,
  stated,
  writeBuilt,
  writeClient,
} from '../../verify/test/support/releases.ts';

type Origin = 'app' | 'keys';

const people = holders('anna', 'bertta', 'carl');
/** What the next release changes: the app alone. */
const nextApp = {
  'app/assets/index-B2x_4f.js': 'page(2);',
  'app/service-worker.js': 'keep(2);',
};
const nextRoom = {
  'keys/assets/keys-B2x_4f.css': 'form { color: blue }',
  'keys/service-worker.js': 'keepKeys(2);',
};

let data: string;
let folder: string;
let relay: TestRelay;
let first: SignedChain;
let bases: Record<Origin, string>;
/** Changes an answer on its way to the browser. */
let onTheWay: (answer: Response, path: string) => Response | Promise<Response>;
let isOffline: boolean;

/** Lays what a relay serves: a client, and its chain if it has one. */
async function lay(chain: SignedChain | null, files: Readonly<Record<string, string>> = {}): Promise<void> {
  for (const part of ['app', 'keys']) await rm(path.join(folder, part), { recursive: true, force: true });
  await writeClient(folder, { ...clientFiles, ...files });
  if (chain !== null) await publish(folder, chain);
}

/** The chain with one more release, of these files. */
async function grown(
  files: Readonly<Record<string, string>>,
  signers: Holders = people,
  from = first,
): Promise<SignedChain> {
  await lay(null, files);
  const step = signed(await stated(folder, from.chain, { version: '1.4.0' }), signers);
  const steps = [...from.steps, step];
  const isSigned = Object.keys(signers).filter((name) => signers[name] === people[name]).length >= 2;
  const chain = isSigned
    ? await verifyChain(steps, from.root)
    : { ...from.chain, release: { ...from.chain.release!, seq: 3 } };
  return { root: from.root, steps, chain };
}

beforeAll(async () => {
  data = await mkdtemp(path.join(tmpdir(), 'sinetti-pinned-'));
  folder = path.join(data, 'built');
  await writeClient(folder);
  first = await firstRelease(folder, people);
  // The relay has a route for each file that is there as it starts.
  const heirs = { ...people, dora: newHolder() };
  const any = signed(Buffer.from('{}'), heirs);
  await publish(folder, { ...first, steps: Array.from({ length: 4 }, () => any) });
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

/** The storage of a browser, with what its service worker does in it. */
class Browser {
  readonly #caches = { app: new MemoryCaches(), keys: new MemoryCaches() };

  readonly #fetch = (origin: Origin) => async (input: RequestInfo | URL, init?: RequestInit) => {
    if (isOffline) throw new TypeError('Failed to fetch');
    const asked = String(input);
    return onTheWay(
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
    const caches = this.#caches[origin];
    const fetching = this.#fetch(origin);
    const releases = new PinnedReleases({
      origin,
      address: bases[origin],
      build,
      settings,
      caches,
      fetch: fetching,
    });
    const precache = new Precache({
      build,
      page: { file: origin === 'app' ? '/index.html' : '/keys.html', answers: isPageOfApp },
      headersOf: () => settings.headers.app.page,
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
    for (const { stored } of Object.values(this.#caches)) stored.clear();
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

let browser: Browser;
/** The version in use. */
let inUse: Awaited<ReturnType<Browser['version']>>;

beforeEach(async () => {
  onTheWay = (answer) => answer;
  isOffline = false;
  await lay(first);
  browser = new Browser();
  inUse = await browser.version();
  expect(await inUse.install()).toBe('installed');
});

const refused = (code: string, isKnownScript: boolean) =>
  expect.objectContaining({ state: 'refused', code, isKnownScript }) as ReleaseVerdict;

describe('a relay without a chain', () => {
  it('is served as ever, and nothing is held on to', async () => {
    await lay(null);
    const visitor = new Browser();
    const version = await visitor.version();
    expect(await version.install()).toBe('installed');
    expect(await version.releases.verdict()).toEqual({ state: 'unsigned' });
    expect(await version.releases.isPinned()).toBe(false);
    await lay(null, nextApp);
    expect(await (await visitor.version(nextApp)).install()).toBe('installed');
  });

  it('that gets one is held on to from then on', async () => {
    await lay(null);
    const visitor = new Browser();
    const version = await visitor.version();
    await version.install();
    await lay(first);
    expect(await version.releases.verdict()).toEqual({ state: 'current', version: '1.0.0' });
    expect(await version.releases.isPinned()).toBe(true);
    await lay(null);
    expect(await version.releases.verdict()).toEqual(refused('unsigned', true));
  });
});

describe('another release', () => {
  it('is downloaded whole, and used once the person has agreed; until then the former one is served, offline too', async () => {
    await lay(await grown(nextApp), nextApp);
    const next = await browser.version(nextApp);
    expect(await next.install()).toBe('agreement');
    const verdict = await inUse.releases.verdict();
    expect(verdict).toEqual({
      state: 'newer',
      release: expect.stringMatching(/^[\w-]{43}$/) as string,
      version: '1.4.0',
      app: true,
      room: false,
      policies: false,
    });
    isOffline = true;
    expect(await inUse.script()).toBe('page();');
    expect(await inUse.releases.verdict()).toEqual({ state: 'unreachable' });
    // It is here already.
    expect(await next.script()).toBe('page(2);');
    isOffline = false;
    expect(await inUse.releases.agree('A'.repeat(43))).toBe(false);
    expect(await next.install()).toBe('agreement');
    expect(await inUse.releases.agree(verdict.state === 'newer' ? verdict.release : '')).toBe(true);
    expect(await next.install()).toBe('installed');
    expect(await next.releases.verdict()).toEqual({ state: 'current', version: '1.4.0' });
  });

  it('whose download breaks off changes nothing', async () => {
    await lay(await grown(nextApp), nextApp);
    onTheWay = (answer, at) => {
      if (at === 'app/assets/index-Cc_33d.css' || at === 'app/assets/index-B2x_4f.js')
        throw new TypeError('broken off');
      return answer;
    };
    expect(await (await browser.version(nextApp)).install()).not.toBe('installed');
    expect(await inUse.script()).toBe('page();');
    expect(await inUse.releases.verdict()).toEqual({ state: 'current', version: '1.0.0' });
    onTheWay = (answer) => answer;
    expect(await (await browser.version(nextApp)).install()).toBe('agreement');
    expect(await inUse.releases.verdict()).toMatchObject({ state: 'newer' });
  });

  it('says that the room changes, at both origins', async () => {
    const room = await browser.version({}, 'keys');
    expect(await room.install()).toBe('installed');
    await lay(await grown({ ...nextApp, ...nextRoom }), { ...nextApp, ...nextRoom });
    expect(await (await browser.version(nextApp)).install()).toBe('agreement');
    const verdict = await inUse.releases.verdict();
    expect(verdict).toMatchObject({ state: 'newer', app: true, room: true });
    expect(await room.releases.agree(verdict.state === 'newer' ? verdict.release : '')).toBe(false);
    expect(await (await browser.version(nextRoom, 'keys')).install()).toBe('agreement');
    expect(await room.releases.agree(verdict.state === 'newer' ? verdict.release : '')).toBe(true);
    expect(await (await browser.version(nextRoom, 'keys')).install()).toBe('installed');
  });

  it('follows keys that were replaced', async () => {
    const heirs = { anna: people.anna!, bertta: people.bertta!, dora: newHolder() };
    const keys = signed(stateKeys(keyLines(heirs), 2, first.chain), people);
    const replaced = signed(stateKeys(keyLines(heirs), 2, first.chain), { ...people, ...heirs });
    expect(keys.bytes).toEqual(replaced.bytes);
    const steps = [...first.steps, replaced];
    const chain = await verifyChain(steps, first.root);
    await lay({ root: first.root, steps, chain });
    expect(await inUse.releases.verdict()).toEqual({ state: 'current', version: '1.0.0' });
    const longer = await grown(nextApp, people, { root: first.root, steps, chain });
    await lay(longer, nextApp);
    expect(await (await browser.version(nextApp)).install()).toBe('agreement');
    expect(await inUse.releases.verdict()).toMatchObject({ state: 'newer' });
  });
});

/** Lays the next release with something about it changed. */
const withNext = async (change: (chain: SignedChain) => Promise<SignedChain> | SignedChain): Promise<void> =>
  lay(await change(await grown(nextApp)), nextApp);

describe('what is no release comes into no use:', () => {
  it.each<[string, () => Promise<void>, ReleaseVerdict, string]>([
    ['an older one than was seen', async () => lay(first), refused('rollback', true), 'rollback'],
    ['none any more', async () => lay(null), refused('unsigned', true), 'unsigned'],
    [
      'another one in its place',
      async () => {
        const files = { ...nextApp, 'app/service-worker.js': 'keep(3);' };
        await lay(await grown(files), files);
      },
      refused('rollback', false),
      'rollback',
    ],
    [
      'one from another root',
      async () => {
        await lay(null, nextApp);
        await lay(await firstRelease(folder, holders('anna', 'bertta', 'carl')), nextApp);
      },
      refused('rollback', true),
      'rollback',
    ],
  ])('%s', async (_, relayTurns, verdict, code) => {
    await lay(await grown(nextApp), nextApp);
    await inUse.releases.verdict();
    await relayTurns();
    expect(await inUse.releases.verdict()).toEqual(verdict);
    expect(await (await browser.version(nextApp)).install()).toBe(code);
    expect(await inUse.script()).toBe('page();');
  });

  it.each<[string, (chain: SignedChain) => Promise<SignedChain> | SignedChain, string]>([
    ['signed by others', async () => grown(nextApp, holders('anna', 'bertta', 'carl')), 'signature'],
    ['signed by one', async () => grown(nextApp, { anna: people.anna! }), 'signature'],
    [
      'that doesn’t follow the one before',
      async ({ chain, root, steps }) => {
        const step = signed(await stated(folder, { seq: 2, hash: 'A'.repeat(43) }, {}), people);
        return { chain, root, steps: [...steps.slice(0, 2), step] };
      },
      'chain',
    ],
    [
      'that leaves out a step',
      async ({ chain, root, steps }) => {
        const step = signed(await stated(folder, { seq: 3, hash: chain.hash }, {}), people);
        return { chain, root, steps: [...steps.slice(0, 2), step] };
      },
      'chain',
    ],
    [
      'that is no canonical JSON',
      ({ chain, root, steps }) => {
        const bytes = Buffer.concat([steps[2]!.bytes, Buffer.from('\n')]);
        return { chain, root, steps: [...steps.slice(0, 2), { ...steps[2]!, bytes }] };
      },
      'malformed',
    ],
  ])('one %s; its script locks', async (_, change, code) => {
    await withNext(change);
    expect(await inUse.releases.verdict()).toEqual(refused(code, false));
    expect(await (await browser.version(nextApp)).install()).toBe(code);
    expect(await inUse.script()).toBe('page();');
  });
});

describe('a service worker of one’s own', () => {
  it('is of no release: whoever has it in use is told so, and to lock', async () => {
    await writeBuilt(folder, 'app/service-worker.js', 'steal();');
    expect(await inUse.releases.verdict()).toEqual(refused('different', false));
    expect(await inUse.script()).toBe('page();');
  });

  it('is told of at the origin of the keys by the one there', async () => {
    const room = await browser.version({}, 'keys');
    await room.install();
    await writeBuilt(folder, 'keys/service-worker.js', 'steal();');
    expect(await room.releases.verdict()).toEqual(refused('different', false));
    expect(await inUse.releases.verdict()).toEqual({ state: 'current', version: '1.0.0' });
  });
});

/** The files that a service worker keeps, and those that a browser has from the network each time. */
const kept = Object.keys(clientFiles).filter(
  (name) => !/service-worker|webmanifest|robots|storage/.test(name),
);

describe('a byte that is changed in', () => {
  it.each(kept)('%s: the installation is refused, and what is in use stays', async (name) => {
    const origin = name.startsWith('app') ? 'app' : 'keys';
    const room = await browser.version({}, 'keys');
    await room.install();
    const files = { ...nextApp, ...nextRoom };
    await lay(await grown(files), files);
    const content = { ...clientFiles, ...files }[name] ?? '';
    await writeBuilt(folder, name, `${content.slice(0, -1)}~`);
    const next = await browser.version(files, origin);
    expect(await next.install()).toBe('mismatch');
    // Nobody is asked about it.
    const { releases } = origin === 'app' ? inUse : room;
    expect(await releases.verdict()).toEqual({ state: 'current', version: '1.0.0' });
    const former = await readFile(path.join(folder, name), 'utf8');
    expect(former).not.toBe(content);
    expect(await inUse.script()).toBe('page();');
  });

  it('a build that states it, too: it isn’t the release’s', async () => {
    const files = { ...nextApp, 'app/favicon.svg': '<svg onload="steal()"/>' };
    await lay(await grown(nextApp), files);
    expect(await (await browser.version(files)).install()).toBe('different');
  });

  it('a file that is removed, or two that are swapped: as one that is changed', async () => {
    await lay(await grown(nextApp), nextApp);
    await rm(path.join(folder, 'app/favicon.svg'));
    await rm(path.join(folder, 'app/favicon.svg.br'));
    expect(await (await browser.version(nextApp)).install()).toBe('unavailable');
    await lay(await grown(nextApp), { ...nextApp, 'app/favicon.svg': 'PNG', 'app/icon-180.png': '<svg/>' });
    expect(await (await browser.version(nextApp)).install()).toBe('mismatch');
  });

  it('a file that is added: nothing of a release asks for it', async () => {
    await writeBuilt(folder, 'app/assets/extra-Aa1.js', 'steal();');
    expect(await inUse.releases.verdict()).toEqual({ state: 'current', version: '1.0.0' });
  });
});

const changingHeader = (file: string, name: string, edit: (value: string) => string | null) => {
  onTheWay = async (answer, at) => {
    if (at !== file) return answer;
    const headers = new Headers(answer.headers);
    const value = edit(headers.get(name) ?? '');
    if (value === null) headers.delete(name);
    else headers.set(name, value);
    return new Response(await answer.arrayBuffer(), { status: answer.status, headers });
  };
};

describe('a header that is changed:', () => {
  const looser = (value: string) => value.replace("script-src 'self'", "script-src 'self' 'unsafe-inline'");
  const headerNames = [
    'content-security-policy',
    'cross-origin-opener-policy',
    'cross-origin-resource-policy',
    'origin-agent-cluster',
    'permissions-policy',
    'referrer-policy',
    'x-content-type-options',
  ];
  const cases = ['/index.html', '/service-worker.js'].flatMap((file) =>
    headerNames.map((name) => [file, name] as const),
  );
  it.each(cases)(
    'of %s, %s: told of in a sentence, and no release with it is installed',
    async (file, name) => {
      changingHeader(`app${file}`, name, (value) =>
        name === 'content-security-policy' ? looser(value) : 'other',
      );
      expect(await inUse.releases.verdict()).toEqual(refused('different', true));
      onTheWay = (answer) => answer;
      await lay(await grown(nextApp), nextApp);
      changingHeader(`app${file}`, name, () => null);
      expect(await (await browser.version(nextApp)).install()).toBe('different');
      expect(await inUse.script()).toBe('page();');
    },
  );

  it.each([
    ['a word of the policy', looser],
    ['a feature that is allowed', (text: string) => text.replace('geolocation=()', 'geolocation=*')],
    [
      'a header that is added',
      (text: string) => text.replace('"headers":{"app":{"page":{', '$&"x-more":"1",'),
    ],
  ])('in the settings of the service worker, %s', async (_, edit) => {
    await lay(await grown(nextApp), nextApp);
    onTheWay = async (answer, at) =>
      at === 'app/operator.js'
        ? new Response(edit(await answer.text()), { headers: answer.headers })
        : answer;
    expect(await (await browser.version(nextApp)).install()).toBe('different');
  });

  it('of a file that is kept: no one’s, since the service worker gives it those of the release', async () => {
    await lay(await grown(nextApp), nextApp);
    changingHeader('app/assets/index-B2x_4f.js', 'content-security-policy', () => '*');
    const next = await browser.version(nextApp);
    expect(await next.install()).toBe('agreement');
    const answer = await next.precache.answer(new Request(`${bases.app}/assets/index-B2x_4f.js`));
    expect(answer?.headers.get('content-security-policy')).toBe(
      browser.settings.headers.app.page['content-security-policy'],
    );
  });
});

describe('a first visit', () => {
  it('to a relay whose files are not the release’s is told so, and keeps nothing', async () => {
    await lay(first, nextApp);
    const visitor = new Browser();
    const version = await visitor.version(nextApp);
    expect(await version.install()).toBe('different');
    expect(await version.releases.isPinned()).toBe(false);
  });

  it('is what a browser has again once its storage is evicted: it takes an older release, too', async () => {
    await lay(await grown(nextApp), nextApp);
    const visitor = new Browser();
    expect(await (await visitor.version(nextApp)).install()).toBe('installed');
    await lay(first);
    expect(await (await visitor.version()).install()).toBe('rollback');
    visitor.evict();
    expect(await (await visitor.version()).install()).toBe('installed');
  });
});
