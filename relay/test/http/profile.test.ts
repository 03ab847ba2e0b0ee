import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  type AccountData,
  type PasswordParams,
  type Profile,
  routes,
  type Vault,
} from '../../contract/index.ts';
import { createAccounts } from '../../src/accounts/accounts.ts';
import { createPasswords } from '../../src/auth/passwords.ts';
import { certificateOf, sessionOf, sessionSignature } from '../devices.ts';
import {
  base64Url,
  befriend,
  call,
  logIn,
  onAnotherDevice,
  type Person,
  type PersonOnDevice,
  rotatedVault,
  signUp,
  signUpOnDevice,
  startTestRelay,
  type TestRelay,
} from '../helpers.ts';
import { createClients } from '../mqtt/mqttClient.ts';
import { Tab } from '../presence/tab.ts';
import { proofHeaders, proofKeyOf } from '../proofs.ts';
import { recordEvents, recordSignals } from './conversation.ts';

const minute = 60 * 1000;
const day = 24 * 60 * minute;
let now = Date.parse('2026-03-01T12:00:00.000Z');
let relay: TestRelay;
let person: PersonOnDevice;
beforeAll(async () => {
  relay = await startTestRelay({ clock: () => now });
});
afterAll(() => relay.close());
beforeEach(async () => {
  person = await signUpOnDevice(relay);
});

type SignedIn = { access_token: string; user: Profile };
const expired = { status: 401, body: { code: 'session-expired' } };
const superseded = { status: 401, body: { code: 'password-changed' } };
const as = (token: string) => ({
  token,
  call: <T>(method: string, path: string, body?: unknown) =>
    call<T>(relay, method, path, { token, ...(body === undefined ? {} : { body }) }),
});
const passwordParams = () => ({ salt: base64Url(16), opsLimit: 4, memLimit: 268_435_456 });
const login = (name: string, password: string) =>
  call<SignedIn>(relay, 'POST', '/login', { body: { email: name, password } });

async function putVault(owner: Person, changes: object = {}) {
  const vault = {
    version: 0,
    sealedVault: base64Url(200),
    passwordWrap: base64Url(73),
    recoveryWrap: base64Url(73),
    ...changes,
  };
  const answer = await owner.call<{ version: number }>('PUT', '/vault', vault);
  if (answer.status !== 200) throw new Error(`storing the vault answered ${answer.status}`);
  return { ...vault, version: answer.body.version };
}

describe('the profile', () => {
  it('takes a new username and email, which are good for logging in from then on', async () => {
    const friend = await signUp(relay);
    await befriend(person, friend);
    const names = { username: `uusi${randomUUID().slice(0, 8)}`, email: `${randomUUID()}@example.org` };
    let answer: unknown;
    const events = await recordEvents(relay, [person, friend], async () => {
      answer = await person.call('PUT', '/users/me', names);
    });
    expect(answer).toMatchObject({
      status: 200,
      body: { id: person.id, ...names, full_name: names.username },
    });
    expect(events).toEqual([
      [person.id, { type: 'contacts', lists: ['contacts'] }],
      [friend.id, { type: 'contacts', lists: ['contacts'] }],
      [person.id, { type: 'account' }],
      [person.id, { type: 'account' }],
    ]);
    expect((await person.call('GET', '/profile')).body).toMatchObject(names);
    expect((await friend.call('GET', '/contacts')).body).toMatchObject([names]);
    for (const name of [names.username, names.email]) {
      expect((await login(name, person.password)).status).toBe(200);
    }
    expect((await login(person.username, person.password)).status).toBe(401);
    const salt = (await call<PasswordParams>(relay, 'GET', `/auth/params?identifier=${names.username}`)).body;
    expect(salt).toMatchObject({ salt: person.salt });
  });

  it('keeps a full name that the person has chosen', async () => {
    const named = await signUp(relay, { full_name: 'Aino Virtanen' });
    const names = { username: `uusi${randomUUID().slice(0, 8)}`, email: named.email };
    expect((await named.call('PUT', '/users/me', names)).body).toMatchObject({ full_name: 'Aino Virtanen' });
  });

  it("refuses somebody else's names, and takes one's own in another case", async () => {
    const other = await signUp(relay);
    const mine = { username: person.username, email: person.email };
    const update = (changes: object) => person.call('PUT', '/users/me', { ...mine, ...changes });
    expect(await update({ username: other.username.toUpperCase() })).toMatchObject({
      status: 409,
      body: { code: 'username-taken' },
    });
    expect(await update({ email: other.email.toUpperCase() })).toMatchObject({
      status: 409,
      body: { code: 'email-taken' },
    });
    expect((await person.call('GET', '/profile')).body).toMatchObject(mine);
    expect((await update({ username: person.username.toUpperCase() })).status).toBe(200);
  });

  it('gives a name to one of several who ask at once', async () => {
    const others = await Promise.all([signUp(relay), signUp(relay), signUp(relay)]);
    const username = `first${randomUUID().slice(0, 8)}`;
    const answers = await Promise.all(
      others.map((one) => one.call('PUT', '/users/me', { username, email: one.email })),
    );
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409, 409]);
  });
});

describe('the account’s own data', () => {
  it('include its open sessions, which are listed by themselves too', async () => {
    const begun = now;
    now += minute;
    const later = await logIn(relay, person);
    const { body } = await later.call<AccountData>('GET', '/users/me');
    expect(body).toEqual({
      profile: (await later.call('GET', '/profile')).body,
      asked_first: false,
      consented_at: '2026-03-01T12:00:00.000Z',
      discoverability: { found_by: 'both', shows_email: false },
      password_params: { salt: person.salt, opsLimit: 3, memLimit: 134_217_728 },
      sessions: [
        {
          id: sessionOf(person.token),
          device_id: person.deviceId,
          created_at: new Date(begun).toISOString(),
          last_seen_at: new Date(begun).toISOString(),
          expires_at: new Date(begun + 30 * day).toISOString(),
          current: false,
        },
        {
          id: sessionOf(later.token),
          device_id: null,
          created_at: new Date(now).toISOString(),
          last_seen_at: new Date(now).toISOString(),
          // One without a device ends soon.
          expires_at: new Date(now + 15 * minute).toISOString(),
          current: true,
        },
      ],
    });
    expect((await later.call('GET', '/sessions')).body).toEqual(body.sessions);
  });
});

describe('changing the password', () => {
  const change = (changes: object = {}) => ({
    currentPassword: person.password,
    password: base64Url(32),
    passwordParams: passwordParams(),
    passwordProofKey: base64Url(32),
    vault: rotatedVault(1, base64Url(73)),
    ...changes,
  });

  it('takes the new one with its parameters and the vault under it, and no longer the old one', async () => {
    await putVault(person);
    const body = change();
    expect(await person.call('PUT', '/users/me/password', body)).toMatchObject({
      status: 200,
      body: { version: 2 },
    });
    expect((await login(person.username, person.password)).status).toBe(401);
    expect((await login(person.username, body.password)).status).toBe(200);
    const after = { ...person, password: body.password };
    const renewed = await logIn(relay, after);
    expect((await renewed.call('GET', '/vault')).body).toEqual({
      version: 2,
      sealedVault: body.vault.sealedVault,
      hasRecoveryKey: true,
    });
    expect((await renewed.call('GET', '/vault/wraps')).body).toEqual({
      passwordWrap: body.vault.passwordWrap,
      recoveryWrap: body.vault.recoveryWrap,
    });
    const params = await call(relay, 'GET', `/auth/params?identifier=${person.username}`);
    expect(params.body).toEqual(body.passwordParams);
  });

  it('ends every other session at once, on open connections too', async () => {
    await putVault(person);
    const others = [await onAnotherDevice(relay, person), await logIn(relay, person)];
    const ids = await Promise.all(
      others.map(async ({ token }) => (await relay.relay.services.sessions.verify(token)).id),
    );
    const signals = await recordSignals(relay, () => person.call('PUT', '/users/me/password', change()));
    const ended = signals.map((signal) => signal.type === 'session-ended' && signal.sessionId);
    expect(new Set(ended)).toEqual(new Set(ids));
    for (const other of others) expect(await other.call('GET', '/profile')).toMatchObject(superseded);
    expect((await person.call('GET', '/profile')).status).toBe(200);
  });

  it('is refused without the right current one', async () => {
    await putVault(person);
    for (const currentPassword of [undefined, base64Url(32)]) {
      expect(await person.call('PUT', '/users/me/password', change({ currentPassword }))).toMatchObject({
        status: 403,
        body: { code: 'wrong-password' },
      });
    }
    expect((await login(person.username, person.password)).status).toBe(200);
    expect((await person.call<Vault>('GET', '/vault')).body.version).toBe(1);
  });

  it('is refused for another version of the vault than the stored one', async () => {
    const stale = (version: number) => ({ status: 409, body: { code: 'stale-version', version } });
    expect(await person.call('PUT', '/users/me/password', change())).toMatchObject(stale(0));
    await putVault(person);
    expect(await person.call('PUT', '/users/me/password', change({ vault: rotatedVault(2) }))).toMatchObject(
      stale(1),
    );
    expect((await login(person.username, person.password)).status).toBe(200);
  });

  it('leaves no session that the old password has opened meanwhile', async () => {
    await putVault(person);
    const { services, database } = relay.relay;
    const real = await createPasswords(new Uint8Array(32));
    const accounts = createAccounts({
      db: database.db,
      hub: services.hub,
      clock: () => now,
      sessions: services.sessions,
      blobs: services.blobs,
      loginThrottle: { proofFor: () => '', attempt: (_attempt, check) => check() },
      passwords: {
        ...real,
        // The password is found right, and replaced before the session is there.
        verify: async (hash, authKey) => {
          const matches = await real.verify(hash, authKey);
          await person.call('PUT', '/users/me/password', change());
          return matches;
        },
      },
    });
    const from = { address: '192.0.2.1', loginProof: undefined, proofKey: null };
    await expect(accounts.login(person.username, person.password, from)).rejects.toMatchObject({
      code: 'wrong-credentials',
    });
    expect((await person.call<AccountData>('GET', '/users/me')).body.sessions).toHaveLength(1);
  });

  it('is slowed down for whoever guesses with a stolen token', async () => {
    await putVault(person);
    const statuses: number[] = [];
    for (let count = 0; count < 60 && !statuses.includes(429); count++) {
      const body = change({ currentPassword: base64Url(32) });
      statuses.push((await person.call('PUT', '/users/me/password', body)).status);
    }
    expect(new Set(statuses)).toEqual(new Set([403, 429]));
    expect((await login(person.username, person.password)).status).toBe(200);
  });
});

describe('recovering an account', () => {
  const recover = (name: string, recoveryAuthKey: string) =>
    call<SignedIn>(relay, 'POST', '/recovery', { body: { email: name, recoveryAuthKey } });

  it('signs in for long enough to open the vault and set a new password', async () => {
    const recoveryAuthKey = base64Url(32);
    const recoveryProofKey = proofKeyOf(recoveryAuthKey);
    const vault = await putVault(person, { recoveryAuthKey, recoveryProofKey });
    for (const name of [person.username, person.email.toUpperCase()]) {
      const { status, body } = await recover(name, recoveryAuthKey);
      expect(status).toBe(200);
      expect(body.user.id).toBe(person.id);
    }
    const session = as((await recover(person.username, recoveryAuthKey)).body.access_token);
    expect((await session.call('GET', '/vault/wraps')).body).toMatchObject({
      recoveryWrap: vault.recoveryWrap,
    });
    const password = base64Url(32);
    const body = {
      password,
      passwordParams: passwordParams(),
      passwordProofKey: proofKeyOf(password),
      vault: rotatedVault(1),
    };
    const change = { method: 'PUT', path: '/users/me/password', body };
    const byRecovery = { token: session.token, authKey: recoveryAuthKey, key: 'recovery' } as const;
    const headers = await proofHeaders(relay, byRecovery, change);
    expect(
      await call(relay, 'PUT', '/users/me/password', { token: session.token, body, headers }),
    ).toMatchObject({ status: 200 });
    // From then on it is a session like any other, which takes a device to last, and the only one.
    expect((await session.call('GET', '/contacts')).status).toBe(200);
    expect(await person.call('GET', '/profile')).toMatchObject(superseded);
    expect((await login(person.username, password)).status).toBe(200);
    expect((await login(person.username, person.password)).status).toBe(401);
    now += 14 * minute;
    const id = randomUUID();
    const certificate = certificateOf(person.id, id);
    const device = { name: 'A browser', certificate, signature: sessionSignature(session.token, id) };
    expect((await session.call('PUT', `/devices/${id}`, device)).status).toBe(200);
    now += 29 * day;
    expect((await session.call('GET', '/contacts')).status).toBe(200);
    now -= 29 * day + 14 * minute;
  });

  it('opens nothing else, neither by REST nor by MQTT nor on the presence socket', async () => {
    const recoveryAuthKey = base64Url(32);
    await putVault(person, { recoveryAuthKey });
    const token = (await recover(person.username, recoveryAuthKey)).body.access_token;
    const allowed = new Set([
      '/profile',
      '/proof-nonce',
      '/vault',
      '/vault/wraps',
      '/logout',
      '/users/me/password',
    ]);
    for (const { method, paths, access } of Object.values(routes)) {
      const path = paths[0].replace(/\{conversationId\}/, `group:${randomUUID()}`);
      const isOpen = allowed.has(path) && `${method} ${path}` !== 'PUT /vault';
      if (access === 'public' || isOpen) continue;
      const answer = await call(relay, method, path.replace(/\{\w+\}/g, randomUUID()), { token });
      expect([path, answer.status, answer.body.code]).toEqual([path, 403, 'forbidden']);
    }
    const clients = createClients();
    await expect(clients.connect(relay.mqttUrl, { token })).rejects.toMatchObject({ code: 0x87 });
    await clients.endAll();
    const tab = await Tab.open(relay);
    tab.send({ userId: person.id, online: true, token });
    expect(await tab.closed).toBe(4401);
    expect((await as(token).call('POST', '/logout')).status).toBe(204);
    expect(await as(token).call('GET', '/vault')).toMatchObject(expired);
  });

  it('ends after a quarter of an hour unless the password is set', async () => {
    const recoveryAuthKey = base64Url(32);
    await putVault(person, { recoveryAuthKey });
    const session = as((await recover(person.username, recoveryAuthKey)).body.access_token);
    now += 15 * 60_000 - 1;
    expect((await session.call('GET', '/vault')).status).toBe(200);
    now += 1;
    expect(await session.call('GET', '/vault')).toMatchObject(expired);
  });

  it('answers a wrong key, an unknown name and a person without a recovery key in the same words', async () => {
    await putVault(person, { recoveryAuthKey: base64Url(32) });
    const without = await signUp(relay);
    const wrong = await recover(person.username, base64Url(32));
    expect(wrong).toMatchObject({ status: 401, body: { code: 'wrong-credentials' } });
    for (const name of ['nobody-at-all', without.username]) {
      expect(await recover(name, base64Url(32))).toMatchObject({ status: 401, body: wrong.body });
    }
  });

  it('keeps the key while the vault has a recovery wrap, takes a new one, and forgets it with the wrap', async () => {
    const [first, second] = [base64Url(32), base64Url(32)];
    const isGood = async (key: string) => (await recover(person.username, key)).status === 200;
    await putVault(person, { recoveryAuthKey: first });
    await putVault(person, { version: 1 });
    expect(await isGood(first)).toBe(true);
    await putVault(person, { version: 2, recoveryAuthKey: second });
    expect([await isGood(first), await isGood(second)]).toEqual([false, true]);
    await putVault(person, { version: 3, recoveryWrap: null });
    expect(await isGood(second)).toBe(false);
  });

  it('counts guesses apart from log-ins', async () => {
    const recoveryAuthKey = base64Url(32);
    await putVault(person, { recoveryAuthKey });
    const statuses: number[] = [];
    for (let count = 0; count < 60 && !statuses.includes(429); count++) {
      statuses.push((await recover(person.username, base64Url(32))).status);
    }
    expect(new Set(statuses)).toEqual(new Set([401, 429]));
    expect((await login(person.username, person.password)).status).toBe(200);
  });
});
