import { createHash } from 'node:crypto';
import { mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startTestRelay, type TestRelay } from '../../relay/test/helpers.ts';
import { paths } from '../../src/lib/paths.ts';
import type { Place, SignedStep } from '../src/chain/chain.ts';
import { chainOf } from '../src/chain/reading.ts';
import { compareRelay } from '../src/compare.ts';
import { type Answer, createFetcher, type Fetcher } from '../src/fetching.ts';
import { compareFolder } from '../src/folder.ts';
import { waictManifest } from '../src/manifests.ts';
import { describeOperator } from '../src/operator.ts';
import { originsOf, servedReleases } from '../src/relay.ts';
import {
  clientFiles,
  defaultOperator,
  firstRelease,
  holders,
  publish,
  type SignedChain,
  signed,
  stated,
  told,
  writeBuilt,
  writeClient,
} from './support/releases.ts';

const people = holders('anna', 'bertta', 'carl');
let data: string;
let folder: string;
let first: SignedChain;
let relay: TestRelay;
let app: string;
let fetcher: Fetcher;

/** Writes the client and its chain into the folder that the relay serves, as it was before a test changed it. */
async function restore(): Promise<void> {
  for (const part of ['app', 'keys']) await rm(path.join(folder, part), { recursive: true, force: true });
  await writeClient(folder);
  await publish(folder, first);
}

beforeAll(async () => {
  data = await mkdtemp(path.join(tmpdir(), 'sinetti-tampering-'));
  folder = path.join(data, 'built');
  await writeClient(folder);
  first = await firstRelease(folder, people);
  await publish(folder, first);
  relay = await startTestRelay({
    environment: { WEB_DIR: folder },
    dataDir: path.join(data, 'relay'),
  });
  app = relay.url.replace('127.0.0.1', 'localhost');
  // The relay serves a copy, whose files are read as they are asked for.
  const copies = path.join(data, 'relay/web');
  folder = path.join(copies, (await readdir(copies))[0] ?? '');
});
beforeEach(async () => {
  fetcher = createFetcher();
  await restore();
});
afterEach(() => fetcher.close());
afterAll(async () => {
  await relay.close();
  await rm(data, { recursive: true });
});

/** Compares what a relay serves now, as `sinetti verify` does. */
async function differences(at = app): Promise<string[]> {
  const origins = await originsOf(at, fetcher);
  const chain = await chainOf(servedReleases(at, fetcher), first.root, null);
  return told((await compareRelay(chain.release!, origins, fetcher)).rows);
}

/** Starts another relay, on what lies in the folder now. */
async function withRelay<T>(
  environment: Record<string, string>,
  ask: (url: string) => Promise<T>,
): Promise<T> {
  const other = await startTestRelay({ environment: { WEB_DIR: folder, ...environment } });
  try {
    return await ask(other.url.replace('127.0.0.1', 'localhost'));
  } finally {
    await other.close();
  }
}

const another = 'its content is another one';

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

/** Compares what comes through somebody who changes answers. */
async function through(change: (answer: Answer, path: string) => Answer): Promise<string[]> {
  const origins = await originsOf(app, fetcher);
  const changed: Fetcher = {
    ...fetcher,
    get: async (url, ...rest) => change(await fetcher.get(url, ...rest), new URL(url).pathname),
  };
  return told((await compareRelay(first.chain.release!, origins, changed)).rows);
}
const changing = (change: (headers: Record<string, string>, path: string) => Record<string, string>) =>
  through((answer, at) => ({ ...answer, headers: change(answer.headers, at) }));
const changingBody = (path: string, change: (text: string) => string) =>
  through((answer, at) =>
    at === path
      ? { ...answer, content: Buffer.from(change(Buffer.from(answer.content).toString('utf8'))) }
      : answer,
  );

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
    [
      'an integrity policy for nothing',
      'integrity-policy',
      () => 'blocked-destinations=()',
      'integrity-policy is blocked-destinations=()',
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

  it.each([
    ['/', 'app', 'permissions-policy'],
    ['/login', 'app', 'integrity-policy'],
    ['/storage.html', 'keys', 'integrity-policy'],
    ['/login', 'app', 'integrity-policy-waict-v1'],
    ['/storage.html', 'keys', 'integrity-policy-waict-v1'],
  ])('are told of: one that is left out at %s of the origin of the %s, %s', async (address, origin, name) => {
    const told = await changing((headers, at) => {
      const { [name]: _, ...others } = headers;
      return at === address ? others : headers;
    });
    expect(told).toEqual([`${origin}${address}: ${name} is not sent`]);
  });

  it('are told of: an integrity policy that a service worker would import nothing under', async () => {
    const name = 'integrity-policy';
    const told = await changing((headers, at) =>
      at === '/service-worker.js' ? { ...headers, [name]: 'blocked-destinations=(script)' } : headers,
    );
    const difference = `/service-worker.js: ${name} is sent, which the release has not`;
    expect(told).toEqual([`app${difference}`, `keys${difference}`]);
  });

  it.each([
    ['another manifest for WAICT', /^max-age=0, mode=report, manifest="(.*)"$/],
    ['a WAICT that blocks', /report/],
  ])('are told of: %s', async (_, replaced) => {
    const name = 'integrity-policy-waict-v1';
    const value = (headers: Record<string, string>) => (headers[name] ?? '').replace(replaced, 'enforce');
    const told = await changing((headers, at) =>
      at === '/login' ? { ...headers, [name]: value(headers) } : headers,
    );
    expect(told).toEqual([expect.stringMatching(/^app\/login: integrity-policy-waict-v1 is .*enforce/)]);
  });

  it('are told of: a manifest for WAICT of another content, and one of another type', async () => {
    const { address } = waictManifest(first.chain.release!, 'keys');
    expect(await changingBody(address, (text) => text.replace('{', '{ '))).toEqual([
      `keys${address}: ${another}`,
    ]);
    const type = 'application/json';
    const told = await changing((headers, at) =>
      at === address ? { ...headers, 'content-type': type } : headers,
    );
    expect(told).toEqual([`keys${address}: content-type is ${type}`]);
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
