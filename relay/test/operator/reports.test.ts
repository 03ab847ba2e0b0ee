import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { limits, type Report } from '../../contract/index.ts';
import { closedReportLifetime, createPurgeJob } from '../../src/jobs/purge.ts';
import { type Person, signUp, startTestRelay, type TestRelay } from '../helpers.ts';
import { recordEvents } from '../http/conversation.ts';
import { done, run } from './operator.ts';

let relay: TestRelay;
let aino: Person;
let eero: Person;
let ahead = 0;
beforeAll(async () => {
  relay = await startTestRelay({
    clock: () => Date.now() + ahead,
    environment: { RATE_LIMITS: 'sign-up.address=off,report.account=40/1h' },
  });
});
afterAll(() => relay.close());
beforeEach(async () => {
  ahead = 0;
  aino = await signUp(relay);
  eero = await signUp(relay);
});

const content = (overrides: Record<string, unknown> = {}) => ({
  user_id: eero.id,
  reason: 'harassment',
  text: 'Every night.\nSince March.',
  messages: [{ sent_at: '2026-03-01T12:00:00.000Z', text: 'I know where you live' }],
  ...overrides,
});
const report = (overrides: Record<string, unknown> = {}) =>
  aino.call<{ id: string; code?: string }>('POST', '/reports', content(overrides));
const listed = async (...words: string[]) =>
  (await done<{ id: string }[]>(relay, 'reports', 'list', ...words)).map(({ id }) => id);

describe('a report', () => {
  it('reaches the operator with what the reporter chose to send, and nothing else', async () => {
    const { status, body } = await report();
    expect(status).toBe(201);
    expect(await done(relay, 'reports', 'show', body.id)).toEqual({
      id: body.id,
      reason: 'harassment',
      reported: { id: eero.id, username: eero.username },
      reporter: { id: aino.id, username: aino.username },
      created_at: expect.any(String),
      closed_at: null,
      text: 'Every night.\nSince March.',
      messages: [{ sent_at: '2026-03-01T12:00:00.000Z', text: 'I know where you live' }],
    });
    const { out } = await run(relay.environment, 'reports', 'show', body.id);
    expect(out).toContain('  | Every night.\n  | Since March.\n');
    expect(out).toContain('As their browser shows it, of 2026-03-01 12:00:\n  | I know where you live\n');
    const bare = await report({ text: '', messages: [] });
    const shown = await done<Report>(relay, 'reports', 'show', bare.body.id);
    expect([shown.text, shown.messages]).toEqual(['', []]);
  });

  it('is heard of by nobody else: the person who is reported sees no difference', async () => {
    const paths = ['/reports', '/notifications', '/contacts/requests', '/users/me', '/account-changes'];
    const seen = () => Promise.all(paths.map(async (path) => (await eero.call('GET', path)).body));
    const before = await seen();
    const events = await recordEvents(relay, [aino, eero], () => report());
    expect(events).toEqual([]);
    expect(await seen()).toEqual(before);
  });

  it('is listed to its reporter, newest first, with all that it holds', async () => {
    const first = await report();
    ahead = 1000;
    const second = await report({ reason: 'spam', text: '', messages: [] });
    const { body } = await aino.call<Report[]>('GET', '/reports');
    expect(body.map(({ id }) => id)).toEqual([second.body.id, first.body.id]);
    expect(body[1]).toEqual({ id: first.body.id, ...content(), created_at: expect.any(String) });
  });

  it.each([
    ['of no known reason', { reason: 'boredom' }],
    ['with too many words', { text: 'x'.repeat(limits.reportTextMax + 1) }],
    ['with a NUL', { text: 'a\0b' }],
    [
      'with too many messages',
      {
        messages: Array.from({ length: limits.messagesPerReport + 1 }, () => ({
          sent_at: '2026-03-01T12:00:00.000Z',
          text: '',
        })),
      },
    ],
    ['with a message of no time', { messages: [{ sent_at: 'yesterday', text: '' }] }],
  ])('%s is refused', async (_what, overrides) => {
    expect(await report(overrides)).toMatchObject({ status: 422, body: { code: 'invalid-request' } });
    expect((await aino.call('GET', '/reports')).body).toEqual([]);
  });

  it('moves no cursor of who reads it, as JSON neither, which says all of it', async () => {
    const text = 'a\u{9b}2J\u{1b}]0;title\u{7}\u{202e}b\u{e0041}\nä 👋';
    const { id } = (await report({ text, messages: [] })).body;
    const { out } = await run(relay.environment, 'reports', 'show', id, '--json');
    expect(out.replaceAll('\n', '')).not.toMatch(/\p{C}/u);
    expect(JSON.parse(out)).toMatchObject({ text });
    const shown = await run(relay.environment, 'reports', 'show', id);
    expect(shown.out.replaceAll('\n', '')).not.toMatch(/\p{C}/u);
    expect(shown.out).toContain('ä 👋');
  });

  it('is neither of oneself nor of nobody', async () => {
    expect(await report({ user_id: aino.id })).toMatchObject({ status: 422 });
    expect(await report({ user_id: '00000000-0000-4000-8000-000000000000' })).toMatchObject({ status: 404 });
  });

  it('is one of 20 of a person that may wait, and makes room when it is closed', async () => {
    const sent = [];
    for (let count = 0; count < limits.openReportsPerUser; count += 1) sent.push(await report());
    expect(await report()).toMatchObject({ status: 409, body: { code: 'limit-reached' } });
    await done(relay, 'reports', 'close', sent[0]?.body.id ?? '');
    expect((await report()).status).toBe(201);
  });

  it('goes off the list when it is closed, and 90 days later for good', async () => {
    const { id } = (await report()).body;
    expect(await listed('--limit', '1000')).toContain(id);
    expect(await done(relay, 'reports', 'close', id)).toEqual({ id, closed: true });
    expect(await listed('--limit', '1000')).not.toContain(id);
    expect(await listed('--all', '--limit', '1000')).toContain(id);
    const { db } = relay.relay.database;
    const job = createPurgeJob({ db, clock: () => Date.now() + ahead, log: relay.relay.app.log });
    ahead = closedReportLifetime - 60_000;
    await job.run();
    expect(await listed('--all', '--limit', '1000')).toContain(id);
    ahead += 120_000;
    await job.run();
    expect(await listed('--all', '--limit', '1000')).not.toContain(id);
  });

  it('goes with the account of either', async () => {
    const { id } = (await report()).body;
    const other = await signUp(relay);
    const second = await report({ user_id: other.id });
    await eero.call('DELETE', '/user');
    expect(await listed('--all')).not.toContain(id);
    expect(await listed()).toContain(second.body.id);
    await aino.call('DELETE', '/user');
    expect(await listed('--all')).not.toContain(second.body.id);
    expect(await run(relay.environment, 'reports', 'show', id)).toEqual({
      status: 1,
      out: '',
      err: `There is no report ${id}.\n`,
    });
  });
});
