import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { startTestRelay, type TestRelay, temporaryFolder, writeWebClient } from '../helpers.ts';

let webDir: string;
/** One with no settings but the client's. */
let url: string;
let keysUrl: string;
const relays: TestRelay[] = [];

async function start(environment: Record<string, string> = {}): Promise<TestRelay & { keysUrl: string }> {
  const relay = await startTestRelay({ environment: { WEB_DIR: webDir, ...environment } });
  relays.push(relay);
  return relay as TestRelay & { keysUrl: string };
}

beforeAll(async () => {
  webDir = await temporaryFolder();
  await writeWebClient(webDir);
  ({ url, keysUrl } = await start());
});
afterAll(async () => {
  await Promise.all(relays.map((relay) => relay.close()));
  await rm(webDir, { recursive: true });
});
const html = { accept: 'text/html' };
const policyOf = ({ headers }: Response) => headers.get('content-security-policy');

describe('the origin of the keys', () => {
  it('is on the port after the app’s', async () => {
    expect(Number(new URL(keysUrl).port)).toBe(Number(new URL(url).port) + 1);
  });

  it('has the frame, and the app leads to it', async () => {
    const response = await fetch(`${url}/keys`);
    expect(response.redirected).toBe(true);
    expect(response.url).toBe(`${keysUrl}/keys`);
    expect(await response.text()).toContain('<title>Keys</title>');
    expect(policyOf(response)).toContain(`frame-ancestors ${url};`);
    expect(policyOf(await fetch(url, { headers: html }))).toContain(`frame-src 'self' ${keysUrl};`);
  });

  it('runs the script in its page, and no other', async () => {
    const hash = createHash('sha256').update('frame();').digest('base64');
    expect(policyOf(await fetch(`${keysUrl}/keys`))).toContain(`script-src 'sha256-${hash}';`);
    const operator = await (await fetch(`${url}/operator.js`)).text();
    expect(operator).toContain(`script-src 'sha256-${hash}';`);
  });

  it('has the page for storage, framed by nobody, with a script of its own, and the app leads to it', async () => {
    const response = await fetch(`${url}/storage`);
    expect(response.url).toBe(`${keysUrl}/storage`);
    expect(await response.text()).toContain('<title>Storage</title>');
    const hash = createHash('sha256').update('storage();').digest('base64');
    expect(policyOf(response)).toContain(`script-src 'sha256-${hash}';`);
    expect(policyOf(response)).toContain("frame-ancestors 'none';");
    expect(policyOf(await fetch(`${keysUrl}/keys`))).not.toContain(hash);
  });

  it.each([
    '/',
    '/login',
    '/api/profile',
    '/api/docs',
    '/healthz',
    '/metrics',
    '/index.html',
    '/assets/index-B2x_4f.js',
    '/assets/crypto.worker-gone.js',
    '/.well-known/waict/manifests/gone',
  ])('has nothing at %s, and says so for now alone', async (address) => {
    const response = await fetch(`${keysUrl}${address}`, { headers: html });
    expect(response.status).toBe(404);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(await response.text()).toBe('Not found');
  });

  it.each(['/keys.html', '/storage.html', '/assets/keys-B2x_4f.css', '/assets/crypto.worker-Aa1-b_2.js'])(
    'alone has %s',
    async (address) => {
      expect((await fetch(`${keysUrl}${address}`)).status).toBe(200);
      const atApp = await fetch(`${url}${address}`, { headers: { accept: '*/*' } });
      expect(atApp.status).toBe(404);
    },
  );

  it('takes no socket', async () => {
    for (const path of ['/mqtt', '/ws/presence/']) {
      const socket = new WebSocket(`${keysUrl.replace('http', 'ws')}${path}`, 'mqtt');
      const ended = await new Promise((resolve) => {
        socket.addEventListener('error', () => resolve('refused'));
        socket.addEventListener('open', () => resolve('open'));
      });
      expect(ended).toBe('refused');
    }
  });

  it('is named by the host that the browser asked for, if that is this machine', async () => {
    const { port } = new URL(url);
    const led = async (host: string) => (await request(url, '/keys', host)).match(/^location: (.*)$/im)?.[1];
    expect(await led(`localhost:${port}`)).toBe(`http://localhost:${Number(port) + 1}/keys`);
    expect(await led(`127.0.0.1:${port}`)).toBe(`http://127.0.0.1:${Number(port) + 1}/keys`);
    expect(await led('evil.example')).toBe(`http://localhost:${Number(port) + 1}/keys`);
  });

  it('is the configured one behind a proxy', async () => {
    const behindProxy = await start({
      TRUST_PROXY: 'true',
      KEYS_ORIGIN: 'https://keys.chat.example.org',
    });
    const response = await fetch(`${behindProxy.url}/keys`, { redirect: 'manual' });
    expect(response.headers.get('location')).toBe('https://keys.chat.example.org/keys');
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(policyOf(await fetch(`${behindProxy.keysUrl}/keys`))).toContain(
      'frame-ancestors https://chat.example.org;',
    );
    expect(policyOf(await fetch(behindProxy.url, { headers: html }))).toContain(
      "frame-src 'self' https://keys.chat.example.org;",
    );
  });

  it('may be the app’s host on the next port behind a proxy, too', async () => {
    const behindProxy = await start({ TRUST_PROXY: 'true', KEYS_ORIGIN: 'https://chat.example.org:444' });
    expect(policyOf(await fetch(`${behindProxy.keysUrl}/keys`))).toContain(
      'frame-ancestors https://chat.example.org;',
    );
  });

  it('must be configured behind a proxy', async () => {
    await expect(start({ TRUST_PROXY: 'true' })).rejects.toThrow(
      'KEYS_ORIGIN must be set behind a proxy: a second address that leads to KEYS_PORT',
    );
  });

  it('stops the start with a sentence when its port is taken', async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    const { port } = taken.address() as { port: number };
    await expect(start({ PORT: String(port - 1) })).rejects.toThrow(
      `Port ${port} is already in use. Set PORT (the keys have the port after it) to another one.`,
    );
    await new Promise((resolve) => taken.close(resolve));
  });

  it('is not opened where no web client is served', async () => {
    const relay = await startTestRelay();
    relays.push(relay);
    expect(relay.keysUrl).toBeNull();
    expect((await fetch(`${relay.url}/keys`)).status).toBe(404);
  });
});

describe('the operator’s settings', () => {
  it('tell both service workers what the relay would send', async () => {
    for (const origin of [url, keysUrl]) {
      const response = await fetch(`${origin}/operator.js`);
      expect(response.headers.get('content-type')).toContain('text/javascript');
      expect(response.headers.get('cache-control')).toBe('no-cache');
      const script = await response.text();
      const settings = JSON.parse(script.slice('self.operatorSettings = '.length, -2));
      expect(settings.keysOrigin).toBe(keysUrl);
      for (const [address, kept] of [
        [url, settings.headers.app.page],
        [`${keysUrl}/keys`, settings.headers.keys.page],
        [`${keysUrl}/assets/crypto.worker-Aa1-b_2.js`, settings.headers.keys.worker],
      ] as const) {
        const sent = (await fetch(address, { headers: html })).headers;
        expect(Object.keys(kept)).toContain('content-security-policy');
        for (const [name, value] of Object.entries(kept))
          expect([name, sent.get(name)]).toEqual([name, value]);
      }
    }
  });
});

/** Sends a request with a Host header of its own, which fetch would set by itself. */
async function request(url: string, path: string, host: string): Promise<string> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.end(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
  const parts: Buffer[] = [];
  for await (const part of socket) parts.push(part as Buffer);
  return Buffer.concat(parts).toString('utf8');
}
