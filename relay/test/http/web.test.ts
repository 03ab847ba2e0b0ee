import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestRelay, type TestRelay, temporaryFolder, writeWebClient } from '../helpers.ts';

let webDir: string;
let relay: TestRelay;
beforeAll(async () => {
  webDir = await temporaryFolder();
  await writeWebClient(webDir);
  await writeFile(path.join(webDir, 'app', 'favicon.svg'), '<svg/>');
  await writeFile(path.join(webDir, 'app', '.env'), 'SECRET=1');
  await writeFile(path.join(webDir, 'app', 'assets', 'index-B2x_4f.js.br'), brotliCompressSync('page();'));
  relay = await startTestRelay({
    environment: {
      WEB_DIR: webDir,
      TRUST_PROXY: 'true',
      KEYS_ORIGIN: 'https://keys.app.example.net',
      ALLOWED_ORIGINS: 'https://app.example.org',
      VITE_API_HOST: 'https://relay.example.org/',
      VITE_MQTT_URL: 'wss://mqtt.example.org/mqtt',
    },
  });
});
afterAll(async () => {
  await relay.close();
  await rm(webDir, { recursive: true });
});

const get = (address: string, headers: Record<string, string> = {}, method = 'GET') =>
  fetch(`${relay.url}${address}`, { method, headers });
const html = { accept: 'text/html,application/xhtml+xml' };

describe('the web client', () => {
  it.each(['/', '/login', '/dashboard/messages?x=1', '/api-guide'])(
    'answers its page at %s',
    async (address) => {
      const response = await get(address, html);
      expect(response.status).toBe(200);
      expect(await response.text()).toContain('<title>Sinetti</title>');
      expect(response.headers.get('content-type')).toMatch(/^text\/html/);
      expect(response.headers.get('cache-control')).toBe('no-cache');
    },
  );

  it.each([
    ['/assets/gone-123.js', html],
    ['/.well-known/waict/manifests/gone', html],
    ['/api/gone', html],
    ['/gone.js', { accept: '*/*' }],
    ['/.env', { accept: '*/*' }],
    ['/..%2f..%2fetc%2fpasswd', { accept: '*/*' }],
  ])('answers 404 at %s', async (address, headers) => {
    const response = await get(address, headers);
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ code: 'not-found' });
  });

  it('is answered to GET and HEAD alone', async () => {
    expect((await get('/login', html, 'POST')).status).toBe(404);
    expect((await get('/login', html, 'HEAD')).status).toBe(200);
  });

  it('is compressed for who can read it, under the same name', async () => {
    const compressed = await get('/assets/index-B2x_4f.js', { 'accept-encoding': 'br' });
    expect(compressed.headers.get('content-encoding')).toBe('br');
    expect(compressed.headers.get('vary')).toContain('Accept-Encoding');
    expect(compressed.headers.get('content-type')).toMatch(/^application\/javascript/);
    expect(await compressed.text()).toBe('page();');
    const plain = await get('/assets/index-B2x_4f.js', { 'accept-encoding': 'identity' });
    expect(plain.headers.get('content-encoding')).toBeNull();
    expect(await plain.text()).toBe('page();');
  });

  it('is cached for good where names hold a hash, and asked for again elsewhere', async () => {
    const asset = await get('/assets/index-B2x_4f.js');
    expect(asset.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect((await get('/favicon.svg')).headers.get('cache-control')).toBe('no-cache');
    const { etag } = Object.fromEntries((await get('/favicon.svg')).headers);
    // fetch asks for a reload unless the caching is named.
    const again = { 'if-none-match': etag ?? '', 'cache-control': 'max-age=0' };
    expect((await get('/favicon.svg', again)).status).toBe(304);
  });
});

describe('a conditional request', () => {
  it('whose condition fails is refused', async () => {
    expect((await get('/favicon.svg', { 'if-match': '"another"' })).status).toBe(422);
  });
});

describe('headers of the web client', () => {
  const pagePolicy = [
    "default-src 'none'",
    // The import map of helpers.ts.
    "script-src 'self' 'sha256-v1IUEqDyKCfHdg2mkshdZlh1JwxKZIMqsI0JxkeP1Qo='",
    "style-src 'self'",
    "img-src 'self' data: blob:",
    "media-src 'self' blob:",
    "font-src 'self'",
    "connect-src 'self' https://relay.example.org wss://mqtt.example.org",
    "worker-src 'self'",
    "frame-src 'self' https://keys.app.example.net",
    "manifest-src 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    'trusted-types sinetti-service-worker',
  ].join('; ');

  it.each(['/', '/assets/index-B2x_4f.js'])('give the page its policy: %s', async (address) => {
    expect((await get(address, html)).headers.get('content-security-policy')).toBe(pagePolicy);
  });

  it.each(['/', '/assets/index-B2x_4f.js', '/api/profile', '/gone.js'])(
    'isolate and quieten every answer: %s',
    async (address) => {
      const { headers } = await get(address, html);
      expect(Object.fromEntries(headers)).toMatchObject({
        'cross-origin-opener-policy': 'same-origin',
        'origin-agent-cluster': '?1',
        'cross-origin-resource-policy': 'same-origin',
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
      });
      expect(headers.get('permissions-policy')).toMatch(
        /geolocation=\(\).*camera=\(self\), microphone=\(self\)$/,
      );
      expect(headers.get('strict-transport-security')).toBeNull();
      expect(headers.get('server')).toBeNull();
      expect(headers.get('x-powered-by')).toBeNull();
    },
  );

  it.each(['/', '/api/profile'])('ask for TLS behind TLS alone: %s', async (address) => {
    const { headers } = await get(address, { ...html, 'x-forwarded-proto': 'https' });
    expect(headers.get('strict-transport-security')).toBe('max-age=63072000');
  });

  it('keep errors out of caches', async () => {
    for (const address of ['/assets/gone-123.js', '/assets/crypto.worker-gone.js', '/gone', '/%']) {
      expect((await get(address)).headers.get('cache-control')).toBe('no-store');
    }
  });

  it('keep answers of the API out of caches, and make them harmless as pages', async () => {
    for (const address of [
      '/api/profile',
      '/api/auth/params?identifier=x',
      '/api/gone',
      '/api/messages/user/%',
      '/%61pi/auth/params?identifier=x',
    ]) {
      const { headers } = await get(address);
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('content-security-policy')).toBe("default-src 'none'; frame-ancestors 'none'");
    }
  });
});

describe('other origins', () => {
  const ask = (origin: string, method: string) =>
    get('/api/auth/params?identifier=x', { origin, 'access-control-request-method': 'GET' }, method);

  it('may call the API if they are configured', async () => {
    for (const method of ['OPTIONS', 'GET']) {
      const { status, headers } = await ask('https://app.example.org', method);
      expect(status).toBe(method === 'OPTIONS' ? 204 : 200);
      expect(headers.get('access-control-allow-origin')).toBe('https://app.example.org');
      expect(headers.get('access-control-allow-credentials')).toBeNull();
      expect(headers.get('vary')).toContain('Origin');
    }
    const preflight = await ask('https://app.example.org', 'OPTIONS');
    expect(preflight.headers.get('access-control-allow-headers')).toBe(
      'authorization, content-type, if-none-match, if-range, range, x-proof, tus-resumable, upload-length, upload-offset',
    );
  });

  it('may not call the API if they are not configured', async () => {
    for (const origin of ['https://evil.example', 'null', 'https://app.example.org.evil.example']) {
      for (const method of ['OPTIONS', 'GET']) {
        const { headers } = await ask(origin, method);
        expect(headers.get('access-control-allow-origin')).toBeNull();
      }
    }
  });
});
