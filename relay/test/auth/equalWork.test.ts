import type * as argon2Module from '@node-rs/argon2';
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';

// Counted rather than timed: two paths that do the same work take as long, on every machine and under any load.
type Argon2 = typeof argon2Module;
const argon2 = vi.hoisted(() => ({ calls: [] as { name: string; cost: string }[] }));
vi.mock('@node-rs/argon2', async (importOriginal) => {
  const real = await importOriginal<Argon2>();
  return {
    ...real,
    verify: (hash: string, password: string) => {
      argon2.calls.push({ name: 'verify', cost: hash.split('$').slice(0, 4).join('$') });
      return real.verify(hash, password);
    },
    hash: (password: string, options: object) => {
      argon2.calls.push({ name: 'hash', cost: JSON.stringify(options) });
      return real.hash(password, options);
    },
  };
});

const { base64Url, call, signUp, signUpBody, startTestRelay } = await import('../helpers.ts');
type TestRelay = Awaited<ReturnType<typeof startTestRelay>>;

let relay: TestRelay;
beforeAll(async () => {
  relay = await startTestRelay();
});
afterAll(() => relay.close());
beforeEach(() => {
  argon2.calls.length = 0;
});

/** The password hashing that a call costs the relay. */
async function workOf(path: string, body: unknown, status: number): Promise<unknown> {
  argon2.calls.length = 0;
  expect((await call(relay, 'POST', path, { body })).status).toBe(status);
  return [...argon2.calls];
}

const oneVerification = [{ name: 'verify', cost: '$argon2id$v=19$m=19456,t=2,p=1' }];

it('an unknown name, a wrong password and a right one cost one verification of the same cost', async () => {
  const person = await signUp(relay);
  const password = base64Url(32);
  for (const email of ['nobody', 'nobody@example.org', person.username, person.email]) {
    expect(await workOf('/login', { email, password }, 401)).toEqual(oneVerification);
  }
  const { username: email } = person;
  expect(await workOf('/login', { email, password: person.password }, 200)).toEqual(oneVerification);
});

it('a proof of an earlier log-in changes nothing about the cost of a verification', async () => {
  const person = await signUp(relay);
  const loginProof = base64Url(48);
  for (const email of ['nobody', person.username]) {
    const body = { email, password: base64Url(32), loginProof };
    expect(await workOf('/login', body, 401)).toEqual(oneVerification);
  }
});

it('a name or email that is taken costs a sign-up as much as one that is free', async () => {
  const person = await signUp(relay);
  const { username, email } = person;
  const free = await workOf('/register', signUpBody(), 201);
  expect(free).toHaveLength(1);
  expect(await workOf('/register', signUpBody({ username }), 409)).toEqual(free);
  expect(await workOf('/register', signUpBody({ email }), 409)).toEqual(free);
});

it('an unknown name, one without a recovery key and a wrong key cost one verification of the same cost', async () => {
  const [without, person] = [await signUp(relay), await signUp(relay)];
  const recoveryAuthKey = base64Url(32);
  const wraps = { passwordWrap: base64Url(73), recoveryWrap: base64Url(73) };
  const vault = { version: 0, sealedVault: base64Url(145), ...wraps, recoveryAuthKey };
  expect((await person.call('PUT', '/vault', vault)).status).toBe(200);
  for (const email of ['nobody', without.username, person.username, person.email]) {
    expect(await workOf('/recovery', { email, recoveryAuthKey: base64Url(32) }, 401)).toEqual(
      oneVerification,
    );
  }
  const { email } = person;
  expect(await workOf('/recovery', { email, recoveryAuthKey }, 200)).toEqual(oneVerification);
});
