import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { statfs } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { sql } from 'kysely';
import { afterEach, describe, expect, it } from 'vitest';
import { directConversationId, limits, topics } from '../contract/index.ts';
import { createBlobFiles } from '../src/blobs/blobFiles.ts';
import { createBlobJob } from '../src/jobs/blobs.ts';
import { Metrics } from '../src/metrics/metrics.ts';
import { personQuotas } from '../src/personQuotas.ts';
import { eventually } from './eventually.ts';
import { base64Url, befriend, call, signUpOnDevice, startTestRelay, type TestRelay } from './helpers.ts';
import { commitBody, messageBody } from './http/conversation.ts';
import { read, uploaded } from './http/uploads.ts';
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

  it('count what quotas refuse, once each, by REST and by MQTT', async () => {
    relay = await startTestRelay({ environment: { METRICS_PORT: '0', RATE_LIMITS: 'off' } });
    const [aino, eero] = [await signUpOnDevice(relay), await signUpOnDevice(relay)];
    await befriend(aino, eero);
    await aino.call(
      'POST',
      `/conversations/${directConversationId(aino.id, eero.id)}/commits`,
      commitBody(0),
    );
    const { db } = relay.relay.database;
    await db.updateTable('stored_bytes').set({ entries: personQuotas.entriesADay }).execute();
    expect((await aino.call('POST', `/messages/user/${eero.id}`, messageBody(1))).status).toBe(413);
    const client = await clients.connect(relay.mqttUrl, aino);
    const payload = messagePayload(aino, eero, { epoch: 1 });
    // The code is what the outbox of a browser goes by, which keeps the message as not sent.
    expect(await puback(client, topics.userMessages(eero.id), payload)).toMatchObject({
      reasonCode: 0x97,
      code: 'quota',
    });
    expect(await sample('sinetti_quota_refused_total{quota="entries"}')).toBe(2);
    await db
      .insertInto('history_totals')
      .values({
        user_id: aino.id,
        last_position: 0,
        bytes: limits.historyBytesPerUser,
        switched_off_at: null,
      })
      .execute();
    const items = [
      { id: randomUUID(), conversationId: directConversationId(aino.id, eero.id), sealed: base64Url(300) },
    ];
    expect((await aino.call('PUT', '/history', { items })).status).toBe(413);
    expect(await sample('sinetti_quota_refused_total{quota="history"}')).toBe(1);
  });

  it('tell of files, of disks, of strangers and of Redis', async () => {
    relay = await startTestRelay({ environment: { METRICS_PORT: '0' } });
    const aino = await signUpOnDevice(relay);
    const id = await uploaded(relay, aino, randomBytes(5000));
    await (await read(relay, aino, id)).arrayBuffer();
    expect(await sample('sinetti_file_bytes_total{direction="received"}')).toBe(5000);
    expect(await sample('sinetti_file_bytes_total{direction="sent"}')).toBe(5000);
    const { dataDir, blobs } = relay.relay.services.config;
    const { db } = relay.relay.database;
    const metrics = new Metrics();
    const job = createBlobJob({
      db,
      store: await createBlobFiles(blobs.dir, db),
      blobs: relay.relay.services.blobs,
      settings: blobs,
      clock: Date.now,
      metrics,
      log: relay.relay.app.log,
    });
    await job.run();
    // In whole blocks of 4 KiB.
    expect(await metrics.registry.metrics()).toContain('sinetti_stored_file_bytes 8192');
    for (const [place, folder] of [
      ['data', dataDir],
      ['files', blobs.dir],
    ] as const) {
      const { bavail, bsize } = await statfs(folder);
      const free = (await sample(`sinetti_free_bytes{place="${place}"}`)) ?? 0;
      // Others write to this disk, too.
      expect(free / (bavail * bsize)).toBeCloseTo(1, 1);
    }
    expect(await sample('sinetti_redis_up')).toBe(0);
    expect(await sample('sinetti_waiting_bytes')).toBe(0);
    const stranger = connect({ port: Number(new URL(relay.url).port), host: '127.0.0.1' });
    stranger.write(
      'POST /api/login HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{',
    );
    await eventually(async () => expect(await sample('sinetti_waiting_bytes')).toBe(257));
    stranger.destroy();
    await eventually(async () => expect(await sample('sinetti_waiting_bytes')).toBe(0));
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
