import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Bytes, errorStatus, mediaTypeOf, type Route } from '../../contract/index.ts';
import { servedRoutes as routes } from '../../contract/served.ts';
import { writeParts } from '../../src/http/parts.ts';
import { eventually } from '../eventually.ts';
import { call, type PersonOnDevice, signUpOnDevice, startTestRelay, type TestRelay } from '../helpers.ts';

let relay: TestRelay;
let person: PersonOnDevice;
beforeAll(async () => {
  relay = await startTestRelay();
  person = await signUpOnDevice(relay);
});
afterAll(() => relay.close());

const everyPath = (Object.values(routes) as Route[]).flatMap((route) =>
  route.paths.map((path) => ({ ...route, url: path.replace(/\{\w+\}/g, randomUUID()) })),
);
/** In JSON. */
const withBody = everyPath.filter((route) => route.body !== undefined && route.body !== Bytes);

describe('every call', () => {
  it.each(everyPath.filter((route) => route.access !== 'public'))(
    'refuses strangers: $method $url',
    async ({ method, url }) => {
      const answer = await call(relay, method, url, method === 'GET' ? {} : { body: '{not json' });
      expect(answer).toMatchObject({ status: 401, body: { code: 'unauthenticated' } });
    },
  );

  it.each(withBody)('refuses what is not JSON: $method $url', async ({ method, url }) => {
    for (const body of ['{', '{"a":1}}', 'undefined', '\u0000']) {
      const answer = await call(relay, method, url, { token: person.token, body });
      expect(answer).toMatchObject({ status: 400, body: { code: 'malformed' } });
    }
  });

  it.each(withBody)('refuses JSON of another shape: $method $url', async (route) => {
    const { method, url, body: schema, bodyParts } = route;
    const bodies = ['', 'null', '[]', '"text"', '{}', '{"__proto__":{"username":"x"}}'];
    // A body may be one that can be left out.
    const accepts = (body: string) => schema?.safeParse(body === '' ? undefined : JSON.parse(body)).success;
    expect(bodies.filter((body) => !accepts(body))).toEqual(expect.arrayContaining(['[]', '"text"']));
    for (const body of bodies.filter((one) => !accepts(one))) {
      // A body with parts is never empty.
      if (body === '' && bodyParts !== undefined) continue;
      const asParts = () => new Uint8Array(writeParts(JSON.parse(body), bodyParts ?? []));
      const options = {
        token: person.token,
        body: bodyParts === undefined ? body : asParts(),
        headers: { 'content-type': mediaTypeOf(schema, bodyParts) },
      };
      const answer = await call(relay, method, url, options);
      expect(answer).toMatchObject({ status: 422, body: { code: 'invalid-request' } });
      expect(Object.keys(answer.body).sort()).toEqual(['code', 'detail']);
    }
  });

  it.each(withBody)('refuses other content types: $method $url', async ({ method, url }) => {
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'application/json-patch+json',
      'x',
    ]) {
      const options = { token: person.token, body: '{}', headers: { 'content-type': type } };
      const answer = await call(relay, method, url, options);
      expect(answer).toMatchObject({ status: 415, body: { code: 'unsupported-media-type' } });
    }
  });

  it.each(withBody)('refuses a body beyond its limit: $method $url', async ({ method, url, bodyLimit }) => {
    const body = `{"x":"${'a'.repeat(bodyLimit ?? 64 * 1024)}"}`;
    const answer = await call(relay, method, url, { token: person.token, body });
    expect(answer).toMatchObject({ status: 413, body: { code: 'payload-too-large' } });
  });

  it.each(everyPath)('names the methods it takes: $method $url', async ({ url }) => {
    const answer = await call(relay, 'PATCH', url, { token: person.token });
    expect(answer).toMatchObject({ status: 405, body: { code: 'method-not-allowed' } });
    for (const method of answer.headers.get('allow')?.split(', ') ?? []) {
      expect((await call(relay, method, url)).status).not.toBe(405);
    }
  });
});

describe('an address', () => {
  it.each(['/api', '/api/', '/api/nothing', '/api/messages/nobody/x', '/nothing', '/assets/gone.js'])(
    'that nothing is at answers 404: %s',
    async (path) => {
      const response = await fetch(`${relay.url}${path}`, { headers: { accept: 'text/html' } });
      expect(response.status).toBe(404);
      expect(await response.json()).toMatchObject({ code: 'not-found' });
    },
  );

  it.each(['%', '%E0%A4%A', 'a'.repeat(5000), '..%2f..%2fetc'])(
    'that is malformed is refused: %s',
    async (id) => {
      const answer = await call(relay, 'GET', `/messages/user/${id}`, { token: person.token });
      expect([404, 422]).toContain(answer.status);
      expect(answer.status).toBe(errorStatus[answer.body.code]);
    },
  );
});

it('a defect answers 500 without a word about it, and the log has it', async () => {
  const services = relay.relay.services as { messaging: { conversations: unknown } };
  const conversations = services.messaging.conversations;
  services.messaging.conversations = () => Promise.reject(new Error('the cat is on the keyboard'));
  const thrown = await call(relay, 'GET', '/conversations', { token: person.token });
  services.messaging.conversations = () => Promise.resolve([{ id: 'of no kind' }]);
  const misshapen = await call(relay, 'GET', '/conversations', { token: person.token });
  services.messaging.conversations = conversations;
  for (const answer of [thrown, misshapen]) {
    expect(answer.status).toBe(500);
    expect(answer.body).toEqual({ code: 'internal', detail: 'Something went wrong on the server.' });
  }
  expect(relay.logLines.join('')).toContain('the cat is on the keyboard');
});

it('a full disk answers 507', async () => {
  const services = relay.relay.services as { messaging: { conversations: unknown } };
  const conversations = services.messaging.conversations;
  const full = Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' });
  services.messaging.conversations = () => Promise.reject(full);
  const answer = await call(relay, 'GET', '/conversations', { token: person.token });
  services.messaging.conversations = conversations;
  expect(answer).toMatchObject({ status: 507, body: { code: 'storage-full' } });
  const line = relay.logLines.findLast((text) => text.includes('the storage is full')) ?? '{}';
  expect(JSON.parse(line)).toMatchObject({ code: 'SQLITE_FULL' });
  expect(line).not.toContain('stack');
});

it('bytes that are not HTTP are answered 400, and end their own connection only', async () => {
  const socket = connect({ port: Number(new URL(relay.url).port), host: '127.0.0.1' });
  const closed = new Promise<void>((resolve) => {
    socket.once('close', () => resolve());
  });
  socket.on('error', () => undefined);
  let answer = '';
  socket.on('data', (chunk: Buffer) => {
    answer += chunk.toString();
  });
  socket.write('\x16\x03\x01 this is not HTTP\r\n\r\n');
  await closed;
  expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\nConnection: close\r\n/);
  expect((await call(relay, 'GET', '/profile', { token: person.token })).status).toBe(200);
});

it('bytes that are not HTTP hold no connection, though the client never closes its side', async () => {
  const other = await startTestRelay();
  const port = Number(new URL(other.url).port);
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  const ended = once(socket, 'end');
  socket.resume();
  socket.write('this is not HTTP\r\n\r\n');
  await ended;
  await eventually(async () => {
    const { server } = other.relay.app;
    const count = await new Promise((resolve) => server.getConnections((_error, open) => resolve(open)));
    expect(count).toBe(0);
  });
  socket.destroy();
  await other.close();
});

describe("the relay's own log", () => {
  it('has a line for each request with its route by pattern', async () => {
    const id = randomUUID();
    await person.call('GET', `/messages/user/${id}?after=7`);
    const line = relay.logLines.map((text) => JSON.parse(text) as Record<string, unknown>).at(-1);
    expect(line).toMatchObject({ method: 'GET', route: '/api/messages/user/:id', status: 404 });
    expect(line).toMatchObject({ ms: expect.any(Number), reqId: expect.any(String) });
  });

  it('never holds what is personal or secret, at any level', async () => {
    const secrets = [person.token, person.email, person.username, person.password, person.id, person.salt];
    const login = { email: person.email, password: person.password };
    await call(relay, 'POST', '/login', { body: login });
    await call(relay, 'POST', '/login', { body: { ...login, password: person.salt.padEnd(43, 'A') } });
    await call(relay, 'POST', '/register', { body: { username: person.username, email: person.email } });
    await call(relay, 'POST', '/register', { body: `{"email":"${person.email}"` });
    await call(relay, 'GET', `/auth/params?identifier=${person.email}`);
    await call(relay, 'GET', `/nothing/${person.id}?token=${person.token}`, { token: person.token });
    await call(relay, 'GET', `/messages/user/${person.id}%`, { token: person.token });
    await person.call('GET', `/users/search?q=${person.username}`);
    await person.call('GET', `/users/${person.id}/devices`);
    await call(relay, 'GET', '/profile', { token: `${person.token}x` });
    const socket = connect({ port: Number(new URL(relay.url).port), host: '127.0.0.1' });
    const closed = new Promise<void>((resolve) => {
      socket.once('close', () => resolve());
    });
    socket.resume();
    socket.on('error', () => undefined);
    socket.write(
      `GET /${person.token} HTTP/1.1\r\nauthorization: Bearer ${person.token}\r\nbroken header\r\n\r\n`,
    );
    await closed;

    const text = relay.logLines.join('');
    expect(text).toContain('/api/users/:id/devices');
    for (const secret of [...secrets, '127.0.0.1:']) {
      const found = relay.logLines.filter(
        (line) => line.includes(secret) && !line.includes('Server listening'),
      );
      expect(found).toEqual([]);
    }
    expect(text).not.toMatch(/remoteAddress|remotePort|authorization|"hostname":"127/);
  });
});
