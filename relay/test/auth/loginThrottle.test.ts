import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  base64Url,
  call,
  type Person,
  rotatedVault,
  signUp,
  startTestRelay,
  type TestRelay,
} from '../helpers.ts';

interface LoggedIn {
  readonly access_token: string;
  readonly loginProof: string;
}

let now: number;
let relay: TestRelay;
let victim: Person;
beforeEach(async () => {
  now = Date.parse('2026-03-01T12:00:00.000Z');
});
afterEach(() => relay.close());

async function relayWith(limits: string): Promise<void> {
  relay = await startTestRelay({
    environment: {
      RATE_LIMITS: `sign-up.address=off,${limits}`,
      TRUST_PROXY: 'true',
    },
    clock: () => now,
  });
  victim = await signUp(relay);
}

function logIn(name: string, password: string, address: string, loginProof?: string) {
  const body = { email: name, password, ...(loginProof === undefined ? {} : { loginProof }) };
  return call<LoggedIn>(relay, 'POST', '/login', { body, headers: { 'x-forwarded-for': address } });
}
const guess = (name: string, address: string, loginProof?: string) =>
  logIn(name, base64Url(32), address, loginProof);

/** Counts the guesses that are answered as wrong before one is refused. */
async function guessesLeft(try_: () => Promise<{ status: number }>): Promise<number> {
  for (let count = 0; count < 100; count++) {
    const { status } = await try_();
    if (status === 429) return count;
    expect(status).toBe(401);
  }
  throw new Error('never refused');
}
const randomAddress = () => `2001:db8:${randomUUID().slice(0, 4)}:${randomUUID().slice(0, 4)}::1`;

describe('guesses at a password', () => {
  it('from one address at one account are limited', async () => {
    await relayWith('login.address-account=3/30s');
    const [here, elsewhere] = ['203.0.113.5', '203.0.113.6'];
    expect(await guessesLeft(() => guess(victim.username, here))).toBe(3);
    const refused = await logIn(victim.username, victim.password, here);
    expect(refused).toMatchObject({ status: 429, body: { code: 'rate-limited', retryAfter: 10 } });
    expect(refused.headers.get('retry-after')).toBe('10');
    expect((await guess((await signUp(relay)).username, here)).status).toBe(401);
    expect((await logIn(victim.username, victim.password, elsewhere)).status).toBe(200);
    now += 10_000;
    expect((await logIn(victim.username, victim.password, here)).status).toBe(200);
  });

  it('by the username and by the email are guesses at one account', async () => {
    await relayWith('login.address-account=3/30s');
    const names = [victim.username, victim.email, victim.username.toUpperCase(), victim.email];
    const statuses = [];
    for (const name of names) statuses.push((await guess(name, '203.0.113.5')).status);
    expect(statuses).toEqual([401, 401, 401, 429]);
  });

  it('from one address at many accounts are limited', async () => {
    await relayWith('login.address=5/50s');
    expect(await guessesLeft(() => guess(`user${randomUUID().slice(0, 8)}`, '203.0.113.5'))).toBe(5);
    expect((await guess(victim.username, '203.0.113.5')).status).toBe(429);
    expect((await guess(victim.username, '203.0.113.6')).status).toBe(401);
  });

  it('from many addresses at one account are limited', async () => {
    await relayWith('login.account=6/60s');
    expect(await guessesLeft(() => guess(victim.username, randomAddress()))).toBe(6);
    expect((await guess((await signUp(relay)).username, randomAddress())).status).toBe(401);
    now += 10_000;
    expect(await guessesLeft(() => guess(victim.username, randomAddress()))).toBe(1);
  });

  it('at names that nobody has are limited in the same way', async () => {
    await relayWith('login.account=6/60s,login.address-account=3/30s');
    for (const name of [victim.username, 'nobody-at-all', 'nobody@example.org']) {
      expect(await guessesLeft(() => guess(name, '203.0.113.5'))).toBe(3);
      expect(await guessesLeft(() => guess(name, randomAddress()))).toBe(3);
    }
  });

  it('that are made at the same time are as limited as those one after another', async () => {
    await relayWith('login.address-account=3/1h');
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => guess(victim.username, '203.0.113.5')),
    );
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(3);
  });
});

describe('logging in with the right password', () => {
  it('does not count as a guess', async () => {
    await relayWith('login.address-account=2/1h,login.address=2/1h,login.account=2/1h,login.browser=2/1h');
    let loginProof: string | undefined;
    for (let time = 0; time < 6; time++) {
      const answer = await logIn(victim.username, victim.password, '203.0.113.5', loginProof);
      expect(answer.status).toBe(200);
      if (time > 2) loginProof = answer.body.loginProof;
    }
  });

  it('does not wipe out the guesses before it', async () => {
    await relayWith('login.address-account=3/1h');
    await guess(victim.username, '203.0.113.5');
    await guess(victim.username, '203.0.113.5');
    expect((await logIn(victim.username, victim.password, '203.0.113.5')).status).toBe(200);
    expect(await guessesLeft(() => guess(victim.username, '203.0.113.5'))).toBe(1);
  });
});

describe('a browser that has logged in before', () => {
  const limits = 'login.address-account=3/1h,login.address=20/1h,login.account=6/1h,login.browser=4/40s';

  it('gets in however many guess at its account, from wherever', async () => {
    await relayWith(limits);
    const home = '203.0.113.5';
    const { loginProof } = (await logIn(victim.username, victim.password, home)).body;
    // Strangers all over the world, and somebody behind the same address.
    await guessesLeft(() => guess(victim.username, randomAddress()));
    await guessesLeft(() => guess(`user${randomUUID().slice(0, 8)}`, home));
    expect((await logIn(victim.username, victim.password, home)).status).toBe(429);
    expect((await logIn(victim.username, victim.password, home, loginProof)).status).toBe(200);
    expect((await logIn(victim.email, victim.password, randomAddress(), loginProof)).status).toBe(200);
  });

  it('is recognised by the proof of its sign-up too', async () => {
    await relayWith('login.account=1/1h');
    const body = { username: 'proven', email: 'proven@example.org', password: base64Url(32) };
    const rest = {
      passwordParams: { salt: base64Url(16), opsLimit: 3, memLimit: 134_217_728 },
      consent: { privacyConsent: true, consentTimestamp: '2026-03-01T12:00:00.000Z' },
    };
    const signedUp = await call<LoggedIn>(relay, 'POST', '/register', { body: { ...body, ...rest } });
    await guessesLeft(() => guess('proven', randomAddress()));
    expect((await logIn('proven', body.password, randomAddress(), signedUp.body.loginProof)).status).toBe(
      200,
    );
  });

  it('has a few guesses of its own, which nobody else shares', async () => {
    await relayWith(limits);
    const proofs: string[] = [];
    for (const address of ['203.0.113.5', '203.0.113.6']) {
      proofs.push((await logIn(victim.username, victim.password, address)).body.loginProof);
    }
    expect(await guessesLeft(() => guess(victim.username, randomAddress(), proofs[0]))).toBe(4);
    expect((await logIn(victim.username, victim.password, randomAddress(), proofs[0])).status).toBe(429);
    expect((await logIn(victim.username, victim.password, randomAddress(), proofs[1])).status).toBe(200);
    now += 10_000;
    expect((await logIn(victim.username, victim.password, randomAddress(), proofs[0])).status).toBe(200);
  });

  it('is known by nothing else: other proofs count as none', async () => {
    await relayWith('login.account=1/1h,login.browser=off');
    const stranger = await signUp(relay);
    const own = (await logIn(victim.username, victim.password, '203.0.113.5')).body.loginProof;
    const others = (await logIn(stranger.username, stranger.password, '203.0.113.5')).body.loginProof;
    const forged = Buffer.from(own, 'base64url');
    forged[0] = (forged[0] ?? 0) ^ 1;
    await guessesLeft(() => guess(victim.username, randomAddress()));
    for (const proof of [others, forged.toString('base64url'), base64Url(48)]) {
      expect((await logIn(victim.username, victim.password, '203.0.113.5', proof)).status).toBe(429);
    }
    expect((await logIn(victim.username, victim.password, '203.0.113.5', own)).status).toBe(200);
    // A name that nobody has answers alike, with a proof too.
    await guessesLeft(() => guess('nobody', randomAddress()));
    expect((await guess('nobody', randomAddress(), own)).status).toBe(429);
  });

  it('still needs the password', async () => {
    await relayWith(limits);
    const { loginProof } = (await logIn(victim.username, victim.password, '203.0.113.5')).body;
    expect(await guess(victim.username, '203.0.113.5', loginProof)).toMatchObject({
      status: 401,
      body: { code: 'wrong-credentials' },
    });
  });

  it('holds a proof that says nothing about anybody', async () => {
    await relayWith(limits);
    const one = (await logIn(victim.username, victim.password, '203.0.113.5')).body.loginProof;
    const two = (await logIn(victim.username, victim.password, '203.0.113.5')).body.loginProof;
    const [first, second] = [Buffer.from(one, 'base64url'), Buffer.from(two, 'base64url')];
    expect([first.length, second.length]).toEqual([48, 48]);
    expect(first.subarray(0, 16)).not.toEqual(second.subarray(0, 16));
    expect(first.subarray(16)).not.toEqual(second.subarray(16));
  });
});

describe('the recovery of an account', () => {
  const recover = (name: string, address: string) =>
    call(relay, 'POST', '/recovery', {
      body: { email: name, recoveryAuthKey: base64Url(32) },
      headers: { 'x-forwarded-for': address },
    });

  it('is limited by address, and no stranger can use it up for its owner', async () => {
    await relayWith('login.address-account=3/1h,login.account=6/1h');
    for (const name of [victim.username, 'nobody']) {
      expect(await guessesLeft(() => recover(name, '203.0.113.5'))).toBe(3);
      for (let stranger = 0; stranger < 12; stranger++) {
        expect((await recover(name, randomAddress())).status).toBe(401);
      }
    }
  });

  it('that is tried too often keeps nobody from logging in', async () => {
    await relayWith('login.address-account=3/1h,login.account=6/1h');
    await guessesLeft(() => recover(victim.username, '203.0.113.5'));
    expect((await logIn(victim.username, victim.password, '203.0.113.5')).status).toBe(200);
  });
});

describe('whoever holds a token', () => {
  it('can not guess the password by changing it', async () => {
    await relayWith('login.address-account=3/1h');
    const change = () =>
      victim.call('PUT', '/users/me/password', {
        currentPassword: base64Url(32),
        password: base64Url(32),
        passwordParams: { salt: base64Url(16), opsLimit: 3, memLimit: 134_217_728 },
        passwordProofKey: base64Url(32),
        vault: rotatedVault(1),
      });
    const codes = [];
    for (let time = 0; time < 4; time++) codes.push((await change()).body.code);
    expect(codes).toEqual(['wrong-password', 'wrong-password', 'wrong-password', 'rate-limited']);
    expect((await logIn(victim.username, victim.password, '127.0.0.1')).status).toBe(200);
  });
});
