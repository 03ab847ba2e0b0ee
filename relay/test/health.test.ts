import { once } from 'node:events';
import { createServer } from 'node:net';
import { sql } from 'kysely';
import { afterEach, describe, expect, it } from 'vitest';
import { directConversationId, topics } from '../contract/index.ts';
import { eventually } from './eventually.ts';
import { befriend, call, signUpOnDevice, startTestRelay, type TestRelay } from './helpers.ts';
import { commitBody, messageBody } from './http/conversation.ts';
import { createClients, puback } from './mqtt/mqttClient.ts';
import { messagePayload } from './mqtt/rawClient.ts';

let relay: TestRelay;
const clients = createClients();
afterEach(async () => {
  await clients.endAll();
  await relay.close();
});

describe("the relay's health", () => {
  it.each(['/healthz', '/readyz'])('is ok at %s', async (path) => {
    relay = await startTestRelay();
    const answer = await fetch(`${relay.url}${path}`);
    expect(answer.status).toBe(200);
    expect(await answer.json()).toEqual({ status: 'ok' });
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.headers.get('content-security-policy')).toMatch(/^default-src 'none'/);
  });

  it('without a database is ok at /healthz, and unavailable at /readyz', async () => {
    relay = await startTestRelay();
    // Stands for PostgreSQL being away: SQLite can only be closed while the relay uses it.
    await relay.relay.database.db.destroy();
    expect((await fetch(`${relay.url}/healthz`)).status).toBe(200);
    const answer = await fetch(`${relay.url}/readyz`);
    expect(answer.status).toBe(503);
    expect(await answer.json()).toEqual({ detail: 'The server is not ready.', code: 'unavailable' });
  });
});

describe('a damaged table of users', () => {
  it('is not ready, and lives', async () => {
    relay = await startTestRelay();
    await sql`alter table users rename to users_lost`.execute(relay.relay.database.db);
    expect((await fetch(`${relay.url}/healthz`)).status).toBe(200);
    expect((await fetch(`${relay.url}/readyz`)).status).toBe(503);
  });

  it('is not ready though its index can be read', async () => {
    relay = await startTestRelay();
    await sql`alter table users rename column password_hash to lost`.execute(relay.relay.database.db);
    expect((await fetch(`${relay.url}/readyz`)).status).toBe(503);
  });
});

/** The value of one sample, e.g. `name{label="x"}`. */
async function sample(name: string): Promise<number | null> {
  const text = await (await fetch(relay.metricsUrl ?? '')).text();
  const line = text.split('\n').find((candidate) => candidate.startsWith(`${name} `));
  return line === undefined ? null : Number(line.slice(name.length + 1));
}

describe("the relay's metrics", () => {
  it('are served nowhere unless a port is set', async () => {
    relay = await startTestRelay();
    expect(relay.metricsUrl).toBeNull();
    expect((await fetch(`${relay.url}/metrics`)).status).toBe(404);
  });

  it('have a port of their own, on which nothing else is', async () => {
    relay = await startTestRelay({ environment: { METRICS_PORT: '0' } });
    const answer = await fetch(relay.metricsUrl ?? '');
    expect(answer.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
    expect(await answer.text()).toContain('process_resident_memory_bytes');
    expect((await fetch(`${relay.url}/metrics`)).status).toBe(404);
    for (const path of ['/', '/api/profile', '/healthz']) {
      expect((await fetch(new URL(path, relay.metricsUrl ?? ''))).status).toBe(404);
    }
    expect((await fetch(relay.metricsUrl ?? '', { method: 'POST' })).status).toBe(404);
  });

  it('tell the size of the database as it was when they were asked for before', async () => {
    relay = await startTestRelay({ environment: { METRICS_PORT: '0' } });
    const size = await relay.relay.database.size();
    expect(size).toBeGreaterThan(100_000);
    expect(await sample('sinetti_database_bytes')).toBe(size);
    const { db } = relay.relay.database;
    const filler = { name: 'filler', value: 'x'.repeat(1_000_000) };
    await db.insertInto('operator_settings').values(filler).execute();
    await eventually(async () =>
      expect(await sample('sinetti_database_bytes')).toBeGreaterThan(size + 900_000),
    );
  });

  it('count requests, what is stored, what is refused and open sockets', async () => {
    relay = await startTestRelay({
      environment: { METRICS_PORT: '0', RATE_LIMITS: 'search.account=1/1h' },
    });
    const [aino, eero] = [await signUpOnDevice(relay), await signUpOnDevice(relay)];
    await befriend(aino, eero);
    const conversationId = directConversationId(aino.id, eero.id);
    await aino.call('POST', `/conversations/${conversationId}/commits`, commitBody(0));
    await aino.call('POST', `/messages/user/${eero.id}`, messageBody(1));
    await aino.call('POST', `/messages/user/${eero.id}`, messageBody(9));
    const client = await clients.connect(relay.mqttUrl, aino);
    await puback(client, topics.userMessages(eero.id), messagePayload(aino, eero, { epoch: 1 }));
    await aino.call('GET', '/search?q=somebody');
    await aino.call('GET', '/search?q=somebody');

    expect(await sample('sinetti_store_duration_seconds_count{kind="message"}')).toBe(2);
    expect(await sample('sinetti_store_duration_seconds_count{kind="commit"}')).toBe(1);
    expect(await sample('sinetti_store_refused_total{kind="message",code="stale-epoch"}')).toBe(1);
    expect(await sample('sinetti_rate_limited_total{limit="search.account"}')).toBe(1);
    const sent = '{method="POST",route="/api/messages/user/:id",status="201"}';
    expect(await sample(`sinetti_http_request_duration_seconds_count${sent}`)).toBe(1);
    expect(await sample('sinetti_open_sockets{path="/mqtt"}')).toBe(1);
    await clients.endAll();
    await eventually(async () => expect(await sample('sinetti_open_sockets{path="/mqtt"}')).toBe(0));
  });

  it('hold no name, id or address of anybody', async () => {
    relay = await startTestRelay({ environment: { METRICS_PORT: '0' } });
    const aino = await signUpOnDevice(relay);
    await aino.call('GET', `/users/search?q=${aino.username}`);
    await aino.call('GET', `/messages/user/${aino.id}`);
    await call(relay, 'GET', `/nothing/${aino.id}`);
    const text = await (await fetch(relay.metricsUrl ?? '')).text();
    for (const personal of [aino.id, aino.deviceId, aino.username, aino.email, '127.0.0.1']) {
      expect(text).not.toContain(personal);
    }
  });

  it('that have no port to be served on stop the start with a sentence', async () => {
    const other = createServer();
    other.listen(0, '127.0.0.1');
    await once(other, 'listening');
    const address = other.address();
    const port = typeof address === 'object' ? String(address?.port) : '';
    await expect(startTestRelay({ environment: { METRICS_PORT: port } })).rejects.toThrow(
      `Port ${port} is already in use. Set METRICS_PORT to another one.`,
    );
    other.close();
    relay = await startTestRelay();
  });
});
