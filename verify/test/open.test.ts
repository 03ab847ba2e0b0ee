import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mqttPath, presencePath } from '../../relay/contract/realtime.ts';
import { compareRelay, fileKey } from '../src/compare.ts';
import { createFetcher } from '../src/fetching.ts';
import { type Served, serveRelease } from '../src/open/serve.ts';
import { defaultOperator, firstRelease, holders, type SignedChain, writeClient } from './support/releases.ts';

let folder: string;
let first: SignedChain;
let relay: Server;
let served: Served;
let checked: Pick<Parameters<typeof serveRelease>[0], 'release' | 'files'>;
let url: string;
/** The requests that have reached the relay. */
const asked: { url: string; headers: IncomingHttpHeaders; body: string }[] = [];

/** Answers as a relay that wants its own page to run at the origin of the checked one. */
function hostile(): Server {
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      asked.push({ url: request.url ?? '', headers: request.headers, body });
      if (request.url === '/api/away')
        return response.writeHead(302, { location: 'https://evil.example' }).end();
      if (request.url === '/api/made') return response.writeHead(201, { location: '/api/blobs/x' }).end();
      const types: Readonly<Record<string, string>> = {
        '/api/json': 'application/json; charset=utf-8',
        // Browsers take the last type that they understand.
        '/api/mixed': 'application/json;, text/html',
      };
      const type = types[request.url ?? ''] ?? 'text/html';
      response.writeHead(200, {
        'content-type': type,
        'content-security-policy': "default-src * 'unsafe-inline'",
        'set-cookie': 'a=b',
        'clear-site-data': '"*"',
        'service-worker-allowed': '/',
        link: '</x.js>; rel=preload',
        etag: '"1"',
        'upload-offset': '7',
      });
      return response.end('<script>steal()</script>');
    });
  });
  server.on('upgrade', (request, socket) => {
    asked.push({ url: request.url ?? '', headers: request.headers, body: '' });
    socket.write(
      'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: yes\r\nSec-WebSocket-Protocol: mqtt\r\nSet-Cookie: a=b\r\n\r\nfirst ',
    );
    socket.pipe(socket);
  });
  return server;
}

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'sinetti-open-'));
  await writeClient(folder);
  first = await firstRelease(folder, holders('anna', 'bertta', 'carl'));
  relay = hostile();
  await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve));
  const { port } = relay.address() as AddressInfo;
  const release = first.chain.release!;
  const files = new Map<string, Uint8Array>();
  for (const origin of ['app', 'keys'] as const) {
    for (const name of Object.keys(release.files[origin])) {
      files.set(fileKey(origin, name), await readFile(path.join(folder, origin, name)));
    }
  }
  checked = { release, files };
  served = await serveRelease({
    ...checked,
    operator: { ...defaultOperator, productName: 'Letterbox' },
    relay: `http://127.0.0.1:${port}`,
    port: 21_000 + (port % 5000) * 2,
  });
  url = served.origins.app;
});
afterAll(async () => {
  await served.close();
  relay.closeAllConnections();
  relay.close();
  await rm(folder, { recursive: true });
});

describe('a checked release on this machine', () => {
  it('is what was signed, at both origins and with the headers of its own', async () => {
    const fetcher = createFetcher();
    const { rows } = await compareRelay(first.chain.release!, served.origins, fetcher);
    fetcher.close();
    expect(rows.filter(({ differences }) => differences.length > 0)).toEqual([]);
    expect(asked.filter(({ url: path }) => !/^\/(?:api\/|healthz$)/.test(path))).toEqual([]);
  });

  it('has the names of the operator, and calls itself whatever the operator says', async () => {
    const { port } = relay.address() as AddressInfo;
    const elsewhere = {
      ...defaultOperator,
      apiHost: `http://127.0.0.1:${port}`,
      mqttUrl: `ws://127.0.0.1:${port}/broker/mqtt`,
    };
    const { files, release } = checked;
    // Nobody listens there: all goes to the addresses that the operator names.
    const own = {
      release,
      files,
      operator: elsewhere,
      relay: 'http://127.0.0.1:9',
      port: 32_000 + (port % 999) * 2,
    };
    const other = await serveRelease(own);
    const settings = (await (await fetch(`${other.origins.app}/operator.json`)).json()) as object;
    expect(settings).toEqual(defaultOperator);
    expect((await fetch(`${other.origins.app}/api/json`)).status).toBe(200);
    const at = Number(new URL(other.origins.app).port);
    await raw(at, `${upgrade(other.origins.app, at, mqttPath)}second`, 'first second');
    expect(asked.at(-1)?.url).toBe('/broker/mqtt');
    expect(asked.at(-1)?.headers.origin).toBe('http://127.0.0.1:9');
    await other.close();
    const manifest = await (await fetch(`${url}/manifest.webmanifest`)).text();
    expect(manifest).toBe('{\n  "name": "Letterbox",\n  "short_name": "Letterbox"\n}\n');
  });

  it('is not what the relay has at an address that the release has not', async () => {
    for (const address of [
      `${url}/assets/extra.js`,
      `${served.origins.keys}/api/json`,
      `${served.origins.keys}/x`,
    ]) {
      expect((await fetch(address)).status).toBe(404);
    }
    // Such an address never changes what it answers, so that the browser would keep the page there.
    const manifest = `${url}/.well-known/waict/manifests/of-another-release`;
    expect((await fetch(manifest, { headers: { accept: 'text/html' } })).status).toBe(404);
    const route = await fetch(`${url}/dashboard`, { headers: { accept: 'text/html' } });
    expect(await route.text()).toContain('<title>Sinetti</title>');
  });

  it('makes data of whatever the relay answers', async () => {
    const page = await fetch(`${url}/api/page`);
    expect(Object.fromEntries(page.headers)).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
      'x-content-type-options': 'nosniff',
      'upload-offset': '7',
    });
    for (const name of ['set-cookie', 'clear-site-data', 'service-worker-allowed', 'link']) {
      expect(page.headers.has(name)).toBe(false);
    }
    expect((await fetch(`${url}/api/json`)).headers.get('content-type')).toBe(
      'application/json; charset=utf-8',
    );
    expect((await fetch(`${url}/api/away`, { redirect: 'manual' })).status).toBe(502);
    expect((await fetch(`${url}/api/made`)).headers.get('location')).toBe('/api/blobs/x');
  });

  it('passes a call on with its body and token, and without what tells of this machine', async () => {
    await fetch(`${url}/api/messages`, {
      method: 'POST',
      body: '{"sealed":1}',
      headers: { authorization: 'Bearer t', cookie: 'a=b', referer: `${url}/x`, origin: url },
    });
    const { body, headers } = asked.at(-1)!;
    const { port } = relay.address() as AddressInfo;
    expect([body, headers.authorization]).toEqual(['{"sealed":1}', 'Bearer t']);
    expect([headers.origin, headers.host]).toEqual([`http://127.0.0.1:${port}`, `127.0.0.1:${port}`]);
    expect([headers.cookie, headers.referer]).toEqual([undefined, undefined]);
  });

  it('writes the type of what the relay answers itself', async () => {
    expect((await fetch(`${url}/api/mixed`)).headers.get('content-type')).toBe(
      'application/json; charset=utf-8',
    );
  });

  it('keeps a body within its call, which would be the next one otherwise', async () => {
    const { port } = new URL(url);
    const hidden = 'POST /api/sink HTTP/1.1\r\nHost: x\r\nContent-Length: 9999\r\n\r\n';
    const chunk = `${hidden.length.toString(16)}\r\n${hidden}\r\n0\r\n\r\n`;
    await raw(
      Number(port),
      `DELETE /api/x HTTP/1.1\r\nHost: localhost:${port}\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n${chunk}`,
    );
    expect(asked.at(-1)).toMatchObject({ url: '/api/x', body: hidden });
    await fetch(`${url}/api/json`);
    expect(asked.at(-1)?.url).toBe('/api/json');
  });

  it('answers no page of another site, and under no other name', async () => {
    const before = asked.length;
    expect((await fetch(`${url}/api/json`, { headers: { origin: 'https://evil.example' } })).status).toBe(
      403,
    );
    const port = Number(new URL(url).port);
    expect(await raw(port, 'GET / HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n')).toMatch(
      /^HTTP\/1\.1 421 /,
    );
    expect(await raw(port, upgrade('https://evil.example', port))).toMatch(/^HTTP\/1\.1 403 /);
    expect(asked).toHaveLength(before);
  });

  it.each([mqttPath, presencePath])('passes a socket at %s on, both ways', async (socketPath) => {
    const port = Number(new URL(url).port);
    const answer = await raw(port, `${upgrade(url, port, socketPath)}second`, 'first second');
    expect(answer).toMatch(/^HTTP\/1\.1 101 /);
    expect(answer).toContain('Sec-WebSocket-Protocol: mqtt\r\n');
    expect(answer).not.toContain('Set-Cookie');
    expect([asked.at(-1)?.url, asked.at(-1)?.headers['sec-websocket-protocol']]).toEqual([
      socketPath,
      'mqtt',
    ]);
  });
});

const upgrade = (origin: string, port: number, socketPath = mqttPath) =>
  `GET ${socketPath} HTTP/1.1\r\nHost: localhost:${port}\r\nOrigin: ${origin}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Protocol: mqtt\r\n\r\n`;

/** Sends bytes and reads until the end, or until something has come. */
function raw(port: number, request: string, until?: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(request));
    let answer = '';
    socket.on('data', (part) => {
      answer += String(part);
      if (until !== undefined && answer.includes(until)) socket.destroy();
    });
    socket.on('error', reject);
    socket.on('close', () => resolve(answer));
  });
}
