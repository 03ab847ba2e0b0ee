import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { CryptoApi } from '#src/crypto/client.ts';
import type { Api } from '#src/net/api.ts';
import { NetworkError } from '#src/net/errors.ts';
import { changePassword } from '#src/services/account/password.ts';
import { createRecovery, type Recovery } from '#src/services/account/recovery.ts';
import { recoveryKeyAtom, recoveryOfferDismissedAtom } from '#src/store/recovery.ts';
import { currentUserAtom } from '#src/store/session.ts';
import { me, refused, type TestDeps, testConfirmation, testDeps } from './support/deps.ts';

const vault = { sealedVault: 'c2VhbGVk', hasRecoveryKey: false, version: 7 };
const params = { salt: 'c2FsdA', opsLimit: 3, memLimit: 134_217_728 };
const api = {
  getVault: vi.fn<Api['getVault']>(),
  putVault: vi.fn<Api['putVault']>(),
  authParams: vi.fn<Api['authParams']>(),
  changePassword: vi.fn<Api['changePassword']>(),
  createProofNonce: vi.fn<Api['createProofNonce']>(),
};
const worker = {
  createRecoveryKey: vi.fn<CryptoApi['createRecoveryKey']>(),
  confirmRecoveryKey: vi.fn<CryptoApi['confirmRecoveryKey']>(),
  changePassword: vi.fn<CryptoApi['changePassword']>(),
  signPendingProof: vi.fn<CryptoApi['signPendingProof']>(),
};
let localEntries: Map<string, string>;
let deps: TestDeps;
let confirmation: ReturnType<typeof testConfirmation>;
let recovery: Recovery;

beforeEach(() => {
  vi.resetAllMocks();
  localEntries = new Map([['proof-key', 'b2xkcHJvb2Y']]);
  worker.signPendingProof.mockResolvedValue('proof');
  api.createProofNonce.mockResolvedValue({
    nonce: 'bm9uY2U',
    session: 'session',
    version: 7,
    passwordKey: true,
  });
  api.getVault.mockResolvedValue(vault);
  api.putVault.mockResolvedValue({ version: 8 });
  api.authParams.mockResolvedValue(params);
  worker.createRecoveryKey.mockResolvedValue({ recoveryKey: 'ABCD-EFGH' });
  worker.confirmRecoveryKey.mockResolvedValue({
    authKey: 'b2xkYXV0aA',
    proofKey: 'b2xkcHJvb2Y',
    recoveryWrap: 'cmVjb3Zlcnk',
    recoveryAuthKey: 'cHJvb2Y',
    recoveryProofKey: 'cHVibGlj',
  });
  deps = testDeps({
    api,
    crypto: {
      ...worker,
      readLocal: async (name) => localEntries.get(name) ?? null,
      writeLocal: async (name, text) => void localEntries.set(name, text ?? ''),
    },
  });
  confirmation = testConfirmation();
  recovery = createRecovery(deps, confirmation);
});

const known = () => deps.store.get(recoveryKeyAtom);

describe('the recovery key', () => {
  it('is known by its wrap in the vault', async () => {
    expect(known()).toBe('unknown');
    await recovery.onVault(vault);
    expect(known()).toBe('none');
    await recovery.onVault({ ...vault, hasRecoveryKey: true });
    expect(known()).toBe('present');
  });

  it('changes nothing until it is saved; what goes to the relay is not the key', async () => {
    expect(await recovery.create()).toBe('ABCD-EFGH');
    expect(api.putVault).not.toHaveBeenCalled();
    await recovery.save();
    expect(api.putVault).toHaveBeenCalledWith(
      {
        sealedVault: 'c2VhbGVk',
        version: 7,
        recoveryWrap: 'cmVjb3Zlcnk',
        recoveryAuthKey: 'cHJvb2Y',
        recoveryProofKey: 'cHVibGlj',
      },
      expect.any(Function),
    );
    // Whoever has not typed the password gets nothing from the worker by which the key opens anything.
    expect(worker.confirmRecoveryKey).toHaveBeenCalledWith({ password: 'right', passwordParams: params });
    expect(known()).toBe('present');
    await expect(recovery.save()).rejects.toMatchObject({ code: 'usage' });
  });

  it('is there once it was saved, whatever an older vault says that arrives later', async () => {
    await recovery.create();
    await recovery.save();
    await recovery.onVault(vault);
    expect(known()).toBe('present');
  });

  it('can be saved again when the relay was not reached', async () => {
    await recovery.create();
    api.putVault.mockRejectedValueOnce(new NetworkError('unreachable'));
    await expect(recovery.save()).rejects.toMatchObject({
      message: 'The recovery key could not be turned on. Please try again.',
    });
    expect(known()).toBe('unknown');
    await recovery.save();
    expect(known()).toBe('present');
  });

  it('is offered until the person puts it aside in this browser', async () => {
    const dismissed = () => deps.store.get(recoveryOfferDismissedAtom);
    expect(dismissed()).toBeNull();
    await recovery.onVault(vault);
    expect(dismissed()).toBe(false);
    await recovery.dismissOffer();
    expect(dismissed()).toBe(true);
    await createRecovery(deps, confirmation).onVault(vault);
    expect(dismissed()).toBe(true);
  });
});

describe('a new password', () => {
  const change = () => changePassword(deps, { currentPassword: 'old', newPassword: 'new' });

  beforeEach(() => {
    deps.store.set(currentUserAtom, {
      id: me,
      username: 'anna',
      email: 'anna@example.org',
      full_name: 'anna',
      created_at: '2026-03-01T12:00:00.000Z',
    });
    worker.changePassword.mockResolvedValue({
      currentAuthKey: 'b2xkYXV0aA',
      currentProofKey: 'b2xkcHJvb2Y',
      authKey: 'bmV3YXV0aA',
      proofKey: 'bmV3cHJvb2Y',
      passwordParams: params,
      passwordWrap: 'bmV3d3JhcA',
    });
  });

  it('goes to the relay with the proof of the old one and the new wrap, in one call', async () => {
    await change();
    expect(api.authParams).toHaveBeenCalledWith('anna');
    expect(worker.changePassword).toHaveBeenCalledWith({
      currentPassword: 'old',
      currentParams: params,
      newPassword: 'new',
    });
    const [body, prove] = api.changePassword.mock.calls[0] ?? [];
    expect(body).toEqual({
      currentPassword: 'b2xkYXV0aA',
      password: 'bmV3YXV0aA',
      passwordProofKey: 'bmV3cHJvb2Y',
      passwordParams: params,
      passwordWrap: 'bmV3d3JhcA',
      version: 7,
    });
    const request = { operation: 'PUT /users/me/password', body: '{}' };
    expect(await prove?.(request)).toBe('proof');
    expect(worker.signPendingProof).toHaveBeenCalledExactlyOnceWith({
      ...request,
      nonce: 'bm9uY2U',
      session: 'session',
      replaces: 7,
    });
    expect(localEntries.get('proof-key')).toBe('bmV3cHJvb2Y');
  });

  it.each([
    ['this browser', () => void localEntries.set('proof-key', 'YW5vdGhlcg')],
    [
      'the relay',
      () => api.changePassword.mockRejectedValue(refused('wrong-password', 'The current password is wrong.')),
    ],
  ])('is refused by %s when the old one is wrong', async (_who, refuse) => {
    refuse();
    await expect(change()).rejects.toMatchObject({
      code: 'wrong-password',
      message: 'The current password is wrong.',
    });
  });

  it('fails with a sentence of the client when the vault has moved', async () => {
    api.changePassword.mockRejectedValue(refused('stale-version'));
    await expect(change()).rejects.toMatchObject({
      message: 'Your password could not be changed. Please try again.',
    });
  });
});
