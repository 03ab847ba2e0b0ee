import { request } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Realtime, startRealtime } from './harness.ts';

let relay: Realtime;

beforeAll(async () => {
  relay = await startRealtime({ allowedOrigins: ['https://chat.example.org'] });
});

afterAll(() => relay.close());

interface Attempt {
  readonly host?: string;
  readonly path?: string;
  readonly protocol?: string;
  readonly origin?: string;
  readonly forwardedHost?: string;
}

/** The status of the answer to a WebSocket handshake; 101 if it was accepted. */
function handshake({
  host = relay.host,
  path = '/mqtt',
  protocol = 'mqtt',
  origin,
  forwardedHost,
}: Attempt): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const attempt = request(`http://${host}${path}`, {
      headers: {
        connection: 'Upgrade',
        upgrade: 'websocket',
        'sec-websocket-version': '13',
        'sec-websocket-key': 'AQIDBAUGBwgJCgsMDQ4PEA==',
        ...(protocol === '' ? {} : { 'sec-websocket-protocol': protocol }),
        ...(origin === undefined ? {} : { origin }),
        ...(forwardedHost === undefined ? {} : { 'x-forwarded-host': forwardedHost }),
      },
    });
    attempt.on('upgrade', (response, socket) => {
      socket.destroy();
      resolve(response.statusCode);
    });
    attempt.on('response', (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    attempt.on('error', reject);
    attempt.end();
  });
}

test('both sockets are accepted from the relay itself, a configured origin and a client without one', async () => {
  for (const origin of [
    undefined,
    `http://${relay.host}`,
    `https://${relay.host}`,
    'https://chat.example.org',
  ]) {
    const where = origin === undefined ? {} : { origin };
    expect(await handshake(where)).toBe(101);
    expect(await handshake({ path: '/ws/presence/', protocol: '', ...where })).toBe(101);
  }
});

test.each([
  'https://evil.example',
  'https://chat.example.org.evil.example',
  'http://chat.example.org',
  'http://127.0.0.1:1',
  'http://127.0.0.1',
  'null',
  'not an origin',
])('a page of %s opens no socket', async (origin) => {
  expect(await handshake({ origin })).toBe(403);
  expect(await handshake({ path: '/ws/presence/', protocol: '', origin })).toBe(403);
});

test('behind a trusted proxy its host counts, behind none it does not', async () => {
  const proxied = await startRealtime({ trustProxy: true });
  const attempt = { origin: 'https://public.example', forwardedHost: 'public.example' };
  expect(await handshake({ host: proxied.host, ...attempt })).toBe(101);
  expect(await handshake({ host: proxied.host, ...attempt, forwardedHost: 'else.example' })).toBe(403);
  expect(await handshake(attempt)).toBe(403);
  await proxied.close();
});

test.each(['/', '/mqtt/', '/mqttx', '/ws/presence', '/api/profile', '//mqtt'])(
  '%s has no socket',
  async (path) => {
    expect(await handshake({ path })).toBe(404);
  },
);

test('MQTT needs its subprotocol', async () => {
  expect(await handshake({ protocol: '' })).toBe(400);
  expect(await handshake({ protocol: 'mqttv3.1' })).toBe(400);
  expect(await handshake({ protocol: 'mqttv3.1, mqtt' })).toBe(101);
});

test('a broken handshake is refused and breaks nothing', async () => {
  const status = await new Promise((resolve, reject) => {
    const attempt = request(`http://${relay.host}/mqtt`, {
      headers: { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-protocol': 'mqtt' },
    });
    attempt.on('response', (response) => resolve(response.statusCode));
    attempt.on('error', reject);
    attempt.end();
  });
  expect(status).toBe(400);
  expect(await handshake({})).toBe(101);
});

test('nothing is accepted once the relay is stopping', async () => {
  const stopping = await startRealtime();
  stopping.upgrades.stop();
  expect(await handshake({ host: stopping.host })).toBe(503);
  await stopping.close();
});
