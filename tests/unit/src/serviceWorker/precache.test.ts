import { createHash } from 'node:crypto';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { isPageOfApp } from '#src/serviceWorker/navigations.ts';
import { type BuildFile, Precache } from '#src/serviceWorker/precache.ts';
import { MemoryCaches } from '#tests/support/memoryCaches.ts';

const origin = 'https://sinetti.example';

const contents: Record<string, string> = {
  '/index.html': '<!doctype html>',
  '/assets/index-1.js': 'page();',
  '/assets/crypto.worker-1.js': 'worker();',
  '/assets/inter-greek.woff2': 'letters',
};

let caches: MemoryCaches;
let served: Map<string, string>;
let asked: string[];
let refused: string[];
let offline: boolean;
let pinned: boolean;

const fetchFile = vi.fn<typeof globalThis.fetch>();

beforeEach(() => {
  caches = new MemoryCaches();
  served = new Map(Object.entries(contents));
  asked = [];
  refused = [];
  offline = false;
  pinned = false;
  fetchFile.mockReset().mockImplementation(async (input, init) => {
    const path = typeof input === 'string' ? input : new URL((input as Request).url).pathname;
    asked.push(`${path} ${init?.cache ?? 'as it is'}`);
    if (offline) throw new TypeError('Failed to fetch');
    const content = served.get(path);
    if (content === undefined) return new Response('gone', { status: 404 });
    return new Response(content, {
      headers: {
        'content-security-policy': `of ${path}`,
        'content-encoding': 'br',
        'content-length': '3',
        vary: 'Accept-Encoding',
      },
    });
  });
});

function version(
  name: string,
  files = contents,
  page: Partial<ConstructorParameters<typeof Precache>[0]['page']> = {},
  policy: string | null = null,
): Precache {
  return new Precache({
    build: {
      version: name,
      files: Object.entries(files).map(
        ([path, content]): BuildFile => ({
          path,
          sha256: createHash('sha256').update(content).digest('hex'),
          atInstall: !path.endsWith('.woff2'),
        }),
      ),
    },
    page: { file: '/index.html', answers: isPageOfApp, ...page },
    headersOf: (path) => ({ 'content-security-policy': policy ?? `for ${path}` }),
    origin,
    caches: caches,
    fetch: fetchFile,
    digest: (content) => crypto.subtle.digest('SHA-256', content),
    onRefused: (path) => refused.push(path),
    isPinned: async () => pinned,
  });
}

const asset = (path: string, init: RequestInit = {}) => new Request(`${origin}${path}`, init);

/** A navigation can't be constructed, only met. */
function navigation(path: string): Request {
  return { method: 'GET', mode: 'navigate', url: `${origin}${path}` } as Request;
}

async function textOf(answer: Promise<Response> | null): Promise<string> {
  if (answer === null) throw new Error('left to the network');
  return (await answer).text();
}

describe('installing a version of the app', () => {
  it('stores the built files with headers of its own, and nothing of those that they came with', async () => {
    await version('one').install();
    expect([...(caches.stored.get('sinetti-one')?.keys() ?? [])].toSorted()).toEqual([
      '/assets/crypto.worker-1.js',
      '/assets/index-1.js',
      '/index.html',
    ]);
    for (const [path, kept] of caches.stored.get('sinetti-one') ?? []) {
      const ours = ['content-security-policy', 'content-type'];
      expect([...kept.headers.keys()].toSorted()).toEqual(
        path === '/index.html' ? ours : ['cache-control', ...ours],
      );
      expect(kept.headers.get('content-security-policy')).toBe(`for ${path}`);
    }
  });

  it('refuses a file whose hash differs from the build, reports it, and stores nothing of it', async () => {
    served.set('/assets/index-1.js', 'page(); steal();');
    await expect(version('one').install()).rejects.toMatchObject({
      code: 'mismatch',
      path: '/assets/index-1.js',
    });
    expect(refused).toEqual(['/assets/index-1.js']);
    expect(caches.stored.get('sinetti-one')?.has('/assets/index-1.js')).toBe(false);
  });

  it.each(['module', 'importmap'])(
    'keeps no page whose inline %s isn’t admitted by the settings that came with it, but by another version’s',
    async (type) => {
      const script = type === 'module' ? 'page();' : '{"integrity":{}}';
      const page = `<!doctype html><script type="${type}">${script}</script>`;
      served.set('/index.html', page);
      const hashOf = (text: string) => createHash('sha256').update(text).digest('base64');
      const files = { ...contents, '/index.html': page };
      const under = (text: string) => version('one', files, {}, `script-src 'sha256-${hashOf(text)}'`);
      await expect(under(`${script} `).install()).rejects.toMatchObject({
        code: 'mismatch',
        path: '/index.html',
      });
      expect(caches.stored.get('sinetti-one')?.has('/index.html')).toBe(false);
      await under(script).install();
      expect(await textOf(under(script).answer(navigation('/login')))).toBe(page);
    },
  );

  it("asks the relay itself when the browser's own cache has another content", async () => {
    fetchFile.mockImplementationOnce(async () => new Response('of the build before'));
    await version('one', { '/index.html': '<!doctype html>' }).install();
    expect(asked).toEqual(['/index.html reload']);
    expect(refused).toEqual([]);
  });

  it('fails when a file is missing, and resumes the next time', async () => {
    served.delete('/index.html');
    await expect(version('one').install()).rejects.toMatchObject({ code: 'unavailable' });
    // The file that was being fetched beside it is still kept.
    await vi.waitFor(() => expect(caches.stored.get('sinetti-one')?.size).toBe(2), { timeout: 60_000 });
    served.set('/index.html', '<!doctype html>');
    asked = [];
    await version('one').install();
    expect(asked).toEqual(['/index.html default']);
  });

  it('sends no credentials, and follows no redirect', async () => {
    await version('one').install();
    for (const [, init] of fetchFile.mock.calls) {
      expect(init).toMatchObject({ credentials: 'omit', redirect: 'error' });
    }
  });
});

describe('a version in use', () => {
  let precache: Precache;
  beforeEach(async () => {
    precache = version('one');
    await precache.install();
    offline = true;
    asked = [];
  });

  it.each(['/', '/dashboard', '/login', '/dashboard/anything?x=1', '/index.html', '/apiary'])(
    'answers the page at %s without the network',
    async (path) => {
      expect(await textOf(precache.answer(navigation(path)))).toBe('<!doctype html>');
      expect(asked).toEqual([]);
    },
  );

  it('serves its files, whatever the query string, and that of the page as it was built', async () => {
    precache = version('one', contents, { filled: () => 'filled' });
    expect(await textOf(precache.answer(navigation('/prove')))).toBe('filled');
    expect(await textOf(precache.answer(asset('/index.html')))).toBe('<!doctype html>');
    expect(await textOf(precache.answer(asset('/assets/crypto.worker-1.js?x')))).toBe('worker();');
  });

  it.each([
    ['the API', asset('/api/profile')],
    ['a page of the relay', navigation('/api/docs')],
    ['its health', navigation('/healthz')],
    ['its metrics', navigation('/metrics')],
    ['something that was not built', asset('/assets/other-2.js')],
    ['what is no GET', asset('/assets/index-1.js', { method: 'POST' })],
    ['another origin', new Request('https://elsewhere.example/assets/index-1.js')],
    ['its own script', asset('/service-worker.js')],
  ])('leaves to the network: %s', (_name, request) => {
    expect(precache.answer(request)).toBeNull();
    expect(caches.stored.size).toBe(1);
  });

  it.each([
    ['/', 'text/html; charset=utf-8', {}],
    [
      '/assets/index-1.js',
      'text/javascript; charset=utf-8',
      { 'cache-control': 'public, max-age=31536000, immutable' },
    ],
  ])('sets the headers of %s itself', async (path, type, caching) => {
    const answer = await precache.answer(path === '/' ? navigation(path) : asset(path));
    const file = path === '/' ? '/index.html' : path;
    expect(Object.fromEntries(answer?.headers ?? [])).toEqual({
      ...caching,
      'content-security-policy': `for ${file}`,
      'content-type': type,
    });
  });

  it.each(['/index.html', '/assets/index-1.js'])(
    'puts the built file back in the place of what a script has written into the cache: %s',
    async (path) => {
      const written = new Response('steal();', { headers: { 'content-security-policy': '*' } });
      caches.stored.get('sinetti-one')?.set(path, written);
      offline = false;
      const request = path === '/index.html' ? navigation('/') : asset(path);
      const answer = await precache.answer(request);
      expect(await answer?.text()).toBe(contents[path]);
      expect(answer?.headers.get('content-security-policy')).toBe(`for ${path}`);
      expect(asked).toEqual([`${path} default`]);
      offline = true;
      expect(await textOf(precache.answer(request))).toBe(contents[path]);
    },
  );

  it.each([
    ['another policy', { 'content-security-policy': '*', 'content-type': 'text/html; charset=utf-8' }],
    ['no policy', { 'content-type': 'text/html; charset=utf-8' }],
    ['another type', { 'content-security-policy': 'for /index.html', 'content-type': 'text/plain' }],
    [
      'a header more',
      {
        'content-security-policy': 'for /index.html',
        'content-type': 'text/html; charset=utf-8',
        'document-policy': 'x',
      },
    ],
  ])(
    'gives the built page its own headers where a script has written it with %s',
    async (_title, headers) => {
      const page = contents['/index.html'];
      caches.stored.get('sinetti-one')?.set('/index.html', new Response(page, { headers }));
      offline = false;
      const answer = await precache.answer(navigation('/'));
      expect(Object.fromEntries(answer?.headers ?? [])).toEqual({
        'content-security-policy': 'for /index.html',
        'content-type': 'text/html; charset=utf-8',
      });
    },
  );

  it('answers nothing offline in the place of what a script has written into the cache', async () => {
    caches.stored.get('sinetti-one')?.set('/assets/index-1.js', new Response('steal();'));
    const answer = await precache.answer(asset('/assets/index-1.js'));
    expect(answer?.type).toBe('error');
  });

  it('fetches a rarely needed file on its first request, and keeps it', async () => {
    offline = false;
    expect(await textOf(precache.answer(asset('/assets/inter-greek.woff2')))).toBe('letters');
    offline = true;
    expect(await textOf(precache.answer(asset('/assets/inter-greek.woff2')))).toBe('letters');
    expect(asked).toEqual(['/assets/inter-greek.woff2 default']);
  });

  it.each(['open', 'match', 'put'])(
    'gives what the relay has, compared, where the storage of the browser fails: %s',
    async (call) => {
      offline = false;
      const used = version('one');
      const path = call === 'put' ? '/assets/inter-greek.woff2' : '/assets/index-1.js';
      const failing = async () => {
        throw new DOMException('The storage is full.', 'QuotaExceededError');
      };
      const open = caches.open.bind(caches);
      vi.spyOn(caches, 'open').mockImplementation(async (name) =>
        call === 'open' ? failing() : Object.assign(await open(name), { [call]: failing }),
      );
      expect(await textOf(used.answer(asset(path)))).toBe(contents[path]);
      const installed = version('two').install();
      const outcome = await installed.then(() => 'installed', String);
      expect(outcome).toContain(call === 'match' ? 'installed' : 'The storage is full.');
      served.set(path, 'steal();');
      expect((await used.answer(asset(path)))?.type).toBe('error');
    },
  );

  it('answers an error in place of a file whose hash differs from the build', async () => {
    offline = false;
    served.set('/assets/inter-greek.woff2', 'other letters');
    const answer = await precache.answer(asset('/assets/inter-greek.woff2'));
    expect(answer?.type).toBe('error');
    expect(refused).toEqual(['/assets/inter-greek.woff2']);
  });

  it('puts into the page what the operator decides, once it is known to be as it was built', async () => {
    const filled = vi.fn<(page: string) => string>((page) => `${page} of the operator`);
    const filling = version('one', contents, { filled });
    const answer = filling.answer(navigation('/dashboard'));
    expect(await textOf(answer)).toBe(`${contents['/index.html']} of the operator`);
    expect((await answer)?.headers.get('content-security-policy')).toBe('for /index.html');
    expect(await textOf(filling.answer(navigation('/dashboard')))).toBe(
      `${contents['/index.html']} of the operator`,
    );
    expect(filled.mock.calls).toEqual([[contents['/index.html']], [contents['/index.html']]]);
  });

  describe('whose page begins with a file', () => {
    const path = '/assets/crypto.worker-1.js';
    const beginning = () => version('one', contents, { beginsWith: (file) => file === path });
    const ahead = async (looking: Precache) => {
      await textOf(looking.answer(navigation('/')));
      // It is in the cache once it has been checked.
      await vi.waitFor(() => expect(caches.stored.get('sinetti-one')?.has(path)).toBe(true), {
        timeout: 60_000,
      });
    };

    it('has that file at hand when it is asked for, once for each page', async () => {
      offline = false;
      caches.stored.get('sinetti-one')?.delete(path);
      const looking = beginning();
      await ahead(looking);
      offline = true;
      caches.stored.clear();
      expect(await textOf(looking.answer(asset(path)))).toBe('worker();');
      expect((await looking.answer(asset(path)))?.type).toBe('error');
    });

    it('checks it ahead as it does all: of another content it gives an error, and asks again after it', async () => {
      offline = false;
      caches.stored.get('sinetti-one')?.set(path, new Response('steal();'));
      served.set(path, 'worker(); steal();');
      const looking = beginning();
      await textOf(looking.answer(navigation('/')));
      expect((await looking.answer(asset(path)))?.type).toBe('error');
      expect(refused).toEqual([path]);
      served.set(path, 'worker();');
      expect(await textOf(looking.answer(asset(path)))).toBe('worker();');
    });
  });

  it('lets the network serve a page that the browser has evicted, even a newer one', async () => {
    caches.stored.clear();
    offline = false;
    served.set('/index.html', 'a newer page');
    fetchFile.mockImplementation(async (input) =>
      typeof input === 'string' ? new Response('a newer page') : new Response('the page as it is now'),
    );
    expect(await textOf(precache.answer(navigation('/dashboard')))).toBe('the page as it is now');
    expect(caches.stored.get('sinetti-one')?.has('/index.html')).toBe(false);
  });
});

describe('a release that is held on to', () => {
  it('has the network serve no page in the place of one that is gone', async () => {
    const precache = version('one');
    await precache.install();
    caches.stored.clear();
    served.set('/index.html', 'another page');
    pinned = true;
    const answer = await precache.answer(navigation('/dashboard'));
    expect(answer?.status).toBe(503);
    expect(await answer?.text()).toContain('the server has another version');
    served.delete('/index.html');
    // Nobody has said that there is another one.
    const away = await precache.answer(navigation('/dashboard'));
    expect(away?.status).toBe(503);
    expect(await away?.text()).toContain('Try again later');
    served.set('/index.html', contents['/index.html'] ?? '');
    expect(await textOf(precache.answer(navigation('/dashboard')))).toBe(contents['/index.html']);
  });
});

describe('a new version of the app', () => {
  it('is stored beside the one in use, and removes that when it takes over', async () => {
    await version('one').install();
    await caches.open('of something else');
    served.set('/index.html', 'new');
    const two = version('two', { ...contents, '/index.html': 'new' });
    await two.install();
    expect(await textOf(version('one').answer(navigation('/')))).toBe('<!doctype html>');
    await two.activate();
    expect(await caches.keys()).toEqual(['of something else', 'sinetti-two']);
    expect(await textOf(two.answer(navigation('/')))).toBe('new');
  });
});
