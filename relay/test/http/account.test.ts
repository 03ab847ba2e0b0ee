import { randomUUID } from 'node:crypto';
import { SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PasswordParams, Profile, UserSummary, Vault, VaultWraps } from '../../contract/index.ts';
import {
  base64Url,
  call,
  logIn,
  type Person,
  signUp,
  signUpBody,
  signUpOnDevice,
  startTestRelay,
  type TestRelay,
} from '../helpers.ts';
import { recordSignals } from './conversation.ts';

const day = 24 * 60 * 60 * 1000;
let now = Date.parse('2026-03-01T12:00:00.000Z');
let relay: TestRelay;
beforeAll(async () => {
  relay = await startTestRelay({ clock: () => now });
});
afterAll(() => relay.close());

describe('signing up', () => {
  it.each(['/register', '/signup', '/auth/register', '/auth/signup'])(
    'creates an account at %s',
    async (path) => {
      const body = signUpBody({ full_name: 'Aino Virtanen' });
      const answer = await call<{ access_token: string; user: Profile }>(relay, 'POST', path, { body });
      expect(answer.status).toBe(201);
      expect(answer.body.user).toEqual({
        id: expect.any(String),
        username: body.username,
        email: body.email,
        full_name: 'Aino Virtanen',
        created_at: new Date(now).toISOString(),
      });
      expect(answer.body.access_token.split('.')).toHaveLength(3);
    },
  );

  it('takes the username for the full name', async () => {
    const person = await signUp(relay);
    const profile = await person.call<Profile>('GET', '/profile');
    expect(profile.body.full_name).toBe(person.username);
  });

  it('refuses a username that differs by case or encoding only', async () => {
    const suffix = randomUUID().slice(0, 8);
    await signUp(relay, { username: `Zoë${suffix}` });
    for (const username of [`ZOË${suffix}`, `zoe\u0308${suffix}`.normalize('NFC'), `ｚoë${suffix}`]) {
      const answer = await call(relay, 'POST', '/register', { body: signUpBody({ username }) });
      expect(answer).toMatchObject({ status: 409, body: { code: 'username-taken' } });
    }
  });

  it('refuses an email that differs by case only', async () => {
    const person = await signUp(relay);
    const body = signUpBody({ email: person.email.toUpperCase() });
    const answer = await call(relay, 'POST', '/register', { body });
    expect(answer).toMatchObject({ status: 409, body: { code: 'email-taken' } });
  });

  it('gives a name to exactly one of several who ask at once', async () => {
    const bodies = Array.from({ length: 5 }, (_, index) =>
      signUpBody({ username: 'first-come', email: `first${index}@example.org` }),
    );
    const answers = await Promise.all(bodies.map((body) => call(relay, 'POST', '/register', { body })));
    expect(answers.map((answer) => answer.status).toSorted((a, b) => a - b)).toEqual([
      201, 409, 409, 409, 409,
    ]);
  });

  it.each([
    ['username', { username: 'a' }],
    ['username', { username: 'has space' }],
    ['username', { username: 'ab\u3164' }],
    ['username', { username: 'ab\u200bcd' }],
    ['email', { email: 'nobody' }],
    ['password', { password: 'correct horse battery staple' }],
    ['password', { password: base64Url(33) }],
    ['passwordParams.salt', { passwordParams: { salt: base64Url(8), opsLimit: 3, memLimit: 8192 } }],
    ['full_name', { full_name: 'a\0b' }],
    ['full_name', { full_name: 'a\ud800b' }],
    [
      'consent.privacyConsent',
      { consent: { privacyConsent: false, consentTimestamp: '2026-03-01T12:00:00Z' } },
    ],
    ['consent', { consent: undefined }],
  ])('refuses a bad %s and names it', async (field, override) => {
    const answer = await call(relay, 'POST', '/register', { body: signUpBody(override) });
    expect(answer).toMatchObject({ status: 422, body: { code: 'invalid-request' } });
    expect(answer.body.detail).toMatch(new RegExp(`^${field}: `));
  });

  it('says in English how a field is wrong', async () => {
    const answer = await call(relay, 'POST', '/register', { body: signUpBody({ username: 'a' }) });
    expect(answer.body.detail).toBe('username: Too small: expected string to have >=2 characters');
  });
});

describe('logging in', () => {
  it.each(['/login/email', '/login', '/auth/login'])('takes a username or an email at %s', async (path) => {
    const person = await signUp(relay);
    for (const email of [person.username, person.email.toUpperCase(), ` ${person.username} `]) {
      const body = { email, password: person.password };
      const answer = await call<{ user: Profile }>(relay, 'POST', path, { body });
      expect(answer).toMatchObject({ status: 200, body: { user: { id: person.id } } });
    }
  });

  it('answers a wrong password and an unknown name in the same words', async () => {
    const person = await signUp(relay);
    const wrong = await call(relay, 'POST', '/login', {
      body: { email: person.username, password: base64Url(32) },
    });
    const unknown = await call(relay, 'POST', '/login', {
      body: { email: 'nobody-at-all', password: base64Url(32) },
    });
    expect(wrong).toMatchObject({ status: 401, body: { code: 'wrong-credentials' } });
    expect(unknown.status).toBe(wrong.status);
    expect(unknown.body).toEqual(wrong.body);
  });
});

describe('password parameters', () => {
  const params = (identifier: string) =>
    call<PasswordParams>(relay, 'GET', `/auth/params?identifier=${encodeURIComponent(identifier)}`);

  it('are those of the sign-up, by username and by email', async () => {
    const person = await signUp(relay);
    const expected = { salt: person.salt, opsLimit: 3, memLimit: 134_217_728 };
    expect((await params(person.username)).body).toEqual(expected);
    expect((await params(person.email.toUpperCase())).body).toEqual(expected);
  });

  it('are made up for unknown names, stable and of the same shape', async () => {
    const person = await signUp(relay);
    const real = await params(person.username);
    const unknown = await params('Nobody');
    expect(unknown.status).toBe(real.status);
    expect(Object.keys(unknown.body)).toEqual(Object.keys(real.body));
    expect(unknown.body).toMatchObject({ opsLimit: 3, memLimit: 134_217_728 });
    expect(unknown.body.salt).toHaveLength(real.body.salt.length);
    expect((await params('nobody')).body).toEqual(unknown.body);
    expect((await params('nobody-else')).body.salt).not.toBe(unknown.body.salt);
  });

  it('are refused without a name', async () => {
    expect(await params('')).toMatchObject({ status: 422, body: { code: 'invalid-request' } });
    expect(await call(relay, 'GET', '/auth/params')).toMatchObject({ status: 422 });
  });
});

describe('sessions', () => {
  it('end at once when one logs out, and no other session with them', async () => {
    const first = await signUp(relay);
    const second = await logIn(relay, first);
    expect((await first.call('POST', '/logout')).status).toBe(204);
    expect(await first.call('GET', '/profile')).toMatchObject({
      status: 401,
      body: { code: 'session-expired', detail: 'Session expired. Please login again.' },
    });
    expect((await second.call('GET', '/profile')).status).toBe(200);
  });

  it('signal their end to the live connections', async () => {
    const person = await signUp(relay);
    const { id } = await relay.relay.services.sessions.verify(person.token);
    const signals = await recordSignals(relay, () => person.call('POST', '/logout'));
    expect(signals).toEqual([{ type: 'session-ended', sessionId: id, code: 'session-expired' }]);
  });

  it.each([
    { of: 'a device', lifetime: 30 * day, signUpSomehow: signUpOnDevice },
    { of: 'a log-in that has registered no device', lifetime: day / 96, signUpSomehow: signUp },
  ])('of $of expire after $lifetime ms', async ({ lifetime, signUpSomehow }) => {
    const person = await signUpSomehow(relay);
    const start = now;
    now = start + lifetime - 1000;
    expect((await person.call('GET', '/profile')).status).toBe(200);
    now = start + lifetime;
    expect(await person.call('GET', '/profile')).toMatchObject({
      status: 401,
      body: { code: 'session-expired' },
    });
    now = start;
  });

  it('are refused without a token that this relay has signed', async () => {
    const person = await signUp(relay);
    const [header, payload, signature] = person.token.split('.') as [string, string, string];
    const none = Buffer.from('{"alg":"none","typ":"JWT"}').toString('base64url');
    const foreign = await new SignJWT({ sid: randomUUID() })
      .setProtectedHeader({ alg: 'HS256' })
      .setSubject(person.id)
      .setExpirationTime('1h')
      .sign(new Uint8Array(32));
    const tokens = [
      'x',
      'a.b.c',
      `${none}.${payload}.`,
      `${header}.${payload}.${signature.slice(0, -2)}`,
      foreign,
    ];
    for (const token of tokens) {
      const answer = await call(relay, 'GET', '/profile', { token });
      expect(answer).toMatchObject({ status: 401, body: { code: 'unauthenticated' } });
      expect(answer.headers.get('www-authenticate')).toBe('Bearer');
    }
    for (const authorization of ['', 'Bearer', `Basic ${person.token}`, person.token]) {
      const answer = await call(relay, 'GET', '/profile', { headers: { authorization } });
      expect(answer).toMatchObject({ status: 401, body: { code: 'unauthenticated' } });
    }
  });
});

describe('the vault', () => {
  const vault = (version: number) => ({
    version,
    sealedVault: base64Url(145),
    passwordWrap: base64Url(73),
    recoveryWrap: version === 0 ? null : base64Url(73),
  });
  /** Reads the stored names as the two calls give them. */
  const stored = async (person: Person) => ({
    ...(await person.call<Vault>('GET', '/vault')).body,
    ...(await person.call<VaultWraps>('GET', '/vault/wraps')).body,
  });

  it('is stored, read back and replaced by version', async () => {
    const person = await signUp(relay);
    expect(await person.call('GET', '/vault')).toMatchObject({ status: 404, body: { code: 'not-found' } });
    const first = vault(0);
    expect(await person.call('PUT', '/vault', first)).toMatchObject({ status: 200, body: { version: 1 } });
    expect(await stored(person)).toEqual({ ...first, version: 1, hasRecoveryKey: false });
    const second = vault(1);
    expect(await person.call('PUT', '/vault', second)).toMatchObject({ status: 200, body: { version: 2 } });
    expect(await stored(person)).toEqual({ ...second, version: 2, hasRecoveryKey: true });
  });

  it('keeps the wraps that a change leaves out', async () => {
    const person = await signUp(relay);
    const first = { ...vault(0), recoveryWrap: base64Url(73) };
    await person.call('PUT', '/vault', first);
    const sealedVault = base64Url(200);
    expect((await person.call('PUT', '/vault', { version: 1, sealedVault })).status).toBe(200);
    expect(await stored(person)).toEqual({ ...first, sealedVault, version: 2, hasRecoveryKey: true });
  });

  it('has a password wrap from the first on', async () => {
    const person = await signUp(relay);
    expect(await person.call('PUT', '/vault', { ...vault(0), passwordWrap: undefined })).toMatchObject({
      status: 422,
      body: { code: 'invalid-request' },
    });
  });

  it('is not overwritten from a version that has moved', async () => {
    const person = await signUp(relay);
    expect(await person.call('PUT', '/vault', vault(3))).toMatchObject({
      status: 409,
      body: { code: 'stale-version', version: 0 },
    });
    const answers = await Promise.all([1, 2, 3].map(() => person.call('PUT', '/vault', vault(0))));
    expect(answers.map((answer) => answer.status).toSorted((a, b) => a - b)).toEqual([200, 409, 409]);
    expect(await person.call('PUT', '/vault', vault(0))).toMatchObject({
      status: 409,
      body: { code: 'stale-version', version: 1 },
    });
  });

  it('is not shown to anybody else', async () => {
    const [one, other] = [await signUp(relay), await signUp(relay)];
    await one.call('PUT', '/vault', vault(0));
    expect((await other.call('GET', '/vault')).status).toBe(404);
  });
});

describe('the search for people', () => {
  const search = async (
    person: { call: Awaited<ReturnType<typeof signUp>>['call'] },
    q: string,
    path = '/users/search',
  ) =>
    (await person.call<UserSummary[]>('GET', `${path}?q=${encodeURIComponent(q)}`)).body.map(
      (user) => user.username,
    );

  it('finds part of a username in any case, or a whole email, and never oneself', async () => {
    const one = await signUp(relay, { username: 'Searcher.One' });
    const two = await signUp(relay, { username: 'searcher.two' });
    expect(await search(one, 'EARCHER')).toEqual(['searcher.two']);
    expect(await search(one, 'earcher', '/search')).toEqual(['searcher.two']);
    expect(await search(one, two.email)).toEqual(['searcher.two']);
    expect(await search(one, two.email.slice(0, -1))).toEqual([]);
  });

  it('takes the pattern characters of SQL for what they are', async () => {
    const one = await signUp(relay);
    await signUp(relay, { username: 'under_score' });
    await signUp(relay, { username: 'underXscore' });
    expect(await search(one, 'under_s')).toEqual(['under_score']);
    expect(await search(one, '%%')).toEqual([]);
    expect(await search(one, '\\_')).toEqual([]);
  });

  it('shows the exact name first and twenty at most', async () => {
    const one = await signUp(relay);
    for (let index = 10; index < 32; index++) await signUp(relay, { username: `a${index}crowd` });
    await signUp(relay, { username: 'crowd' });
    const found = await search(one, 'crowd');
    expect(found).toHaveLength(20);
    expect(found[0]).toBe('crowd');
  });

  it('is refused for fewer than two characters', async () => {
    const one = await signUp(relay);
    expect(await one.call('GET', '/users/search?q=%20a%20')).toMatchObject({
      status: 422,
      body: { code: 'invalid-request' },
    });
  });
});
