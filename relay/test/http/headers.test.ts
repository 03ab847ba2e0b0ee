import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestRelay, type TestRelay, temporaryFolder, writeWebClient } from '../helpers.ts';

const page = await readFile(path.resolve(import.meta.dirname, '../../HEADERS.md'), 'utf8');

/** The rows of the table in a section of the page: its first two columns. */
function tableOf(section: string): [string, string][] {
  const text = page.split(/^## /m).find((part) => part.startsWith(`${section}\n`)) ?? '';
  const rows = [...text.matchAll(/^\| `([^|]+)` \| `([^|]+)` \| ([^|]+) \|$/gm)];
  if (rows.length === 0) throw new Error(`no table under ${section}`);
  return rows.map(([, name = '', value = '']) => [name, value]);
}
const policyOf = (section: string) =>
  tableOf(section)
    .map(([directive, value]) => `${directive} ${value}`)
    .join('; ');

const manifests = '/.well-known/waict/manifests';
let webDir: string;
let relay: TestRelay;
beforeAll(async () => {
  webDir = await temporaryFolder();
  await writeWebClient(webDir);
  for (const part of ['app', 'keys']) {
    await mkdir(path.join(webDir, part, manifests), { recursive: true });
    await writeFile(path.join(webDir, part, manifests, 'Aa1-b_2'.padEnd(22, 'x')), `${part}\n\n`);
  }
  relay = await startTestRelay({
    environment: { WEB_DIR: webDir, TRUST_PROXY: 'true', KEYS_ORIGIN: 'https://keys.chat.example.org' },
  });
});
afterAll(async () => {
  await relay.close();
  await rm(webDir, { recursive: true });
});

async function headersAt(address: string, sent: Record<string, string> = {}) {
  const listener = address.startsWith(keys) ? relay.keysUrl : relay.url;
  const response = await fetch(`${listener}${address.replace(keys, '')}`, {
    headers: { accept: 'text/html', ...sent },
    redirect: 'manual',
  });
  return Object.fromEntries(response.headers);
}

/** Before an address at the listener of the keys. */
const keys = 'keys:';
const keysAddresses = [
  'keys:/keys',
  'keys:/storage',
  'keys:/assets/keys-B2x_4f.css',
  'keys:/assets/crypto.worker-Aa1-b_2.js',
  'keys:/service-worker.js',
  'keys:/operator.js',
  'keys:/gone',
];
const addresses = [
  '/',
  '/login',
  '/assets/index-B2x_4f.js',
  '/service-worker.js',
  '/operator.js',
  '/operator.json',
  '/api/profile',
  '/api/docs',
  '/healthz',
  '/gone.js',
];

/**
 * Headers that every HTTP server sends, or that say how to read an answer rather than what may be done with
 * it.
 */
const ordinary = new Set(
  'accept-ranges allow connection content-encoding content-length content-type date etag keep-alive last-modified vary www-authenticate'.split(
    ' ',
  ),
);

/** The headers of an answer that are neither policy nor caching, as the page writes them. */
function othersOf(sent: Record<string, string>) {
  const isOther = (name: string) =>
    !ordinary.has(name) && name !== 'content-security-policy' && name !== 'cache-control';
  const others = Object.entries(sent).filter(([name]) => isOther(name));
  return Object.fromEntries(
    others.map(([name, value]) => [name, value.replace(/(?<=\/manifests\/)[\w-]{22}/, '…')]),
  );
}

const ofDocuments = new Set([
  '/',
  '/login',
  '/assets/index-B2x_4f.js',
  '/operator.js',
  '/operator.json',
  '/gone.js',
  'keys:/keys',
  'keys:/storage',
  'keys:/assets/keys-B2x_4f.css',
  'keys:/operator.js',
  'keys:/gone',
]);
const tablesAt = (address: string) =>
  ofDocuments.has(address) ? ['With documents', 'With documents of a release'].flatMap(tableOf) : [];

describe('the page of headers', () => {
  it.each(addresses)('lists what is sent at %s, all of it and nothing else', async (address) => {
    const sent = await headersAt(address);
    const expected = [...tableOf('Every answer'), ...tablesAt(address)];
    expect(othersOf(sent)).toEqual(Object.fromEntries(expected));
    expect(sent['content-security-policy']).toBeDefined();
    expect(sent['cache-control']).toBeDefined();
  });

  it.each(keysAddresses)('lists what is sent at %s of the origin of the keys', async (address) => {
    const sent = await headersAt(address);
    const expected = [
      ...tableOf('Every answer'),
      ...tableOf('At the origin of the keys'),
      ...tablesAt(address),
    ];
    expect(othersOf(sent)).toEqual(Object.fromEntries(expected));
    expect(sent['content-security-policy']).toBeDefined();
    expect(sent['cache-control']).toBeDefined();
  });

  it('names the manifest of each origin, which is served by the media type of WAICT', async () => {
    for (const [address, content] of [
      ['/', 'app'],
      ['keys:/keys', 'keys'],
    ] as const) {
      const [, named = ''] =
        /manifest="(.*)"$/.exec((await headersAt(address))['integrity-policy-waict-v1'] ?? '') ?? [];
      const answer = await fetch(`${content === 'app' ? relay.url : relay.keysUrl}${named}`);
      expect([answer.status, await answer.text()]).toEqual([200, `${content}\n\n`]);
      expect(answer.headers.get('content-type')).toBe('application/waict-integrity-manifest');
      expect(answer.headers.get('cache-control')).toBe(new Map(tableOf('Caching')).get('/assets/'));
    }
  });

  it('has no manifest to name for a client of no release', async () => {
    const built = await temporaryFolder();
    await writeWebClient(built);
    const unreleased = await startTestRelay({ environment: { WEB_DIR: built } });
    for (const url of [unreleased.url, `${unreleased.keysUrl}/keys`]) {
      const { headers } = await fetch(url, { headers: { accept: 'text/html' } });
      expect(headers.get('integrity-policy')).toBe('blocked-destinations=(script)');
      expect(headers.get('integrity-policy-waict-v1')).toBeNull();
    }
    await unreleased.close();
    await rm(built, { recursive: true });
  });

  it('lists what is added behind TLS', async () => {
    for (const address of [...addresses, ...keysAddresses]) {
      const plain = await headersAt(address);
      const secure = await headersAt(address, { 'x-forwarded-proto': 'https' });
      const added = Object.entries(secure).filter(([name]) => !(name in plain));
      expect(added).toEqual(tableOf('Behind TLS'));
    }
  });

  it('does not hold behind TLS for visitors who only claim it, without a trusted proxy', async () => {
    const untrusting = await startTestRelay();
    const response = await fetch(`${untrusting.url}/api/profile`, {
      headers: { 'x-forwarded-proto': 'https' },
    });
    await untrusting.close();
    expect(response.headers.get('strict-transport-security')).toBeNull();
  });

  it.each([
    ['Content-Security-Policy of the page', ['/', '/login', '/assets/index-B2x_4f.js', '/gone.js']],
    ['Content-Security-Policy of the frame of the keys', ['keys:/keys', 'keys:/assets/keys-B2x_4f.css']],
    ['Content-Security-Policy of the page for storage', ['keys:/storage', 'keys:/storage.html']],
    ['Content-Security-Policy of the crypto worker', ['keys:/assets/crypto.worker-Aa1-b_2.js']],
    ['Content-Security-Policy of the service workers', ['/service-worker.js', 'keys:/service-worker.js']],
    ["Content-Security-Policy of the API's documentation", ['/api/docs']],
    ['Content-Security-Policy of the API', ['/api/profile', '/api/gone', '/healthz', '/readyz']],
  ])('has the %s', async (section, where) => {
    for (const address of where) {
      const sent = (await headersAt(address))['content-security-policy'];
      expect(sent?.replace(/'sha256-[^']+'/, "'sha256-…'")).toBe(policyOf(section));
    }
  });

  it('lists what is cached, and how', async () => {
    const table = new Map(tableOf('Caching'));
    const sent = async (address: string) => (await headersAt(address))['cache-control'];
    expect(await sent('/assets/index-B2x_4f.js')).toBe(table.get('/assets/'));
    expect(await sent('/')).toBe(table.get('/'));
    expect(await sent('/api/auth/params?identifier=x')).toBe(table.get('/api/'));
    expect(await sent('/healthz')).toBe(table.get('/healthz'));
    expect(await sent('/service-worker.js')).toBe(table.get('/service-worker.js'));
    for (const path of ['/keys', '/storage']) expect(await sent(path)).toBe(table.get('/keys'));
    expect(await sent('keys:/assets/keys-B2x_4f.css')).toBe(table.get('/assets/'));
    expect(await sent('keys:/keys')).toBe(table.get('/'));
    expect(table.size).toBe(6);
    expect(await sent('/assets/gone-123.js')).toBe('no-store');
  });

  it('allows nothing unsafe', () => {
    const policies = page.match(/'unsafe-[a-z-]+'|'wasm-[a-z-]+'|https?:\/\/|\*\s/g);
    expect(policies).toEqual(['https://', 'https://', "'wasm-unsafe-eval'"]);
  });
});
