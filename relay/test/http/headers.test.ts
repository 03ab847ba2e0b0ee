import { readFile, rm } from 'node:fs/promises';
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

let webDir: string;
let relay: TestRelay;
beforeAll(async () => {
  webDir = await temporaryFolder();
  await writeWebClient(webDir);
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

describe('the page of headers', () => {
  it.each(addresses)('lists what is sent at %s, all of it and nothing else', async (address) => {
    const { 'content-security-policy': policy, 'cache-control': caching, ...rest } = await headersAt(address);
    const others = Object.entries(rest).filter(([name]) => !ordinary.has(name));
    expect(Object.fromEntries(others)).toEqual(Object.fromEntries(tableOf('Every answer')));
    expect(policy).toBeDefined();
    expect(caching).toBeDefined();
  });

  it.each(keysAddresses)('lists what is sent at %s of the origin of the keys', async (address) => {
    const { 'content-security-policy': policy, 'cache-control': caching, ...rest } = await headersAt(address);
    const others = Object.entries(rest).filter(([name]) => !ordinary.has(name));
    expect(Object.fromEntries(others)).toEqual(
      Object.fromEntries([...tableOf('Every answer'), ...tableOf('At the origin of the keys')]),
    );
    expect(policy).toBeDefined();
    expect(caching).toBeDefined();
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
