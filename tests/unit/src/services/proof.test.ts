import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { checkFiles } from '#src/services/proof/files.ts';
import { runVectors } from '#src/services/proof/vectors.ts';
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

/** Checks a page that has loaded one script, an answer of the API and something of another origin. */
function check(served: Record<string, string>, stated: Json = release) {
  return checkFiles({
    origin,
    loaded: () => [
      `${origin}/assets/page-1.js`,
      `${origin}/api/users/me`,
      `${origin}/operator.json`,
      'https://keys.example.org/keys.html',
    ],
    fetch: async (input) => {
      if (input === '/.well-known/sinetti/release.json') {
        if (stated === null) return new Response('', { status: 404 });
        return new Response(typeof stated === 'string' ? stated : canonicalText(stated));
      }
      const text = typeof input === 'string' ? served[input] : undefined;
      return text === undefined ? new Response('', { status: 404 }) : new Response(text);
    },
  });
}

const resultsOf = ({ files: checked }: Awaited<ReturnType<typeof check>>) =>
  Object.fromEntries(checked.map(({ path, result }) => [path, result]));

describe('the files of the page', () => {
  it('are those of the release, byte for byte', async () => {
    const checked = await check(files);
    expect(checked.release).toEqual({ version: '1.4.0', seq: 3, keysFiles: 2 });
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
    expect(resultsOf(await check(served, other))).toEqual({
      '/index.html': 'unreadable',
      '/service-worker.js': 'not-in-release',
      '/assets/page-1.js': 'different',
    });
  });

  it('have their hashes told where there is no release', async () => {
    const checked = await check(files, null);
    expect(checked.release).toBe('none');
    expect(checked.files).toContainEqual({ path: '/index.html', hash: hashOf('page'), result: 'unknown' });
  });

  it.each(
    [
      'no JSON',
      { ...release, type: 'sinetti-release-keys' },
      { ...release, seq: 0 },
      { ...release, version: 'newest' },
      { ...release, files: { app: { '/index.html': 'short' }, keys: release.files.keys } },
      { ...release, files: { app: release.files.app } },
      null,
    ].filter((stated) => stated !== null),
  )('are compared with no release that cannot be read: %j', async (stated) => {
    expect((await check(files, stated)).release).toBe('unreadable');
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
