import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { notedAnswers } from '#src/lib/notedAnswers.ts';
import { checkFiles } from '#src/services/proof/files.ts';
import { runVectors } from '#src/services/proof/vectors.ts';
import type { StatedNow } from '#src/store/proof.ts';
import { canonicalText, type Json } from '../../../../verify/src/chain/canonical.ts';
import { policyNames } from '../../../../verify/src/chain/statement.ts';

const origin = 'https://chat.example.org';
const hashOf = (text: string) => createHash('sha256').update(text).digest('base64url');
const files: Record<string, string> = {
  '/index.html': 'page',
  '/service-worker.js': 'worker',
  '/assets/page-1.js': 'script',
};
const release = {
  type: 'sinetti-release',
  version: '1.4.0',
  seq: 3,
  prev: hashOf('the step before'),
  source: { commit: '0'.repeat(40), lockfile: hashOf('lockfile'), node: 'v20.20.2' },
  wasm: [hashOf('module')],
  policies: Object.fromEntries(policyNames.map((name) => [name, "default-src 'none'"])),
  policyOf: { app: {}, keys: {} },
  headers: { app: {}, keys: {} },
  documents: {},
  caching: { assets: 'immutable', others: 'no-cache' },
  files: {
    app: Object.fromEntries(Object.entries(files).map(([path, text]) => [path, hashOf(text)])),
    keys: { '/keys.html': hashOf('frame'), '/assets/crypto.worker-1.js': hashOf('room') },
  },
};

type Release = typeof release;
const hashed = (contents: Record<string, string>) =>
  Object.fromEntries(Object.entries(contents).map(([path, text]) => [path, hashOf(text)]));
/** The release before: other names, but for one file that stayed the same. */
const formerFiles: Record<string, string> = {
  '/index.html': 'former page',
  '/service-worker.js': 'former worker',
  '/assets/page-0.js': 'former script',
  '/assets/font-1.woff2': 'font',
};
const former: Release = {
  ...release,
  version: '1.3.0',
  seq: 2,
  files: { ...release.files, app: hashed(formerFiles) },
};
/** The newest release, which follows on that. */
const newest: Release = { ...release, prev: hashOf(canonicalText(former)) };
const chain = { 'chain/2.json': canonicalText(former), 'chain/3.json': canonicalText(newest) };

interface Page {
  /** Files that the page has loaded beside itself. */
  readonly loaded?: readonly string[];
  /** The release that the service worker holds on to, or null; absent where there is none. */
  readonly held?: Release | null;
  /** The relay's release; null for a relay without one, and a text for one that is no JSON. */
  readonly stated?: Json;
  /** Further files of the relay's folder of releases. */
  readonly steps?: Record<string, string>;
}

/** Checks a page that has loaded its files, an answer of the API and something of another origin. */
function check(served: Record<string, string>, page: Page = {}) {
  const { held, loaded = ['/assets/page-1.js'], stated = release, steps = {} } = page;
  return checkFiles({
    origin,
    loaded: () => [
      ...loaded.map((path) => `${origin}${path}`),
      `${origin}/api/users/me`,
      `${origin}/operator.json`,
      'https://keys.example.org/keys.html',
    ],
    worker: held === undefined ? null : async () => (held === null ? null : canonicalText(held)),
    fetch: async (input) => {
      const path = typeof input === 'string' ? input : '';
      const [, name] = /^\/\.well-known\/sinetti\/(.+)$/.exec(path) ?? [];
      const release = stated === null || typeof stated === 'string' ? stated : canonicalText(stated);
      const text = name === 'release.json' ? release : name === undefined ? served[path] : steps[name];
      return text === undefined || text === null ? new Response('', { status: 404 }) : new Response(text);
    },
  });
}

const resultsOf = ({ files: checked }: Awaited<ReturnType<typeof check>>) =>
  Object.fromEntries(checked.map(({ path, result }) => [path, result]));
/** The former page, beside the next release at the relay. */
const formerPage = ['/assets/page-0.js', '/assets/font-1.woff2'];

describe('the files of the page', () => {
  it('are those of the release, byte for byte', async () => {
    const checked = await check(files);
    expect(checked).toMatchObject({
      release: { version: '1.4.0', seq: 3, keysFiles: 2, isHeld: false },
      stated: { state: 'same' },
      isKept: false,
      isCut: false,
    });
    expect(resultsOf(checked)).toEqual({
      '/index.html': 'same',
      '/service-worker.js': 'same',
      '/assets/page-1.js': 'same',
    });
  });

  it('are told apart where one is another, is in no release, or could not be read', async () => {
    const { '/service-worker.js': _, ...app } = release.files.app;
    const other = { ...release, files: { ...release.files, app } };
    const served = { '/service-worker.js': 'worker', '/assets/page-1.js': 'script, and more' };
    expect(resultsOf(await check(served, { stated: other }))).toEqual({
      '/index.html': 'unreadable',
      '/service-worker.js': 'not-in-release',
      '/assets/page-1.js': 'different',
    });
  });

  it('are compared with the release that is held on to, while the relay has a newer one: no alarm', async () => {
    // The service worker gives the page in use; the script of another is the relay's.
    const served = { ...formerFiles, '/service-worker.js': 'worker' };
    const checked = await check(served, { loaded: formerPage, held: former, stated: newest, steps: chain });
    expect(checked).toMatchObject({
      release: { version: '1.3.0', seq: 2, isHeld: true },
      stated: { state: 'newer', version: '1.4.0' },
      isKept: true,
    });
    expect(resultsOf(checked)).toEqual({
      '/index.html': 'same',
      '/service-worker.js': 'stated',
      '/assets/page-0.js': 'same',
      '/assets/font-1.woff2': 'same',
    });
  });

  it('are no newer release’s where one is held on to: a page in use of that one is told of', async () => {
    const served = { ...formerFiles, '/index.html': 'page', '/service-worker.js': 'worker' };
    const checked = await check(served, { loaded: formerPage, held: former, stated: newest, steps: chain });
    expect(resultsOf(checked)).toMatchObject({ '/index.html': 'different', '/service-worker.js': 'stated' });
  });

  it('of a tab that is open across an upgrade are of the former release in the chain', async () => {
    const served = { ...formerFiles, ...files };
    const checked = await check(served, { loaded: formerPage, stated: newest, steps: chain });
    expect(checked).toMatchObject({
      release: { version: '1.3.0', isHeld: false },
      stated: { state: 'newer', version: '1.4.0' },
    });
    expect(resultsOf(checked)).toEqual({
      '/index.html': 'stated',
      '/service-worker.js': 'stated',
      '/assets/page-0.js': 'same',
      '/assets/font-1.woff2': 'same',
    });
  });

  it('of such a tab are named one by one where a byte is another', async () => {
    const served = { ...formerFiles, ...files, '/assets/page-0.js': 'former script!' };
    const checked = await check(served, { loaded: formerPage, stated: newest, steps: chain });
    // The font is in the former one alone.
    expect(checked.release?.version).toBe('1.3.0');
    expect(resultsOf(checked)).toMatchObject({
      '/assets/page-0.js': 'different',
      '/assets/font-1.woff2': 'same',
    });
  });

  it('are of no former release that the newest one doesn’t follow on', async () => {
    const another = { ...former, version: '1.2.9' };
    const steps = { ...chain, 'chain/2.json': canonicalText(another) };
    const checked = await check({ ...formerFiles, ...files }, { loaded: formerPage, stated: newest, steps });
    expect(checked.release?.version).toBe('1.4.0');
    expect(resultsOf(checked)).toMatchObject({ '/assets/page-0.js': 'not-in-release' });
  });

  it('are of the release that their service worker was built of, though none is held on to', async () => {
    const served = { ...formerFiles, '/service-worker.js': 'worker' };
    const checked = await check(served, { loaded: formerPage, held: null, stated: newest, steps: chain });
    expect(checked.release).toMatchObject({ version: '1.3.0', isHeld: false });
    expect(resultsOf(checked)).toMatchObject({ '/index.html': 'same' });
  });

  it.each<[string, Page, StatedNow]>([
    ['goes back to an older one', { held: newest, stated: former }, { state: 'other', version: '1.3.0' }],
    [
      'states another one in its place',
      { held: newest, stated: { ...newest, version: '1.4.1' } },
      { state: 'other', version: '1.4.1' },
    ],
    ['states none any more', { held: newest, stated: null }, { state: 'none' }],
    ['states none that can be read', { held: newest, stated: 'no JSON' }, { state: 'unreadable' }],
    ['states it', { held: newest, stated: newest }, { state: 'same' }],
  ])('are compared with the one that is held on to where the relay %s', async (_name, page, stated) => {
    const checked = await check(files, page);
    expect(checked).toMatchObject({ release: { version: '1.4.0', isHeld: true }, stated });
    expect(new Set(Object.values(resultsOf(checked)))).toEqual(new Set(['same']));
  });

  it('may be more than the browser has noted, which is said', async () => {
    const asked = Array.from({ length: notedAnswers - 4 }, (_, at) => `/api/messages/${at}`);
    expect((await check(files, { loaded: ['/assets/page-1.js', ...asked] })).isCut).toBe(true);
    expect((await check(files, { loaded: asked })).isCut).toBe(false);
  });

  it('have their hashes told where there is no release', async () => {
    const checked = await check(files, { stated: null });
    expect(checked).toMatchObject({ release: null, stated: { state: 'none' } });
    expect(checked.files).toContainEqual({ path: '/index.html', hash: hashOf('page'), result: 'unknown' });
  });

  it.each([
    'no JSON',
    { ...release, type: 'sinetti-release-keys' },
    { ...release, seq: 0 },
    { ...release, version: 'newest' },
    { ...release, files: { app: { '/index.html': 'short' }, keys: release.files.keys } },
    { ...release, files: { app: release.files.app } },
  ])('are compared with no release that cannot be read: %j', async (stated) => {
    expect(await check(files, { stated })).toMatchObject({ release: null, stated: { state: 'unreadable' } });
  });
});

describe('the vectors', () => {
  const selected = [
    { format: 'x25519', source: 'C2SP/wycheproof', cases: Array.from({ length: 6 }, (_, at) => ({ at })) },
    { format: 'welcome', source: 'mlswg/mls-implementations', cases: [{ at: 0 }] },
  ];

  it('are counted while they run, and name the case that failed', async () => {
    const seen: number[] = [];
    let time = 0;
    const run = await runVectors(
      {
        read: async () => selected,
        now: () => (time += 10),
        room: {
          runVectors: async (_format, cases) =>
            cases.map((vector) => ((vector as { at: number }).at === 4 ? 'shared' : null)),
        },
      },
      ({ groups }) => seen.push(groups.reduce((sum, { failed, passed }) => sum + passed + failed.length, 0)),
    );
    expect(seen).toEqual([0, 4, 6, 7]);
    expect(run.groups).toMatchObject([
      { format: 'x25519', total: 6, passed: 5, failed: [{ number: 5, field: 'shared' }] },
      { format: 'welcome', total: 1, passed: 1, failed: [] },
    ]);
    expect(run.elapsed).toBeGreaterThan(0);
  });
});
