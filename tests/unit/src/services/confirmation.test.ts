import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { CryptoApi } from '#src/crypto/client.ts';
import type { Api } from '#src/net/api.ts';
import { NetworkError } from '#src/net/errors.ts';
import { type Confirmation, createConfirmation } from '#src/services/core/confirmation.ts';
import { confirmationAtom, type Operation } from '#src/store/confirmation.ts';
import { currentUserAtom } from '#src/store/session.ts';
import { settled } from '../net/support/fakeClock.ts';
import { me, refused, type TestDeps, testDeps } from './support/deps.ts';

const params = { salt: 'c2FsdA', opsLimit: 3, memLimit: 134_217_728 };
const nonce = { nonce: 'bm9uY2U', session: 'session', version: 7, passwordKey: true };
const request = { operation: 'DELETE /user', body: '' };
const operation: Operation = { kind: 'delete-account', target: 'anna' };

const api = {
  authParams: vi.fn<Api['authParams']>(),
  createProofNonce: vi.fn<Api['createProofNonce']>(),
  login: vi.fn<Api['login']>(),
  logout: vi.fn<Api['logout']>(),
};
const signProof = vi.fn<CryptoApi['signProof']>();
let localEntries: Map<string, string>;
let deps: TestDeps;
let confirmation: Confirmation;

beforeEach(() => {
  vi.resetAllMocks();
  localEntries = new Map([['proof-key', 'cHVibGlj']]);
  api.authParams.mockResolvedValue(params);
  api.createProofNonce.mockResolvedValue(nonce);
  api.login.mockResolvedValue({
    access_token: 'another token',
    user: { id: me, username: 'anna', email: '', full_name: '', created_at: '' },
  });
  api.logout.mockResolvedValue(undefined);
  signProof.mockImplementation(async ({ password }, proven) => ({
    authKey: 'YXV0aA',
    proofKey: password === 'right' ? 'cHVibGlj' : 'b3RoZXI',
    proof: proven === null ? null : 'proof',
  }));
  deps = testDeps({
    api,
    crypto: {
      signProof,
      readLocal: async (name) => localEntries.get(name) ?? null,
      writeLocal: async (name, text) => void localEntries.set(name, text ?? ''),
    },
  });
  deps.store.set(currentUserAtom, {
    id: me,
    username: 'anna',
    email: 'anna@example.org',
    full_name: 'anna',
    created_at: '2026-03-01T12:00:00.000Z',
  });
  confirmation = createConfirmation(deps);
});

const shown = () => deps.store.get(confirmationAtom);
const ask = () => confirmation.confirmWithPassword(operation)(request);

describe('confirming with the password', () => {
  it('asks for it by the operation, and proves the request in this session', async () => {
    const proof = ask();
    await settled();
    expect(shown()).toEqual(operation);
    await confirmation.submit('right');
    expect(await proof).toBe('proof');
    expect(api.authParams).toHaveBeenCalledExactlyOnceWith('anna');
    expect(signProof).toHaveBeenCalledExactlyOnceWith(
      { password: 'right', passwordParams: params },
      { ...request, nonce: 'bm9uY2U', session: 'session', replaces: 7 },
    );
    expect(shown()).toBeNull();
    expect(api.login).not.toHaveBeenCalled();
  });

  it('tells a wrong password without the relay, and asks on', async () => {
    const proof = ask();
    await expect(confirmation.submit('wrong')).rejects.toMatchObject({
      code: 'wrong-password',
      message: 'This is not your password.',
    });
    expect(api.login).not.toHaveBeenCalled();
    expect(shown()).toEqual(operation);
    await confirmation.submit('right');
    expect(await proof).toBe('proof');
  });

  it('asks on when the relay is not reached', async () => {
    const proof = ask();
    api.createProofNonce.mockRejectedValueOnce(new NetworkError('unreachable'));
    await expect(confirmation.submit('right')).rejects.toMatchObject({
      code: 'unreachable',
      message: 'This could not be confirmed. Please try again.',
    });
    await confirmation.submit('right');
    expect(await proof).toBe('proof');
  });

  it('rejects when the person calls it off, or begins something else', async () => {
    const first = ask();
    const second = ask();
    await expect(first).rejects.toMatchObject({ code: 'cancelled' });
    confirmation.cancel();
    await expect(second).rejects.toMatchObject({ code: 'cancelled' });
    expect(shown()).toBeNull();
  });

  it('gives nothing to who has called it off while the password was checked', async () => {
    const proof = ask();
    const submitted = confirmation.submit('right');
    confirmation.cancel();
    await submitted;
    await expect(proof).rejects.toMatchObject({ code: 'cancelled' });
  });

  it('needs no proof for an operation on this device alone', async () => {
    const confirmed = confirmation.confirmHere({ kind: 'accept-account-key', target: 'bert' });
    await expect(confirmation.submit('wrong')).rejects.toMatchObject({ code: 'wrong-password' });
    await confirmation.submit('right');
    await confirmed;
    expect(api.createProofNonce).not.toHaveBeenCalled();
  });
});

describe('a session or an account from before there were proofs', () => {
  it.each([
    ['this browser', () => localEntries.clear()],
    ['the relay', () => api.createProofNonce.mockResolvedValue({ ...nonce, passwordKey: false })],
  ])('has the password checked by a log-in that tells the proof key, unknown to %s', async (_who, forget) => {
    forget();
    const proof = ask();
    await confirmation.submit('right');
    expect(await proof).toBe('proof');
    expect(api.login).toHaveBeenCalledExactlyOnceWith({
      email: 'anna',
      password: 'YXV0aA',
      passwordProofKey: 'cHVibGlj',
    });
    expect(api.logout).toHaveBeenCalledExactlyOnceWith('another token');
    expect(localEntries.get('proof-key')).toBe('cHVibGlj');
  });

  it('keeps nothing of a wrong password', async () => {
    localEntries.clear();
    api.login.mockRejectedValue(refused('wrong-credentials'));
    ask().catch(() => undefined);
    await expect(confirmation.submit('wrong')).rejects.toMatchObject({ code: 'wrong-password' });
    expect(localEntries.size).toBe(0);
    confirmation.cancel();
  });
});
