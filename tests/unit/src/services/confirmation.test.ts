import { beforeEach, describe, expect, it, vi } from 'vitest';
import { type CryptoApi, CryptoApiError, type Operation } from '#src/crypto/client.ts';
import type { Api } from '#src/net/api.ts';
import { NetworkError } from '#src/net/errors.ts';
import { type Confirmation, createConfirmation } from '#src/services/core/confirmation.ts';
import { currentUserAtom } from '#src/store/session.ts';
import { me, testDeps } from './support/deps.ts';

const passwordParams = { salt: 'c2FsdA', opsLimit: 3, memLimit: 134_217_728 };
const nonce = { nonce: 'bm9uY2U', session: 'session', version: 7, passwordKey: true };
const request = { operation: 'DELETE /user', body: '' };
const operation: Operation = { kind: 'delete-account', target: 'anna', id: null };

const api = {
  authParams: vi.fn<Api['authParams']>(),
  createProofNonce: vi.fn<Api['createProofNonce']>(),
};
const worker = {
  confirm: vi.fn<CryptoApi['confirm']>(),
  signPendingProof: vi.fn<CryptoApi['signPendingProof']>(),
};
let confirmation: Confirmation;

beforeEach(() => {
  vi.resetAllMocks();
  api.authParams.mockResolvedValue(passwordParams);
  api.createProofNonce.mockResolvedValue(nonce);
  worker.confirm.mockResolvedValue(undefined);
  worker.signPendingProof.mockResolvedValue('proof');
  const deps = testDeps({
    api,
    crypto: worker,
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

describe('confirming with the password', () => {
  it('has the worker ask for it by the operation, and proves the request in this session', async () => {
    expect(await confirmation.confirmWithPassword(operation)(request)).toBe('proof');
    expect(api.authParams).toHaveBeenCalledExactlyOnceWith('anna');
    const owner = { username: 'anna', passwordParams };
    expect(worker.confirm).toHaveBeenCalledExactlyOnceWith(operation, owner);
    expect(worker.signPendingProof).toHaveBeenCalledExactlyOnceWith({
      ...request,
      nonce: 'bm9uY2U',
      session: 'session',
      replaces: 7,
    });
  });

  it('asks nobody while the relay is not reached', async () => {
    api.authParams.mockRejectedValue(new NetworkError('unreachable'));
    await expect(confirmation.confirm(operation)).rejects.toMatchObject({
      code: 'unreachable',
      message: 'This could not be confirmed. Please try again.',
    });
    expect(worker.confirm).not.toHaveBeenCalled();
  });

  it('is called off without a word', async () => {
    worker.confirm.mockRejectedValue(new CryptoApiError('cancelled'));
    await expect(confirmation.confirm(operation)).rejects.toMatchObject({ code: 'cancelled', message: '' });
    expect(worker.signPendingProof).not.toHaveBeenCalled();
  });

  it('needs no nonce where no request follows', async () => {
    await confirmation.confirm({ kind: 'accept-account-key', target: 'bert', id: me });
    expect(api.createProofNonce).not.toHaveBeenCalled();
  });
});

describe('an account from before there were proofs', () => {
  it('is told to log in again, which tells the relay the proof key', async () => {
    api.createProofNonce.mockResolvedValue({ ...nonce, passwordKey: false });
    await expect(confirmation.confirmWithPassword(operation)(request)).rejects.toMatchObject({
      code: 'proof-required',
      message: 'Please log out and in again first: your account is from before this took the password.',
    });
    const owner = { username: 'anna', passwordParams };
    expect(worker.confirm).toHaveBeenCalledWith(operation, owner);
    expect(worker.signPendingProof).not.toHaveBeenCalled();
  });
});
