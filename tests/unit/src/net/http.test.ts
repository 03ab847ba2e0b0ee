import { describe, expect, it } from 'vitest';
import { partsType } from '#relay/contract/index.ts';
import { cancelled } from '#src/lib/appError.ts';
import { isApiError, NetworkError } from '#src/net/errors.ts';
import { requestTimeoutMs } from '#src/net/http.ts';
import { settled } from './support/fakeClock.ts';
import { authKey, failureOf, json, profile, refusal, setUp, userId, withParts } from './support/httpApi.ts';

describe('a call of the relay', () => {
  it('carries the token and answers what the schema parsed', async () => {
    const { api, seen } = setUp(json(200, { ...profile, unknown: 'field' }));
    await expect(api.profile()).resolves.toEqual(profile);
    expect(seen).toEqual([
      {
        method: 'GET',
        url: 'https://relay.example/api/profile',
        authorization: 'Bearer header.payload.signature',
        type: null,
        proof: null,
        credentials: 'omit',
        body: undefined,
      },
    ]);
  });

  it('carries the proof of what it asks for, which is made of the very text that is sent', async () => {
    const { api, seen } = setUp(new Response(null, { status: 204 }), new Response(null, { status: 204 }));
    const proven: unknown[] = [];
    const prove = async (request: { operation: string; body: string }) => {
      proven.push(request);
      return 'proof';
    };
    await api.revokeDevice(userId, { statement: 'c3RhdGVtZW50' }, prove);
    await api.deleteAccount(prove);
    expect(proven).toEqual([
      { operation: `DELETE /devices/${userId}`, body: JSON.stringify(seen[0]?.body) },
      { operation: 'DELETE /user', body: '' },
    ]);
    expect(seen.map(({ proof }) => proof)).toEqual(['proof', 'proof']);
  });

  it('asks without credentials of the browser, whose headers it then takes no orders from', async () => {
    const { api, seen } = setUp(json(200, profile), new Response(null, { status: 204 }));
    await api.profile();
    await api.logout('of.the.session');
    expect(seen.map(({ credentials }) => credentials)).toEqual(['omit', 'omit']);
  });

  it('is not made when the person does not prove it', async () => {
    const { api, lines, seen } = setUp();
    await expect(api.deleteAccount(() => Promise.reject(cancelled()))).rejects.toMatchObject({
      code: 'cancelled',
    });
    expect(seen).toEqual([]);
    expect(lines).toEqual([]);
  });

  it('never carries a token to a public call', async () => {
    const { api, seen } = setUp(json(200, { salt: 'A'.repeat(22), opsLimit: 3, memLimit: 134_217_728 }));
    await api.authParams('anna');
    expect(seen.map(({ authorization }) => authorization)).toEqual([null]);
  });

  it('is not made without a token where it needs one', async () => {
    const { api, lines, seen, setToken } = setUp();
    setToken(null);
    await expect(api.listContacts()).rejects.toMatchObject({ status: 401, code: 'unauthenticated' });
    expect(seen).toEqual([]);
    expect(lines).toEqual([]);
  });

  it('that ends a session is made with its token, whatever is stored by then', async () => {
    const { api, seen, setToken } = setUp(new Response(null, { status: 204 }));
    setToken(null);
    await api.logout('of.the.session');
    expect(seen.map(({ authorization }) => authorization)).toEqual(['Bearer of.the.session']);
  });

  it('encodes what it puts into the path and the query', async () => {
    const { api, seen } = setUp(json(200, []), withParts(['content'], []));
    await api.searchUsers('å & b/?');
    await api.listUserMessages(userId, { after: 0, limit: 200 });
    expect(seen.map(({ url }) => new URL(url).search)).toEqual([
      '?q=%C3%A5+%26+b%2F%3F',
      '?after=0&limit=200',
    ]);
    expect(new URL(seen[1]?.url ?? '').pathname).toBe(`/api/messages/user/${userId}`);
  });

  it('brings a body of megabytes as it brings a short one', async () => {
    const accepted = { id: userId, seq: 7, epoch: 4, timestamp: '2026-03-01T12:00:00.000Z' };
    const { api, seen } = setUp(json(200, accepted), json(200, accepted));
    const body = { epoch: 3, commit: 'AQID', welcomes: [], groupInfo: 'AQID', signature: 'A'.repeat(86) };
    const long = { ...body, commit: 'AbC-'.repeat(2 ** 19) };
    await api.submitCommit(userId, body);
    await api.submitCommit(userId, long);
    expect(seen[0]?.body).toEqual(body);
    expect(JSON.stringify(seen[1]?.body) === JSON.stringify(long)).toBe(true);
    expect(seen.map(({ type }) => type)).toEqual([partsType, partsType]);
  });

  it('answers nothing for 204', async () => {
    const { api } = setUp(new Response(null, { status: 204 }));
    await expect(api.removeContact(userId)).resolves.toBeUndefined();
  });

  it.each([
    ['a field is missing', json(200, { id: userId })],
    ['the list is an object', json(200, { items: [] })],
    ['the body is no JSON', new Response('<html>', { status: 200 })],
    ['the body is empty', new Response('', { status: 200 })],
  ])('is refused as invalid-response when %s', async (_name, answer) => {
    const { api, lines } = setUp(answer);
    const error = await failureOf(api.listContacts());
    expect(error).toMatchObject({ name: 'ApiError', code: 'invalid-response', detail: null });
    expect(lines).toEqual([expect.stringContaining('invalid-response')]);
  });

  it("keeps the relay's code, sentence and epoch", async () => {
    const { api } = setUp(refusal(409, 'stale-epoch', 'The conversation has moved on.', { epoch: 7 }));
    const error = await failureOf(
      api.sendUserMessage(userId, { messageId: userId, epoch: 6, content: 'AAAA' }),
    );
    expect(error).toMatchObject({
      status: 409,
      code: 'stale-epoch',
      detail: 'The conversation has moved on.',
      epoch: 7,
    });
  });

  it.each([
    ['a page of a proxy', 502, new Response('<html>Bad gateway</html>', { status: 502 }), 'unavailable'],
    ['an empty answer', 500, new Response('', { status: 500 }), 'internal'],
    ['a detail that is a list', 422, json(422, { detail: [{ loc: ['body'] }] }), 'invalid-request'],
    ['a detail that goes on and on', 404, json(404, { detail: 'a'.repeat(301) }), 'not-found'],
    ['a detail of invisible marks', 403, json(403, { detail: '\u202e \n\u0007' }), 'forbidden'],
  ])('takes the status alone from %s', async (_name, status, answer, code) => {
    const { api } = setUp(answer);
    expect(await failureOf(api.listContacts())).toMatchObject({ status, code, detail: null });
  });

  it.each([
    [401, 'unauthenticated'],
    [403, 'forbidden'],
    [404, 'not-found'],
    [405, 'method-not-allowed'],
    [413, 'payload-too-large'],
    [429, 'rate-limited'],
    [409, 'invalid-request'],
    [500, 'internal'],
    [503, 'unavailable'],
    [504, 'unavailable'],
  ])("reads another server's sentence from a %i, and knows the failure as %s", async (status, code) => {
    const { api } = setUp(json(status, { detail: ' Not\n now,\u202e \u0000please. ', code: 'made-up' }));
    const error = await failureOf(api.listContacts());
    expect(error).toMatchObject({ status, code, detail: 'Not now, please.', isForeign: true });
    // Erasing and giving up on this relay's word mustn't happen on another's.
    expect(isApiError(error, 'not-found', 'forbidden', 'unauthenticated')).toBe(false);
  });

  it('is unreachable without a connection, and is not repeated', async () => {
    const { api, seen } = setUp('unreachable');
    const error = await failureOf(api.listContacts());
    expect(error).toBeInstanceOf(NetworkError);
    expect(error).toMatchObject({ code: 'unreachable' });
    expect(seen).toHaveLength(1);
  });

  it('times out after 30 seconds without an answer', async () => {
    const { api, clock } = setUp('never');
    const failure = failureOf(api.listContacts());
    await settled();
    await clock.advance(requestTimeoutMs);
    expect(await failure).toMatchObject({ name: 'NetworkError', code: 'timeout' });
    expect(clock.pending).toBe(0);
  });
});

describe('an answer of 401', () => {
  it('tells which token is worth nothing, who acts on it, and why', async () => {
    const { api, onUnauthenticated } = setUp(refusal(401, 'session-expired'), refusal(401, 'device-revoked'));
    await failureOf(api.listContacts());
    await failureOf(api.sendUserMessage(userId, { messageId: userId, epoch: 0, content: 'AAAA' }));
    expect(onUnauthenticated.mock.calls).toEqual([
      ['header.payload.signature', 'session', 'session-expired'],
      ['header.payload.signature', 'caller', 'device-revoked'],
    ]);
  });

  it('without a code of the relay ends the session as well', async () => {
    const { api, onUnauthenticated } = setUp(json(401, { detail: 'Not authenticated' }));
    await failureOf(api.listContacts());
    expect(onUnauthenticated.mock.calls).toEqual([
      ['header.payload.signature', 'session', 'unauthenticated'],
    ]);
  });

  it('at login is about the password, not about a session', async () => {
    const { api, onUnauthenticated } = setUp(refusal(401, 'wrong-credentials'));
    await failureOf(api.login({ email: 'anna', password: authKey }));
    expect(onUnauthenticated).not.toHaveBeenCalled();
  });
});

describe('the log of calls', () => {
  it.each([
    [401, 'session-expired', 'authentication-error'],
    [403, 'not-a-contact', 'permission-error'],
    [404, 'not-found', 'resource-not-found'],
    [500, 'internal', 'server-error'],
  ])('names a %i, whoever answers', async (status, code, event) => {
    const { api, lines } = setUp(refusal(status, code), json(status, { detail: 'No.' }));
    await failureOf(api.listContacts());
    await failureOf(api.listContacts());
    expect(lines).toEqual([expect.stringContaining(event), expect.stringContaining(event)]);
  });

  it('gives a hint about a message path that is not found', async () => {
    const { api, lines } = setUp(refusal(404, 'not-found'));
    await failureOf(api.listUserMessages(userId, { limit: 1 }));
    expect(lines[0]).toContain('hint=');
  });

  it('names an unreachable server', async () => {
    const { api, lines } = setUp('unreachable');
    await failureOf(api.listContacts());
    expect(lines).toEqual([expect.stringContaining('server-unreachable')]);
  });

  it('holds no id, token, body or sentence of the relay', async () => {
    const { api, lines } = setUp(refusal(403, 'not-a-contact', 'Anna is no contact.'), 'unreachable');
    await failureOf(api.sendUserMessage(userId, { messageId: userId, epoch: 0, content: 'c2VjcmV0' }));
    await failureOf(api.searchUsers('anna@example.org'));
    const text = lines.join('\n');
    for (const secret of [userId, 'header.payload', 'c2VjcmV0', 'Anna', 'example.org']) {
      expect(text).not.toContain(secret);
    }
  });
});
