import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { CryptoApi } from '#src/crypto/client.ts';
import { cancelled } from '#src/lib/appError.ts';
import type { Api } from '#src/net/api.ts';
import { NetworkError } from '#src/net/errors.ts';
import { changePassword } from '#src/services/account/password.ts';
import { createRecovery, type Recovery } from '#src/services/account/recovery.ts';
import { recoveryKeyAtom, recoveryOfferDismissedAtom } from '#src/store/recovery.ts';
import { currentUserAtom } from '#src/store/session.ts';
import {
  me,
  refused,
  rotatedVault,
  storedVault,
  type TestDeps,
  testConfirmation,
  testDeps,
  testRenewal,
} from './support/deps.ts';

const vault = { sealedVault: 'c2VhbGVk', hasRecoveryKey: false, version: 7 };
const params = { salt: 'c2FsdA', opsLimit: 3, memLimit: 134_217_728 };
const api = {
  putVault: vi.fn<Api['putVault']>(),
  changePassword: vi.fn<Api['changePassword']>(),
};
const worker = {
  replaceRecoveryKey: vi.fn<CryptoApi['replaceRecoveryKey']>(),
  changePassword: vi.fn<CryptoApi['changePassword']>(),
};
let localEntries: Map<string, string>;
let deps: TestDeps;
let confirmation: ReturnType<typeof testConfirmation>;
let recovery: Recovery;

beforeEach(() => {
  vi.resetAllMocks();
  localEntries = new Map();
  api.putVault.mockResolvedValue({ version: 8 });
  worker.replaceRecoveryKey.mockResolvedValue({
    ...rotatedVault,
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
  recovery = createRecovery(deps, confirmation, testRenewal);
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

  it.each([
    [false, 'create-recovery-key'],
    [true, 'replace-recovery-key'],
  ] as const)(
    'where one is there (%s) is confirmed as %s; what goes to the relay is not the key',
    async (hasRecoveryKey, kind) => {
      await recovery.onVault({ ...vault, hasRecoveryKey });
      await recovery.setUp();
      expect(confirmation.asked).toEqual([{ kind, target: '', id: null }]);
      expect(api.putVault).toHaveBeenCalledWith(
        { ...rotatedVault, recoveryAuthKey: 'cHJvb2Y', recoveryProofKey: 'cHVibGlj' },
        confirmation.prove,
      );
      expect(known()).toBe('present');
    },
  );

  it('changes nothing when the person calls it off', async () => {
    vi.spyOn(confirmation, 'confirm').mockRejectedValue(cancelled());
    await expect(recovery.setUp()).rejects.toMatchObject({ code: 'cancelled' });
    expect(worker.replaceRecoveryKey).not.toHaveBeenCalled();
    expect(api.putVault).not.toHaveBeenCalled();
  });

  it('is there once it was set up, whatever an older vault says that arrives later', async () => {
    await recovery.setUp();
    await recovery.onVault(vault);
    expect(known()).toBe('present');
  });

  it('opens nothing when the relay was not reached, and can be set up again', async () => {
    api.putVault.mockRejectedValueOnce(new NetworkError('unreachable'));
    await expect(recovery.setUp()).rejects.toMatchObject({
      message:
        'The recovery key could not be turned on: the one that you have just kept opens nothing. Please try again.',
    });
    expect(known()).toBe('unknown');
    await recovery.setUp();
    expect(known()).toBe('present');
  });

  it('is offered until the person puts it aside in this browser', async () => {
    const dismissed = () => deps.store.get(recoveryOfferDismissedAtom);
    expect(dismissed()).toBeNull();
    await recovery.onVault(vault);
    expect(dismissed()).toBe(false);
    await recovery.dismissOffer();
    expect(dismissed()).toBe(true);
    await createRecovery(deps, confirmation, testRenewal).onVault(vault);
    expect(dismissed()).toBe(true);
  });
});

describe('a new password', () => {
  const change = () => changePassword(deps, confirmation, testRenewal);

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
      authKey: 'bmV3YXV0aA',
      proofKey: 'bmV3cHJvb2Y',
      passwordParams: params,
      vault: rotatedVault,
    });
  });

  it('goes to the relay with the proof of the old one and the vault under it, in one call', async () => {
    await change();
    expect(confirmation.asked).toEqual([{ kind: 'change-password', target: 'anna', id: null }]);
    const [body, prove] = api.changePassword.mock.calls[0] ?? [];
    expect(body).toEqual({
      currentPassword: 'b2xkYXV0aA',
      password: 'bmV3YXV0aA',
      passwordProofKey: 'bmV3cHJvb2Y',
      passwordParams: params,
      vault: rotatedVault,
    });
    expect(prove).toBe(confirmation.prove);
    expect(worker.changePassword).toHaveBeenCalledWith(storedVault);
  });

  it('stays what it is when the relay refuses the old one', async () => {
    api.changePassword.mockRejectedValue(refused('wrong-password', 'The current password is wrong.'));
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
