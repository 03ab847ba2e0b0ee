/** Policies and headers of what a browser takes as it comes, where it holds on to a release. */
import { describe, expect, it } from 'vitest';
import { commands, headersAt } from '../../verify/src/chain/expected.ts';
import type { Origin } from '../../verify/src/chain/statement.ts';
import {
  bases,
  browser,
  first,
  grown,
  inUse,
  lay,
  nextApp,
  nextRoom,
  servePinned,
  way,
} from './support/pinnedRelay.ts';

servePinned();

/** Has an answer come with another header; null for one that is left out. */
const changingHeader = (file: string, name: string, edit: (value: string) => string | null) => {
  way.change = async (answer, at) => {
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
  /** The headers that the release has for a path, but for those that others on the way may add to. */
  const released = (origin: Origin, path: string): [string, string][] => {
    const { vary: _, 'cache-control': __, ...headers } = headersAt(first.chain.release!, origin, path, bases);
    return Object.entries(headers);
  };
  const oneWord = (value: string) => value.replace(/[\w-]+(?=\W*$)/, 'other');
  const cases = [
    ['app', '/index.html'],
    ['app', '/service-worker.js'],
    ['keys', '/keys.html'],
    ['keys', '/service-worker.js'],
  ] as const;

  it('the release has those of the page, of scripts, and of the room', () => {
    const named = Object.fromEntries(
      cases.map(([origin, file]) => [`${origin}${file}`, released(origin, file).map(([name]) => name)]),
    );
    const all = ['content-security-policy', 'referrer-policy', 'x-content-type-options'];
    for (const names of Object.values(named)) expect(names).toEqual(expect.arrayContaining(all));
    const documents = ['cross-origin-opener-policy', 'integrity-policy', 'permissions-policy'];
    expect(named['app/index.html']).toEqual(expect.arrayContaining(documents));
  });

  it.each(cases)(
    'of %s%s, each one: told of in a sentence, and no release with it is installed',
    async (origin, file) => {
      const files = { ...nextApp, ...nextRoom };
      const current = origin === 'app' ? inUse : await browser.version({}, 'keys');
      expect(await current.install()).toBe('installed');
      const names = released(origin, file).map(([name]) => name);
      const changed = names.flatMap((name) => [
        [name, oneWord] as const,
        [name, () => null] as const,
        [name, (value: string) => `${value}, more`] as const,
      ]);
      const added = commands.map((name) => [name, () => 'more'] as const);
      for (const [name, edit] of [...changed, ...added]) {
        changingHeader(`${origin}${file}`, name, edit);
        const reason = `${bases[origin]}${file} has another ${name}.`;
        expect(await current.releases.verdict()).toEqual({
          state: 'refused',
          code: 'different',
          isKnownScript: true,
          reason,
        });
      }
      way.change = (answer) => answer;
      expect(await current.releases.verdict()).toMatchObject({ state: 'current' });
      await lay(await grown(files), files);
      const next = await browser.version(files, origin);
      for (const name of [...names, ...commands]) {
        changingHeader(`${origin}${file}`, name, (value) => (value === '' ? 'more' : null));
        expect([name, await next.install()]).toEqual([name, 'different']);
      }
      way.change = (answer) => answer;
      expect(await next.install()).toBe('agreement');
      expect(await inUse.script()).toBe('page();');
    },
  );

  it.each([
    ['a word of the policy', looser],
    ['no integrity policy', (text: string) => text.replace('blocked-destinations=(script)', '')],
    ['a feature that is allowed', (text: string) => text.replace('geolocation=()', 'geolocation=*')],
    [
      'a header that is added',
      (text: string) => text.replace('"headers":{"app":{"page":{', '$&"x-more":"1",'),
    ],
  ])('in the settings of the service worker, %s', async (_, edit) => {
    await lay(await grown(nextApp), nextApp);
    way.change = async (answer, at) =>
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
