import { createHash } from 'node:crypto';
import { rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { paths } from '../../src/lib/paths.ts';
import type { Place, SignedStep } from '../src/chain/chain.ts';
import { chainOf } from '../src/chain/reading.ts';
import { compareRelay } from '../src/compare.ts';
import type { Answer } from '../src/fetching.ts';
import { compareFolder } from '../src/folder.ts';
import { describeOperator } from '../src/operator.ts';
import { originsOf, servedReleases } from '../src/relay.ts';
import {
  clientFiles,
  defaultOperator,
  holders,
  publish,
  signed,
  stated,
  told,
  writeBuilt,
} from './support/releases.ts';
import {
  another,
  app,
  changing,
  changingBody,
  data,
  differences,
  fetcher,
  first,
  folder,
  people,
  serveRelease,
  through,
  withRelay,
} from './support/tamperedRelay.ts';

serveRelease();

describe('a relay that serves its release', () => {
  it('differs in nothing, and neither does the folder', async () => {
    expect(told(await compareFolder(first.chain.release!, folder))).toEqual([]);
    expect(await differences()).toEqual([]);
  });
});

describe('is told of another page at an address of the app that is no file:', () => {
  it.each([...Object.values(paths), '/…'])('%s', async (address) => {
    const isThere = (at: string) => (address === '/…' ? /^\/[0-9a-f]{10}$/.test(at) : at === address);
    const rows = await through((answer, at) =>
      isThere(at) ? { ...answer, content: Buffer.from('<script src="/evil.js"></script>') } : answer,
    );
    expect(rows).toEqual([`app${address}: ${another}`]);
  });

  it.each(['/keys', '/storage'])('%s, which leads to the origin of the keys alone', async (address) => {
    const location = 'https://evil.example/keys';
    const leads = (change: (answer: Answer) => Answer) =>
      through((answer, at) => (at === address && answer.status === 302 ? change(answer) : answer));
    const difference = new RegExp(`^app${address}: it doesn't lead to http://localhost:\\d+${address}$`);
    const moved = await leads((answer) => ({ ...answer, headers: { ...answer.headers, location } }));
    expect(moved).toEqual([expect.stringMatching(difference)]);
    const page = await leads((answer) => ({
      ...answer,
      status: 200,
      content: Buffer.from('<h1>Password</h1>'),
    }));
    expect(page).toEqual([expect.stringMatching(difference)]);
  });
});

describe('is told of a relay, and of a folder:', () => {
  it('a page that is added where the release is stated', async () => {
    for (const name of ['sinetti/chain/1.json.html', 'x/evil.js', 'waict/manifests/evil.html'])
      await writeBuilt(folder, `app/.well-known/${name}`, 'evil()');
    const added = told(await compareFolder(first.chain.release!, folder));
    expect(added.filter((line) => line.endsWith(': it is added'))).toEqual([
      'app/.well-known/sinetti/chain/1.json.html: it is added',
      'app/.well-known/waict/manifests/evil.html: it is added',
      'app/.well-known/x/evil.js: it is added',
    ]);
  });

  it.each(Object.keys(clientFiles))('a byte changed in %s', async (name) => {
    const [origin = '', ...rest] = name.split('/');
    const file = `/${rest.join('/')}`;
    const content = clientFiles[name] ?? '';
    await writeBuilt(folder, name, `${content.slice(0, -1)}${content.endsWith('x') ? 'y' : 'x'}`);
    const inFolder = told(await compareFolder(first.chain.release!, folder));
    expect(inFolder).toContain(`${origin}${file}: ${another}`);
    expect(inFolder.every((line) => line.startsWith(`${origin}${file}:`))).toBe(true);
    const served = await differences();
    expect(served).toContain(`${origin}${file}: ${another}`);
    // The pages have other addresses, too.
    const isOther = (line: string) => !line.startsWith(`${origin}${file}:`);
    expect(
      served.filter(isOther).every((line) => /^(?:app\/[\w…-]*|keys\/\w+): its content/.test(line)),
    ).toBe(true);
  });

  it('a byte changed in a compressed copy alone, which browsers get', async () => {
    const script = path.join(folder, 'app/assets/index-B2x_4f.js.br');
    await writeFile(script, brotliCompressSync('page(1);'));
    expect(told(await compareFolder(first.chain.release!, folder))).toEqual([
      'app/assets/index-B2x_4f.js: its compressed copy is of another content',
    ]);
    expect(await differences()).toEqual([`app/assets/index-B2x_4f.js: ${another}`]);
  });

  it('a file that is removed', async () => {
    await rm(path.join(folder, 'app/favicon.svg'));
    await rm(path.join(folder, 'app/favicon.svg.br'));
    expect(told(await compareFolder(first.chain.release!, folder))).toEqual([
      'app/favicon.svg: it is missing',
    ]);
    expect(await differences()).toEqual(['app/favicon.svg: it is missing']);
  });

  it('two files that are swapped', async () => {
    const [one, other, kept] = [
      'app/assets/inter-latin-Dd44_e.woff2',
      'app/assets/chats-Ee55_f.webp',
      'kept',
    ].map((name) => path.join(folder, name)) as [string, string, string];
    await rename(one, kept);
    await rename(other, one);
    await rename(kept, other);
    expect((await differences()).toSorted()).toEqual([
      `app/assets/chats-Ee55_f.webp: ${another}`,
      `app/assets/inter-latin-Dd44_e.woff2: ${another}`,
    ]);
  });
});

describe('is told of a folder alone, since nothing asks for it:', () => {
  it.each(['app/assets/extra-Aa1.js', 'keys/extra.html', 'app/x.js.br', 'app/.hidden'])(
    '%s',
    async (name) => {
      await writeFile(path.join(folder, name), 'added');
      const [origin = '', ...rest] = name.split('/');
      expect(told(await compareFolder(first.chain.release!, folder))).toContain(
        `${origin}/${rest.join('/')}: it is added`,
      );
    },
  );
});

describe('no release comes into use', () => {
  /** Returns the code with which a relay's chain is refused by who has seen the first release. */
  const refused = (at: string, seen: Place = first.chain) =>
    chainOf(servedReleases(at, fetcher), first.root, seen).then(
      () => 'taken',
      ({ code }: { code: string }) => code,
    );
  const nextRelease = () => stated(folder, first.chain, { version: '1.0.1' });
  const published = async (step: SignedStep, newest: number) => {
    const chain = { ...first.chain, release: { ...first.chain.release!, seq: newest } };
    await publish(folder, { ...first, chain, steps: [...first.steps, step] });
  };

  it('that is signed by others', async () => {
    await published(signed(await nextRelease(), holders('anna', 'bertta', 'carl')), 3);
    expect(await withRelay({}, refused)).toBe('signature');
  });

  it('that is an old one beside a longer chain', async () => {
    await published(signed(await nextRelease(), people), 2);
    expect(await withRelay({}, refused)).toBe('chain');
  });

  it('that is older than one that was seen', async () => {
    expect(await refused(app)).toBe('taken');
    expect(await refused(app, { seq: 3, hash: first.root })).toBe('rollback');
    expect(await refused(app, { seq: 2, hash: first.root })).toBe('rollback');
  });

  it('where there is none', async () => {
    await rm(path.join(folder, 'app/.well-known'), { recursive: true });
    expect(await refused(app)).toBe('unsigned');
  });
});

describe('headers between a relay and a browser', () => {
  const script = 'app/assets/index-B2x_4f.js';
  const [, map = ''] =
    /<script type="importmap">(.*?)<\/script>/.exec(clientFiles['app/index.html'] ?? '') ?? [];
  const mapHash = `'sha256-${createHash('sha256').update(map).digest('base64')}'`;
  it.each([
    [
      'a word of a policy',
      'content-security-policy',
      (value: string) => value.replace("script-src 'self'", "script-src 'self' 'unsafe-inline'"),
      `content-security-policy is without "script-src 'self' ${mapHash}", with "script-src 'self' 'unsafe-inline' ${mapHash}"`,
    ],
    [
      'a second policy',
      'content-security-policy',
      (value: string) => `${value}, default-src *`,
      `content-security-policy is without "trusted-types sinetti-service-worker", with "trusted-types sinetti-service-worker, default-src *"`,
    ],
    [
      'another isolation',
      'cross-origin-opener-policy',
      () => 'unsafe-none',
      'cross-origin-opener-policy is unsafe-none',
    ],
    ['another caching', 'cache-control', () => 'no-store', 'cache-control is no-store'],
    ['another type', 'content-type', () => 'text/html', 'content-type is text/html'],
    [
      'a header that is added',
      'service-worker-allowed',
      () => '/',
      'service-worker-allowed is sent, which the release has not',
    ],
  ])('are told of: %s', async (_, name, edit, difference) => {
    const told = await changing((headers, at) =>
      `app${at}` === script ? { ...headers, [name]: edit(headers[name] ?? '') } : headers,
    );
    expect(told).toEqual([`${script}: ${difference}`]);
  });

  it.each([
    ['clear-site-data', '"storage"', '/api/version', 'clear-site-data is sent, which the release has not'],
    ['refresh', '0; url=https://evil.example/x', '/healthz', 'refresh is sent, which the release has not'],
    ['link', '</x.js>; rel=preload', '/keys', 'link is sent, which the release has not'],
    ['service-worker-allowed', '/', '/healthz', 'service-worker-allowed is sent, which the release has not'],
    ['set-cookie', 'id=1', '/assets/none-00000000.js', 'set-cookie is sent, which the release has not'],
    ['link', '</x.js>; rel=preload', '/signup', 'link is sent, which the release has not'],
    ['alt-svc', 'h3="evil.example:443"', '/terms', 'alt-svc leads elsewhere: h3="evil.example:443"'],
    [
      'alt-svc',
      'h3=":1"; ma=9',
      '/.well-known/sinetti/release.json',
      'alt-svc leads elsewhere: h3=":1"; ma=9',
    ],
  ])('are told of: %s %s at %s, which is no file', async (name, value, path, difference) => {
    const rows = await changing((headers, at) => (at === path ? { ...headers, [name]: value } : headers));
    expect(rows).toContain(`app${path}: ${difference}`);
  });

  it('are no difference where another protocol of the same server is named', async () => {
    const own = new URL(app).port;
    const rows = await changing((headers, at) =>
      at === '/terms' ? { ...headers, 'alt-svc': `h3=":${own}"; ma=2592000, h2=":${own}"` } : headers,
    );
    expect(rows).toEqual([]);
  });

  it('are told of: early hints', async () => {
    const early = ['103 with link'];
    const rows = await through((answer, at) => (at === script.slice(3) ? { ...answer, early } : answer));
    expect(rows).toEqual([`${script}: it is preceded by 103 with link`]);
  });

  it('are told of: one that is left out', async () => {
    const told = await changing((headers, at) => {
      const { 'permissions-policy': _, ...others } = headers;
      return at === '/' ? others : headers;
    });
    expect(told).toEqual(['app/: permissions-policy is not sent']);
  });
});

describe('what an operator sets', () => {
  const own = { ...defaultOperator, productName: 'Letter "box" $&' };

  it('is no difference: neither the names, nor addresses that its policies and its settings agree on', async () => {
    const file = path.join(data, 'operator.json');
    const { apiHost: _a, mqttUrl: _m, ...facts } = own;
    await writeFile(file, JSON.stringify(facts));
    const environment = {
      OPERATOR_FILE: file,
      VITE_API_HOST: 'https://api.example.org',
      VITE_MQTT_URL: 'wss://mqtt.example.org:8443/mqtt',
    };
    const [rows, operator] = await withRelay(environment, async (url) => {
      const { operator: told } = await compareRelay(
        first.chain.release!,
        await originsOf(url, fetcher),
        fetcher,
      );
      return [await differences(url), told] as const;
    });
    expect(rows).toEqual([]);
    const { VITE_API_HOST: apiHost, VITE_MQTT_URL: mqttUrl } = environment;
    expect(operator).toEqual({ ...own, apiHost, mqttUrl });
    expect(describeOperator(operator!)).toContain('  calls go to   https://api.example.org');
  });

  const policy = 'app/: content-security-policy is';
  const toWorkers = 'app/operator.js: it gives the service worker other headers, addresses or settings';
  it.each([
    [
      'another member',
      (settings: object) => JSON.stringify({ ...settings, script: '/evil.js' }),
      ['app/operator.json: /operator.json has a member that is not known: script', toWorkers],
    ],
    [
      'an address that no policy has',
      (settings: object) => JSON.stringify({ ...settings, apiHost: 'https://evil.example' }),
      [toWorkers, `${policy} without "connect-src 'self' https://evil.example", with "connect-src 'self'"`],
    ],
    [
      'a name twice',
      (settings: object) => JSON.stringify(settings).replace('{', '{"productName":"Bank",'),
      ['app/operator.json: /operator.json is not written as JSON.stringify writes it'],
    ],
    [
      'another name than the manifest and the service worker have',
      (settings: object) => JSON.stringify({ ...settings, productName: 'Bank' }),
      [toWorkers, `app/manifest.webmanifest: ${another}`],
    ],
  ])('is told of, where it is %s', async (_, edit, expected) => {
    const rows = await changingBody('/operator.json', (text) => edit(JSON.parse(text) as object));
    expect(rows).toEqual(expect.arrayContaining(expected));
  });

  it('is told of, where it changes more of the manifest than the name', async () => {
    const added = (text: string) => text.replace('{', '{ "start_url": "https://evil.example/",');
    expect(await changingBody('/manifest.webmanifest', added)).toEqual([
      `app/manifest.webmanifest: ${another}`,
    ]);
  });

  it('is told of, where only the service worker is given other addresses', async () => {
    const rows = await changingBody('/operator.js', (text) =>
      text.replace("connect-src 'self'", 'connect-src *'),
    );
    expect(rows).toEqual([toWorkers, toWorkers.replace('app', 'keys')]);
  });
});
