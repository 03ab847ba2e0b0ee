import { describe, expect, it } from 'vitest';
import type { createApi } from '#src/net/api.ts';
import { ApiError } from '#src/net/errors.ts';
import { requestTimeoutMs } from '#src/net/http.ts';
import { settled } from './support/fakeClock.ts';
import { type Answer, authKey, failureOf, json, profile, refusal, setUp, userId } from './support/httpApi.ts';

describe('the fallback paths of login', () => {
  const session = { access_token: 'a.b.c', user: profile };

  it.each<[string, Answer]>([
    ['404', refusal(404, 'not-found')],
    ['405', refusal(405, 'method-not-allowed')],
    ['500', refusal(500, 'internal')],
    ['503', refusal(503, 'unavailable')],
    ["a proxy's 502", new Response('<html>', { status: 502 })],
    ['a page in place of an answer', new Response('<html>', { status: 200 })],
    ['no connection', 'unreachable'],
  ])('are tried in turn after %s, and the first success wins', async (_name, first) => {
    const { api, seen } = setUp(first, refusal(404, 'not-found'), json(200, session));
    await expect(api.login({ email: 'anna', password: authKey })).resolves.toEqual(session);
    expect(seen.map(({ url }) => new URL(url).pathname)).toEqual([
      '/api/login/email',
      '/api/login',
      '/api/auth/login',
    ]);
    for (const { body } of seen) expect(body).toEqual({ email: 'anna', password: authKey });
  });

  it('show nobody what the relay says to who wrote the client', async () => {
    const { api } = setUp(refusal(422, 'invalid-request', 'email: Invalid input'));
    expect(await failureOf(api.login({ email: 'anna', password: authKey }))).toMatchObject({
      code: 'invalid-request',
      detail: null,
    });
  });

  it.each([
    [401, 'wrong-credentials'],
    [409, 'limit-reached'],
    [422, 'invalid-request'],
    [429, 'rate-limited'],
  ])('are not tried after a %i', async (status, code) => {
    const { api, seen } = setUp(refusal(status, code));
    expect(await failureOf(api.login({ email: 'anna', password: authKey }))).toMatchObject({ status, code });
    expect(seen).toHaveLength(1);
  });

  it('are not tried when the first took until the time was out', async () => {
    const { api, clock, seen } = setUp('never');
    const failure = failureOf(api.login({ email: 'anna', password: authKey }));
    await settled();
    await clock.advance(requestTimeoutMs);
    expect(await failure).toMatchObject({ name: 'NetworkError', code: 'timeout' });
    expect(seen).toHaveLength(1);
  });

  it('end with an answer about what was asked, and tell what came before it', async () => {
    const { api, seen } = setUp(refusal(500, 'internal'), refusal(401, 'wrong-credentials'));
    const error = await failureOf(api.login({ email: 'anna', password: authKey }));
    expect(error).toMatchObject({ errors: [{ code: 'internal' }, { code: 'wrong-credentials' }] });
    expect(seen).toHaveLength(2);
  });

  it('fail together when none answers', async () => {
    const { api } = setUp(refusal(404, 'not-found'), refusal(404, 'not-found'), 'unreachable');
    const error = await failureOf(api.login({ email: 'anna', password: authKey }));
    expect(error).toBeInstanceOf(AggregateError);
    expect(error).toMatchObject({ errors: [{ status: 404 }, { status: 404 }, { code: 'unreachable' }] });
  });
});

it.each([
  ['accept', (api: ReturnType<typeof createApi>) => api.acceptContact(userId), '/api/contact/accept/'],
  ['reject', (api: ReturnType<typeof createApi>) => api.rejectContact(userId), '/api/contact/deny/'],
])('%s falls back to its second path', async (_name, call, path) => {
  const { api, seen } = setUp(
    refusal(500, 'internal'),
    json(200, { contact: { id: userId, username: 'anna', email: 'anna@example.org' } }),
  );
  await call(api);
  expect(new URL(seen[1]?.url ?? '').pathname).toBe(path + userId);
});

describe('the profile', () => {
  it('is asked for once more after a failure', async () => {
    const { api, seen } = setUp(refusal(500, 'internal'), json(200, profile));
    await expect(api.profile()).resolves.toEqual(profile);
    expect(seen).toHaveLength(2);
  });

  it('is not asked for again once the session is over', async () => {
    const { api, seen } = setUp(refusal(401, 'session-expired'));
    expect(await failureOf(api.profile())).toBeInstanceOf(ApiError);
    expect(seen).toHaveLength(1);
  });
});
