import { beforeEach, expect, type Mock, vi } from 'vitest';
import type { CryptoApi } from '#src/crypto/client.ts';
import type { Api } from '#src/net/api.ts';
import { createBackground } from '#src/services/core/failures.ts';
import { createSession, type Session } from '#src/services/session/session.ts';
import { createLoginProofStore, createTokenStore } from '#src/services/session/token.ts';
import { type AuthProgress, authProgressAtom, authStatusAtom, currentUserAtom } from '#src/store/session.ts';
import { me, peer, refused, rotatedVault, type TestDeps, testDeps } from './deps.ts';

export const user = {
  id: me,
  username: 'anna',
  email: 'anna@example.org',
  full_name: 'anna',
  created_at: '2026-03-01T12:00:00.000Z',
};
export const vault = { sealedVault: 'c2VhbGVk', passwordWrap: 'd3JhcA', recoveryWrap: null };
export const passwordParams = { salt: 'c2FsdA', opsLimit: 3, memLimit: 134_217_728 };

export type AsyncCall = (...args: unknown[]) => Promise<unknown>;

export let calls: string[];
export let api: { [Name in keyof Api]?: Mock<AsyncCall> };
export let worker: { [Name in keyof CryptoApi]?: Mock<AsyncCall> };
export let scope: {
  start: Mock<() => Promise<void>>;
  connect: Mock<() => void>;
  disconnect: Mock<() => void>;
  onReachable: Mock<() => void>;
  stop: Mock<() => void>;
};
let online: boolean;
export let localEntries: Map<string, string>;
export let steps: AuthProgress[];
export let visits: string[];
export let deps: TestDeps;
export let session: Session;

/** The relay's answer of how many KeyPackages are left of a device that has enough of the suite of older conversations. */
export function keyPackagesLeft(available: number, lastResort: boolean, older = 20) {
  return {
    available: older,
    lastResort: true,
    suites: [
      { suite: 0xf04d, available, lastResort },
      { suite: 0x004d, available: older, lastResort: true },
    ],
  };
}

/** A call that is recorded and answers the same every time. */
export function answers(name: string, value: unknown) {
  return vi.fn<AsyncCall>().mockImplementation(async () => {
    calls.push(name);
    return value;
  });
}

export function tokenFor(userId: string, expiresInMs: number): string {
  const exp = (Date.parse('2026-03-01T12:00:00.000Z') + expiresInMs) / 1000;
  return `header.${btoa(JSON.stringify({ sub: userId, exp })).replace(/=+$/, '')}.signature`;
}

/** A session on doubles of the relay and the worker, anew for each test. */
export function withSession(): void {
  beforeEach(begin);
}

function begin(): void {
  localStorage.clear();
  calls = [];
  visits = [];
  api = {
    register: answers('register', { access_token: tokenFor(me, 1e6), user }),
    login: answers('login', { access_token: tokenFor(me, 1e6), user }),
    logout: answers('logout', undefined),
    authParams: answers('authParams', passwordParams),
    profile: answers('profile', user),
    getVault: answers('getVault', { sealedVault: vault.sealedVault, version: 1, hasRecoveryKey: false }),
    getVaultWraps: answers('getVaultWraps', { passwordWrap: vault.passwordWrap, recoveryWrap: null }),
    createProofNonce: answers('createProofNonce', {
      nonce: 'bm9uY2U',
      session: 'session',
      version: 1,
      passwordKey: true,
    }),
    putVault: answers('putVault', { version: 1 }),
    putDevice: answers('putDevice', {}),
    sessionId: vi.fn<() => never>(() => 'session' as never),
    revokeOwnDevice: answers('revokeOwnDevice', undefined),
    getAccountState: answers('getAccountState', { version: 0, sealed: null, segments: [] }),
    visibleRevocations: vi.fn<AsyncCall>().mockResolvedValue([]),
    signedNames: vi.fn<AsyncCall>().mockResolvedValue([]),
    putSignedName: vi.fn<AsyncCall>().mockResolvedValue(undefined),
    keyPackageCount: answers('keyPackageCount', keyPackagesLeft(50, true)),
    publishKeyPackages: answers('publishKeyPackages', { available: 50 }),
    recover: answers('recover', { access_token: tokenFor(me, 1e6), user, loginProof: 'cHJvb2Y' }),
    changePassword: answers('changePassword', { version: 2 }),
  };
  worker = {
    beginSignUp: answers('beginSignUp', { authKey: 'YXV0aA', proofKey: 'cHVibGlj', passwordParams }),
    beginLogin: answers('beginLogin', { authKey: 'YXV0aA', proofKey: 'cHVibGlj' }),
    beginRecovery: answers('beginRecovery', { recoveryAuthKey: 'cHJvdmVz', recoveryProofKey: 'cmVjb3Zlcg' }),
    recoverVault: answers('recoverVault', {
      authKey: 'bmV3',
      proofKey: 'bmV3cHVibGlj',
      passwordParams,
      vault: rotatedVault,
    }),
    createVault: answers('createVault', vault),
    openVault: answers('openVault', undefined),
    adoptRenewedKeys: answers('adoptRenewedKeys', undefined),
    adoptState: vi.fn<AsyncCall>().mockResolvedValue(null),
    setRevoked: vi.fn<AsyncCall>().mockResolvedValue(undefined),
    takeNames: vi.fn<AsyncCall>().mockResolvedValue(undefined),
    signName: vi.fn<AsyncCall>().mockResolvedValue('bmFtZQ'),
    forgetVault: answers('forgetVault', undefined),
    resume: answers('resume', true),
    signSession: vi.fn<AsyncCall>().mockResolvedValue('c2lnbmVk'),
    openDevice: answers('openDevice', {
      userId: me,
      deviceId: peer,
      certificate: 'Y2VydA',
      isNew: true,
      former: null,
    }),
    createKeyPackages: answers('createKeyPackages', { keyPackages: ['a2V5'], lastResort: 'bGFzdA' }),
    ownRevocation: answers('ownRevocation', 'cmV2b2tlZA'),
    lock: answers('lock', undefined),
    erase: answers('erase', undefined),
    readLocal: vi.fn<AsyncCall>().mockImplementation(async (name) => localEntries.get(String(name)) ?? null),
    writeLocal: vi
      .fn<AsyncCall>()
      .mockImplementation(async (name, text) => void localEntries.set(String(name), String(text))),
  };
  scope = {
    start: vi.fn<() => Promise<void>>().mockResolvedValue(undefined),
    connect: vi.fn<() => void>(),
    disconnect: vi.fn<() => void>(),
    onReachable: vi.fn<() => void>(),
    stop: vi.fn<() => void>(),
  };
  online = true;
  localEntries = new Map();
  steps = [];
  deps = testDeps({ api: api as unknown as Partial<Api>, crypto: worker as unknown as Partial<CryptoApi> });
  for (const suite of [0xf04d, 0x004d]) localEntries.set(`key-packages:${suite}`, `${deps.clock.now()}`);
  deps.store.sub(authProgressAtom, () => {
    const step = deps.store.get(authProgressAtom);
    if (step !== null) steps.push(step);
  });
  session = createSession({
    deps,
    tokens: createTokenStore(localStorage),
    loginProofs: createLoginProofStore(localStorage),
    deviceName: 'Chrome on Linux',
    openScope: () => Promise.resolve({ ...scope }),
    navigate: (path) => void visits.push(path),
    isOnline: () => online,
    eraseFiles: async () => void calls.push('eraseFiles'),
    background: createBackground(deps.log),
  });
}

export const status = () => deps.store.get(authStatusAtom);
export const signUp = () =>
  session.signUp({ username: 'anna', email: 'anna@example.org', password: 'secret', privacyConsent: true });
export const logIn = () => session.logIn({ identifier: 'anna', password: 'secret' });

/** The relay knows the token, and why it is worth nothing any more. */
export function refuse(code: 'device-revoked' | 'password-changed'): void {
  api.profile?.mockImplementation(async () => {
    session.onTokenRefused(code);
    throw refused(code);
  });
}

export function expectSignedOut(): void {
  expect(deps.store.get(currentUserAtom)).toBeNull();
  expect(localStorage.getItem('token')).toBeNull();
}

/** Sets what the browser says of its network. */
export function setOnline(isOnline: boolean): void {
  online = isOnline;
}

/** Forgets the calls until now. */
export function forgetCalls(): void {
  calls.length = 0;
}
