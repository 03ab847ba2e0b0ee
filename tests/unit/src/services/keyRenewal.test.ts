import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { CryptoApi } from '#src/crypto/client.ts';
import { cancelled } from '#src/lib/appError.ts';
import type { Api } from '#src/net/api.ts';
import { NetworkError } from '#src/net/errors.ts';
import { createKeyRenewal, type KeyRenewal } from '#src/services/account/keyRenewal.ts';
import { createBackground } from '#src/services/core/failures.ts';
import { timings } from '#src/services/core/timings.ts';
import { bannerAtom } from '#src/store/banners.ts';
import { keysRenewedAtom, olderVaultAtom } from '#src/store/keys.ts';
import { recoveryKeyAtom } from '#src/store/recovery.ts';
import { toastsAtom } from '#src/store/toasts.ts';
import { settled } from '../net/support/fakeClock.ts';
import {
  conversationId,
  me,
  refused,
  rotatedVault,
  state,
  storedVault,
  type TestDeps,
  testConfirmation,
  testDeps,
} from './support/deps.ts';

const api = {
  getVault: vi.fn<Api['getVault']>(),
  getVaultWraps: vi.fn<Api['getVaultWraps']>(),
  putVault: vi.fn<Api['putVault']>(),
};
const worker = {
  vaultVersion: vi.fn<CryptoApi['vaultVersion']>(),
  adoptRenewedKeys: vi.fn<CryptoApi['adoptRenewedKeys']>(),
  readRenewedKeys: vi.fn<CryptoApi['readRenewedKeys']>(),
  acceptOlderVault: vi.fn<CryptoApi['acceptOlderVault']>(),
};
const load = vi.fn<() => Promise<void>>();
let deps: TestDeps;
let confirmation: ReturnType<typeof testConfirmation>;
let renewal: KeyRenewal;

beforeEach(() => {
  vi.resetAllMocks();
  load.mockResolvedValue();
  const { passwordWrap, ...vault } = storedVault;
  api.getVault.mockResolvedValue({ ...vault, hasRecoveryKey: true });
  api.getVaultWraps.mockResolvedValue({ passwordWrap, recoveryWrap: null });
  worker.vaultVersion.mockResolvedValue(7);
  deps = testDeps({ api, crypto: worker });
  confirmation = testConfirmation();
  renewal = createKeyRenewal(deps, me, confirmation, { load }, createBackground(deps.log));
});

const vaultAt = (version: number) => ({ version, sealedVault: `${version}` });
const isShown = () => deps.store.get(keysRenewedAtom);

describe('keys that another device has renewed', () => {
  it('are told of, until this device has them', async () => {
    await renewal.onVault(vaultAt(7));
    expect(isShown()).toBe(false);
    await renewal.onVault(vaultAt(8));
    expect(isShown()).toBe(true);
    // An answer that comes late is of a vault from before.
    await renewal.onVault(vaultAt(7));
    expect(isShown()).toBe(true);
    worker.vaultVersion.mockResolvedValue(8);
    await renewal.takeOver();
    expect(isShown()).toBe(false);
  });

  it('are taken over by the password, and then what waited for them goes on', async () => {
    const heard = vi.fn<() => void>();
    deps.sessionEvents.on('keysTakenOver', heard);
    await renewal.takeOver();
    expect(confirmation.asked).toEqual([{ kind: 'renew-keys', target: '', id: null }]);
    expect(api.getVaultWraps).toHaveBeenCalledWith(confirmation.prove);
    expect(worker.readRenewedKeys).toHaveBeenCalledWith(storedVault);
    expect(load).toHaveBeenCalledOnce();
    expect(heard).toHaveBeenCalledOnce();
  });

  it('stay where they are when the person calls it off', async () => {
    vi.spyOn(confirmation, 'confirm').mockRejectedValue(cancelled());
    await expect(renewal.takeOver()).rejects.toMatchObject({ code: 'cancelled' });
    expect(worker.readRenewedKeys).not.toHaveBeenCalled();
  });

  it('are said to be unread when the relay is not reached', async () => {
    api.getVaultWraps.mockRejectedValue(new NetworkError('unreachable'));
    await expect(renewal.takeOver()).rejects.toMatchObject({
      message: 'The new keys could not be read. Please try again.',
    });
  });

  it('are asked for by whoever needs to know at once', async () => {
    expect(await renewal.isBehind()).toBe(false);
    worker.vaultVersion.mockResolvedValue(6);
    expect(await renewal.isBehind()).toBe(true);
    expect(isShown()).toBe(true);
  });
});

describe('keys that another device has said among the own ones', () => {
  const said = (conversationId = `self:${me}`) =>
    deps.sessionEvents.emit('entriesProcessed', {
      messages: [],
      events: [],
      state: state({ conversationId }),
    });
  const isAsked = () => deps.store.get(bannerAtom) === 'keys-renewed';

  it('are waited for, before the person is asked for the password', async () => {
    await renewal.onVault(vaultAt(8));
    expect([isShown(), isAsked()]).toEqual([true, false]);
    await deps.clock.advance(timings.keysPatience);
    expect([isShown(), isAsked()]).toEqual([true, true]);
    // Asking again begins no new wait; another renewal does.
    await renewal.onVault(vaultAt(8));
    expect(isAsked()).toBe(true);
    await renewal.onVault(vaultAt(9));
    expect(isAsked()).toBe(false);
    renewal.stop();
    expect(isAsked()).toBe(true);
  });

  it('end the wait, and then what waited for them goes on', async () => {
    const heard: number[] = [];
    deps.sessionEvents.on('keysTakenOver', ({ vaultVersion }) => heard.push(vaultVersion));
    await renewal.onVault(vaultAt(8));
    said();
    await settled();
    expect([isShown(), heard]).toEqual([true, []]);
    worker.vaultVersion.mockResolvedValue(8);
    said(conversationId);
    await settled();
    expect([isShown(), heard]).toEqual([true, []]);
    said();
    await settled();
    expect([isShown(), isAsked(), heard]).toEqual([false, false, [8]]);
    expect(load).toHaveBeenCalledOnce();
    await deps.clock.advance(timings.keysPatience);
    said();
    await settled();
    expect([isAsked(), heard]).toEqual([false, [8]]);
  });

  it('may come before anybody has said that there are new ones', async () => {
    await renewal.onVault(vaultAt(7));
    worker.vaultVersion.mockResolvedValue(8);
    said();
    await settled();
    await renewal.onVault(vaultAt(8));
    expect([isShown(), isAsked()]).toEqual([false, false]);
    expect(load).toHaveBeenCalledOnce();
  });
});

const taken = { vault: rotatedVault, submit: () => Promise.resolve() };
const sealedHere = { version: 8, sealedVault: rotatedVault.sealedVault, hasRecoveryKey: false };
const lost = new NetworkError('unreachable');
const failing = (failure: Error) => async () => ({
  vault: rotatedVault,
  submit: () => Promise.reject(failure),
});

describe('an operation that renews the keys', () => {
  it('gets the vault as the password opens it, and this device the new keys after it', async () => {
    const order: string[] = [];
    deps.sessionEvents.on('keysRenewed', ({ vaultVersion }) => order.push(`told of ${vaultVersion}`));
    worker.adoptRenewedKeys.mockImplementation(async () => {
      worker.vaultVersion.mockResolvedValue(8);
      order.push('taken over');
    });
    load.mockImplementation(async () => void order.push('state'));
    await renewal.renew(confirmation.prove, async (vault) => {
      expect(vault).toEqual(storedVault);
      return { vault: rotatedVault, submit: async () => void order.push('done') };
    });
    await settled();
    expect(worker.adoptRenewedKeys).toHaveBeenCalledWith(rotatedVault.sealedVault);
    expect(order).toEqual(['done', 'taken over', 'told of 8', 'state']);
  });

  it('has succeeded once the relay has it, whatever becomes of the account state', async () => {
    load.mockRejectedValue(new NetworkError('unreachable'));
    await renewal.renew(confirmation.prove, async () => taken);
    expect(worker.adoptRenewedKeys).toHaveBeenCalledOnce();
  });

  it('changes nothing here when the relay refuses it', async () => {
    await expect(renewal.renew(confirmation.prove, failing(refused('stale-version')))).rejects.toMatchObject({
      code: 'stale-version',
    });
    expect(worker.adoptRenewedKeys).not.toHaveBeenCalled();
    // Nor when the relay shows that vault later: the operation has been said to have failed.
    await renewal.onVault(sealedHere);
    expect(worker.adoptRenewedKeys).not.toHaveBeenCalled();
  });

  it.each([
    ['is lost', lost],
    ['is lost, and a second attempt meets what the first one did', refused('proof-refused')],
  ])('is done where its answer %s, if the relay has the vault that was sealed', async (_, failure) => {
    api.getVault.mockResolvedValueOnce({ ...sealedHere, version: 6, sealedVault: 'before' });
    api.getVault.mockResolvedValue(sealedHere);
    const onTaken = vi.fn<() => Promise<void>>().mockResolvedValue();
    await renewal.renew(confirmation.prove, failing(failure), onTaken);
    expect(worker.adoptRenewedKeys).toHaveBeenCalledExactlyOnceWith(rotatedVault.sealedVault);
    expect(onTaken).toHaveBeenCalledOnce();
  });

  it('has failed where its answer is lost and the relay has another vault', async () => {
    await expect(renewal.renew(confirmation.prove, failing(lost))).rejects.toBe(lost);
    expect(worker.adoptRenewedKeys).not.toHaveBeenCalled();
  });

  it('is said to be uncertain while nobody answers, and is done once the relay shows its vault', async () => {
    api.getVault.mockResolvedValueOnce({ ...sealedHere, sealedVault: 'before' });
    api.getVault.mockRejectedValue(lost);
    const onTaken = vi.fn<() => Promise<void>>().mockResolvedValue();
    await expect(renewal.renew(confirmation.prove, failing(lost), onTaken)).rejects.toMatchObject({
      code: 'unreachable',
      message: expect.stringContaining('it is not known yet') as string,
    });
    expect(worker.adoptRenewedKeys).not.toHaveBeenCalled();
    await Promise.all([renewal.onVault(sealedHere), renewal.onVault(sealedHere)]);
    expect(worker.adoptRenewedKeys).toHaveBeenCalledExactlyOnceWith(rotatedVault.sealedVault);
    expect(onTaken).toHaveBeenCalledOnce();
  });

  it('takes the keys over once, also when the relay tells of the vault before it answers', async () => {
    const submit = () => renewal.onVault(sealedHere);
    await renewal.renew(confirmation.prove, async () => ({ vault: rotatedVault, submit }));
    expect(worker.adoptRenewedKeys).toHaveBeenCalledOnce();
  });
});

describe('a recovery key from before vaults held its public half', () => {
  it('is said to have ended with the first renewal, which can’t keep it', async () => {
    deps.store.set(recoveryKeyAtom, () => 'present' as const);
    const kept = { ...taken, vault: { ...rotatedVault, recoveryWrap: 'AAAA' } };
    await renewal.renew(confirmation.prove, async () => kept);
    expect(deps.store.get(recoveryKeyAtom)).toBe('present');
    await renewal.renew(confirmation.prove, async () => ({
      ...taken,
      vault: { ...rotatedVault, recoveryWrap: null },
    }));
    expect(deps.store.get(recoveryKeyAtom)).toBe('none');
    expect(deps.store.get(toastsAtom).map(({ text }) => text)).toEqual([
      'Your recovery key was from an older version and has stopped working. Please create a new one.',
    ]);
  });
});

describe('a vault at the relay that is older than one that this device has seen', () => {
  const isOlder = () => deps.store.get(olderVaultAtom);

  it('is told of, unless an answer was only late', async () => {
    worker.vaultVersion.mockResolvedValue(9);
    api.getVault.mockResolvedValueOnce({ ...sealedHere, version: 9 });
    await renewal.onVault(vaultAt(8));
    expect(isOlder()).toBe(false);
    api.getVault.mockResolvedValue({ ...sealedHere, version: 8 });
    await renewal.onVault(vaultAt(8));
    expect(isOlder()).toBe(true);
    worker.vaultVersion.mockResolvedValue(8);
    await renewal.onVault(vaultAt(8));
    expect(isOlder()).toBe(false);
  });

  it('is gone on with by the password, under renewed keys', async () => {
    worker.acceptOlderVault.mockResolvedValue(rotatedVault);
    await renewal.acceptOlder();
    expect(confirmation.asked).toEqual([{ kind: 'accept-older-vault', target: '', id: null }]);
    expect(worker.acceptOlderVault).toHaveBeenCalledWith(storedVault);
    expect(api.putVault).toHaveBeenCalledWith(rotatedVault, confirmation.prove);
    expect(worker.adoptRenewedKeys).toHaveBeenCalledWith(rotatedVault.sealedVault);
  });
});
