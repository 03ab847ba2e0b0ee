import { beforeEach, describe, expect, it, type Mock, vi } from 'vitest';
import type { CryptoApi } from '../../../../src/crypto/client.ts';
import type { Api } from '../../../../src/net/api.ts';
import { NetworkError } from '../../../../src/net/errors.ts';
import { createBackground } from '../../../../src/services/failures.ts';
import { authErrorEvent, createSession, type Session } from '../../../../src/services/session.ts';
import { createLoginProofStore, createTokenStore } from '../../../../src/services/token.ts';
import {
  authErrorAtom,
  type AuthProgress,
  authProgressAtom,
  authStatusAtom,
  connectionBannerAtom,
  currentUserAtom,
} from '../../../../src/store/session.ts';
import { settled } from '../net/support/fakeClock.ts';
import { me, peer, refused, type TestDeps, testDeps } from './support/deps.ts';

const user = {
  id: me,
  username: 'anna',
  email: 'anna@example.org',
  full_name: 'anna',
  created_at: '2026-03-01T12:00:00.000Z',
};
const vault = { sealedVault: 'c2VhbGVk', passwordWrap: 'd3JhcA', recoveryWrap: null };
const passwordParams = { salt: 'c2FsdA', opsLimit: 3, memLimit: 134_217_728 };

type AsyncCall = (...args: unknown[]) => Promise<unknown>;

let calls: string[];
let api: { [Name in keyof Api]?: Mock<AsyncCall> };
let worker: { [Name in keyof CryptoApi]?: Mock<AsyncCall> };
let scope: { start: Mock<() => Promise<void>>; stop: Mock<() => void> };
let steps: AuthProgress[];
let visits: string[];
let deps: TestDeps;
let session: Session;

/** A call that is recorded and answers the same every time. */
function answers(name: string, value: unknown) {
  return vi.fn<AsyncCall>().mockImplementation(async () => {
    calls.push(name);
    return value;
  });
}

function tokenFor(userId: string, expiresInMs: number): string {
  const exp = (Date.parse('2026-03-01T12:00:00.000Z') + expiresInMs) / 1000;
  return `header.${btoa(JSON.stringify({ sub: userId, exp })).replace(/=+$/, '')}.signature`;
}

beforeEach(() => {
  localStorage.clear();
  calls = [];
  visits = [];
  api = {
    register: answers('register', { access_token: tokenFor(me, 1e6), user }),
    login: answers('login', { access_token: tokenFor(me, 1e6), user }),
    logout: answers('logout', undefined),
    authParams: answers('authParams', passwordParams),
    profile: answers('profile', user),
    getVault: answers('getVault', { ...vault, version: 1 }),
    putVault: answers('putVault', { version: 1 }),
    putDevice: answers('putDevice', {}),
    keyPackageCount: answers('keyPackageCount', { available: 50, lastResort: true }),
    publishKeyPackages: answers('publishKeyPackages', { available: 50 }),
  };
  worker = {
    beginSignUp: answers('beginSignUp', { authKey: 'YXV0aA', passwordParams }),
    beginLogin: answers('beginLogin', { authKey: 'YXV0aA' }),
    createVault: answers('createVault', vault),
    openVault: answers('openVault', undefined),
    resume: answers('resume', true),
    openDevice: answers('openDevice', { userId: me, deviceId: peer, certificate: 'Y2VydA', isNew: true }),
    createKeyPackages: answers('createKeyPackages', { keyPackages: ['a2V5'], lastResort: 'bGFzdA' }),
    lock: answers('lock', undefined),
    erase: answers('erase', undefined),
  };
  scope = { start: vi.fn<() => Promise<void>>().mockResolvedValue(undefined), stop: vi.fn<() => void>() };
  steps = [];
  deps = testDeps({ api: api as unknown as Partial<Api>, crypto: worker as unknown as Partial<CryptoApi> });
  deps.store.sub(authProgressAtom, () => {
    const step = deps.store.get(authProgressAtom);
    if (step !== null) steps.push(step);
  });
  session = createSession({
    deps,
    tokens: createTokenStore(localStorage),
    loginProofs: createLoginProofStore(localStorage),
    deviceName: 'Chrome on Linux',
    openScope: () => Promise.resolve(scope),
    navigate: (path) => void visits.push(path),
    background: createBackground(deps.log),
  });
});

const status = () => deps.store.get(authStatusAtom);
const signUp = () =>
  session.signUp({ username: 'anna', email: 'anna@example.org', password: 'secret', privacyConsent: true });
const logIn = () => session.logIn({ identifier: 'anna', password: 'secret' });

function expectSignedOut(): void {
  expect(deps.store.get(currentUserAtom)).toBeNull();
  expect(localStorage.getItem('token')).toBeNull();
}

describe('signing up', () => {
  beforeEach(() => {
    api.keyPackageCount?.mockImplementation(async () => {
      calls.push('keyPackageCount');
      return { available: 0, lastResort: false };
    });
  });

  it('makes the keys, the account, the vault and the device, in this order', async () => {
    await signUp();
    expect(calls).toEqual([
      'beginSignUp',
      'register',
      'createVault',
      'putVault',
      'openVault',
      'openDevice',
      'putDevice',
      'keyPackageCount',
      'createKeyPackages',
      'publishKeyPackages',
    ]);
    expect(steps).toEqual(['deriving-keys', 'signing-in', 'opening-vault', 'registering-device', 'syncing']);
    expect(deps.store.get(authProgressAtom)).toBeNull();
    expect(status()).toBe('success');
    expect(deps.store.get(currentUserAtom)).toEqual(user);
    expect(localStorage.getItem('token')).toBe(tokenFor(me, 1e6));
  });

  it('sends the derived key in place of the password, and the consent with its time', async () => {
    await signUp();
    expect(api.register).toHaveBeenCalledExactlyOnceWith({
      username: 'anna',
      email: 'anna@example.org',
      password: 'YXV0aA',
      passwordParams,
      full_name: 'anna',
      consent: { privacyConsent: true, consentTimestamp: '2026-03-01T12:00:00.000Z' },
    });
    expect(worker.createKeyPackages).toHaveBeenCalledWith(50, true);
  });

  it('sends nothing without consent', async () => {
    const attempt = session.signUp({ username: 'a', email: 'a@b.c', password: 'p', privacyConsent: false });
    await expect(attempt).rejects.toThrow('You must accept the Privacy Policy to create an account.');
    expect(calls).toEqual([]);
  });

  it.each([
    ["the relay's sentence", refused('username-taken', 'This username is taken.'), 'This username is taken.'],
    ['its own', refused('internal'), 'Failed to create account. Please try again.'],
    [
      'the one for a silent server',
      new AggregateError([new NetworkError('unreachable'), new NetworkError('unreachable')]),
      'Failed to create account. Check if the username or email is already registered or if the backend is temporarily unavailable.',
    ],
  ])('fails with %s', async (_name, error, sentence) => {
    api.register?.mockRejectedValue(error);
    await expect(signUp()).rejects.toThrow(sentence);
    expect(status()).toBe('error');
    expect(deps.store.get(authProgressAtom)).toBeNull();
    expectSignedOut();
  });

  it('leaves nothing half open when the vault can not be stored', async () => {
    api.putVault?.mockRejectedValue(new NetworkError('timeout'));
    await expect(signUp()).rejects.toMatchObject({ code: 'unreachable' });
    expectSignedOut();
    expect(calls.at(-1)).toBe('lock');
    expect(scope.start).not.toHaveBeenCalled();
  });

  it('takes over the vault that another browser of the same person has made meanwhile', async () => {
    api.putVault?.mockImplementationOnce(() => Promise.reject(refused('stale-version')));
    await signUp();
    expect(worker.openVault).toHaveBeenCalledExactlyOnceWith(me, { ...vault, version: 1 });
  });
});

describe('logging in', () => {
  it('makes the vault that an interrupted sign-up has left out', async () => {
    api.getVault?.mockRejectedValueOnce(refused('not-found'));
    await logIn();
    expect(api.putVault).toHaveBeenCalledExactlyOnceWith({ ...vault, version: 0 });
    expect(worker.openVault).toHaveBeenCalledExactlyOnceWith(me, vault);
  });

  it('derives the key with the parameters of the account', async () => {
    await logIn();
    expect(api.authParams).toHaveBeenCalledWith('anna');
    expect(worker.beginLogin).toHaveBeenCalledWith('secret', passwordParams);
    expect(api.login).toHaveBeenCalledWith({ email: 'anna', password: 'YXV0aA' });
    expect(api.putDevice).toHaveBeenCalledWith(peer, { name: 'Chrome on Linux', certificate: 'Y2VydA' });
    expect(status()).toBe('success');
  });

  it('shows the relay that it has logged in here before, until this browser is erased', async () => {
    api.login?.mockResolvedValue({ access_token: tokenFor(me, 1e6), user, loginProof: 'cHJvb2Y' });
    await logIn();
    await session.logOut();
    await logIn();
    expect(api.login).toHaveBeenLastCalledWith({
      email: 'anna',
      password: 'YXV0aA',
      loginProof: 'cHJvb2Y',
    });
    await session.logOut({ erase: true });
    await logIn();
    expect(api.login).toHaveBeenLastCalledWith({ email: 'anna', password: 'YXV0aA' });
  });

  it.each([
    [50, true, null],
    [20, true, null],
    [19, true, [31, false]],
    [30, false, [0, true]],
    [0, false, [50, true]],
  ])('with %i KeyPackages left and last resort %s publishes %j', async (available, lastResort, created) => {
    api.keyPackageCount?.mockResolvedValue({ available, lastResort });
    await logIn();
    expect(worker.createKeyPackages?.mock.calls).toEqual(created === null ? [] : [created]);
  });

  it.each([
    [
      "the relay's sentence",
      refused('wrong-credentials', 'Wrong username or password.'),
      'Wrong username or password.',
    ],
    ['its own', refused('internal'), 'Failed to log in. Please check your credentials.'],
    [
      'the one for a silent server',
      new NetworkError('timeout'),
      'Failed to login. Check your credentials or try again later.',
    ],
  ])('fails with %s', async (_name, error, sentence) => {
    api.login?.mockRejectedValue(error);
    await expect(logIn()).rejects.toThrow(sentence);
    expect(status()).toBe('error');
    expectSignedOut();
  });

  it('does not stay signed in with a vault that does not open', async () => {
    worker.openVault?.mockRejectedValue(Object.assign(new Error(), { code: 'wrong-password' }));
    await expect(logIn()).rejects.toMatchObject({ code: 'wrong-password' });
    expectSignedOut();
    expect(calls.at(-1)).toBe('lock');
  });
});

describe('at start', () => {
  it.each([
    ['no token', null],
    ['a token of two parts', 'a.b'],
    ['an expired token', tokenFor(me, -1)],
  ])('%s means no session, without asking the relay', async (_name, token) => {
    if (token !== null) localStorage.setItem('token', token);
    await session.resume();
    expect(status()).toBe('idle');
    expect(deps.store.get(authErrorAtom)).toBeNull();
    expect(calls).toEqual([]);
    expectSignedOut();
  });

  it('takes up a stored session without the password', async () => {
    localStorage.setItem('token', tokenFor(me, 1e6));
    await session.resume();
    expect(calls).toEqual(['profile', 'resume', 'openDevice', 'putDevice']);
    expect(status()).toBe('success');
    expect(scope.start).toHaveBeenCalledOnce();
  });

  it.each([
    ['the profile can not be loaded', () => api.profile?.mockRejectedValue(refused('session-expired'))],
    ['the relay is silent', () => api.profile?.mockRejectedValue(new NetworkError('unreachable'))],
  ])('says that the session has expired when %s', async (_name, fail) => {
    localStorage.setItem('token', tokenFor(me, 1e6));
    fail();
    await session.resume();
    expect(status()).toBe('error');
    expect(deps.store.get(authErrorAtom)).toBe('Session expired. Please login again.');
    expect(calls).toContain('lock');
    expectSignedOut();
  });

  it('says plainly that the browser has lost the keys', async () => {
    localStorage.setItem('token', tokenFor(me, 1e6));
    worker.resume?.mockResolvedValue(false);
    await session.resume();
    expect(status()).toBe('error');
    expect(deps.store.get(authErrorAtom)).toContain('This browser no longer holds your keys');
    expect(calls).toContain('lock');
    expectSignedOut();
  });
});

describe('logging out', () => {
  it('tells the relay, locks the keys and forgets the session', async () => {
    await logIn();
    calls = [];
    await session.logOut();
    expect(calls).toEqual(['logout', 'lock']);
    expect(scope.stop).toHaveBeenCalledOnce();
    expect(status()).toBe('idle');
    expectSignedOut();
  });

  it('erases when asked to', async () => {
    await logIn();
    calls = [];
    await session.logOut({ erase: true });
    expect(calls).toEqual(['logout', 'erase']);
  });

  it('does not wait for a relay that does not answer', async () => {
    await logIn();
    api.logout?.mockReturnValue(new Promise(() => undefined));
    const out = session.logOut();
    await deps.clock.advance(3_000);
    await out;
    expect(status()).toBe('idle');
    expectSignedOut();
  });
});

describe('while signed in', () => {
  beforeEach(logIn);

  it('checks the token every 60 seconds, and shows the banner when it holds no more', async () => {
    calls = [];
    await deps.clock.advance(60_000);
    expect(calls).toEqual(['profile']);
    expect(deps.store.get(connectionBannerAtom)).toBe(false);
    api.profile?.mockRejectedValue(refused('session-expired'));
    await deps.clock.advance(60_000);
    expect(deps.store.get(connectionBannerAtom)).toBe(true);
  });

  it('shows the banner when the token is gone, and asks nobody', async () => {
    localStorage.removeItem('token');
    calls = [];
    await session.check();
    expect(deps.store.get(connectionBannerAtom)).toBe(true);
    expect(calls).toEqual([]);
  });

  it('takes no connection for no reason to doubt the session', async () => {
    api.profile?.mockRejectedValue(new NetworkError('unreachable'));
    await session.check();
    expect(deps.store.get(connectionBannerAtom)).toBe(false);
    expect(status()).toBe('success');
  });

  it('ends with the auth-error event', async () => {
    deps.events.dispatchEvent(new Event(authErrorEvent));
    await settled();
    expect(status()).toBe('error');
    expect(deps.store.get(authErrorAtom)).toBe('Session expired. Please login again.');
    expect(scope.stop).toHaveBeenCalledOnce();
    expect(calls.at(-1)).toBe('lock');
    expectSignedOut();
  });

  it('leaves for the login page after the time given', async () => {
    session.leaveForLogin(2_000);
    await deps.clock.advance(1_999);
    expect(visits).toEqual([]);
    await deps.clock.advance(1);
    expect(visits).toEqual(['/login']);
    expectSignedOut();
  });

  it('does not send away who has logged out before', async () => {
    session.leaveForLogin(2_000);
    await session.logOut();
    await deps.clock.advance(10_000);
    expect(visits).toEqual([]);
  });

  it('follows another tab out', async () => {
    localStorage.removeItem('token');
    expect(session.onTokenChanged()).toBe('signed-out');
    expect(status()).toBe('idle');
    expectSignedOut();
  });

  it('stays when another tab has a new token of the same person', () => {
    localStorage.setItem('token', tokenFor(me, 2e6));
    expect(session.onTokenChanged()).toBe('unchanged');
    expect(status()).toBe('success');
  });

  it("does not lock another person's keys: only a reload helps", () => {
    localStorage.setItem('token', tokenFor(peer, 1e6));
    calls = [];
    expect(session.onTokenChanged()).toBe('reload');
    expect(calls).toEqual([]);
  });
});
