import { describe, expect, it } from 'vitest';
import type { CryptoApi, SealedVault } from '#workers/api/cryptoApi.ts';
import { Browser, Clock } from './support/browser.ts';
import { ALICE, ALICE_AND_BOB, BOB, createPair, PASSWORD, textOf } from './support/device.ts';
import type { MemoryRelay } from './support/relay.ts';

const NEW_PASSWORD = 'a quieter harbour';
const anyRequest = { operation: 'PUT /vault', body: '', replaces: 1, session: ALICE, nonce: 'A'.repeat(43) };

/** Creates a recovery key of Alice's, and has the vault key wrapped for it. */
async function newRecoveryKey(api: CryptoApi, relay: MemoryRelay) {
  const passwordParams = relay.passwordParams.get(ALICE)!;
  const { recoveryKey } = await api.createRecoveryKey();
  return { recoveryKey, ...(await api.confirmRecoveryKey({ password: PASSWORD, passwordParams })) };
}

/** Creates Alice and Bob, and a recovery key of Alice's whose wrap the relay has. */
async function aliceWithRecoveryKey() {
  const pair = await createPair();
  const { alice, relay } = pair;
  const created = await newRecoveryKey(alice.api, relay);
  const vault: SealedVault = { ...relay.vaults.get(ALICE)!, recoveryWrap: created.recoveryWrap };
  relay.vaults.set(ALICE, vault);
  return { ...pair, ...created, vault };
}

const freshBrowser = () => new Browser('another browser', new Clock()).tab();

describe('the recovery key', () => {
  it('opens the vault on a fresh browser, and wraps it for a new password', async () => {
    const { alice, bob, recoveryKey, recoveryAuthKey, recoveryProofKey, vault } =
      await aliceWithRecoveryKey();
    await bob.send(ALICE_AND_BOB, 'are you there?');
    const api = freshBrowser();
    expect(await api.beginRecovery(recoveryKey)).toEqual({ recoveryAuthKey, recoveryProofKey });
    const recovered = await api.recoverVault(ALICE, vault, NEW_PASSWORD);
    const device = await api.openDevice();
    expect(device).toMatchObject({ userId: ALICE, isNew: true });
    // Alice's other device accepts the certificate, since her account key is the same.
    expect(await alice.api.observeDevices(ALICE, [device.certificate])).toBeNull();
    expect(await bob.api.observeDevices(ALICE, [device.certificate])).toMatchObject({ keyOffered: false });

    const { authKey, passwordParams, passwordWrap, proofKey } = recovered;
    const renewed = { ...vault, passwordWrap };
    const later = freshBrowser();
    expect(await later.beginLogin(NEW_PASSWORD, passwordParams)).toEqual({ authKey, proofKey });
    await later.openVault(ALICE, renewed);
    await later.beginLogin(PASSWORD, passwordParams);
    await expect(later.openVault(ALICE, renewed)).rejects.toMatchObject({ code: 'wrong-password' });
  });

  it('is another key each time, and opens only a vault that is wrapped for it', async () => {
    const { alice, recoveryKey, relay, vault } = await aliceWithRecoveryKey();
    const second = await newRecoveryKey(alice.api, relay);
    expect(second.recoveryKey).not.toBe(recoveryKey);
    const api = freshBrowser();
    await api.beginRecovery(recoveryKey);
    const rewrapped = { ...vault, recoveryWrap: second.recoveryWrap };
    await expect(api.recoverVault(ALICE, rewrapped, NEW_PASSWORD)).rejects.toMatchObject({
      code: 'bad-recovery-key',
    });
    await expect(api.openDevice()).rejects.toMatchObject({ code: 'locked' });
    await api.beginRecovery(second.recoveryKey);
    await api.recoverVault(ALICE, rewrapped, NEW_PASSWORD);
  });

  it('refuses a mistyped recovery key before the relay is asked', async () => {
    const { recoveryKey, vault } = await aliceWithRecoveryKey();
    const api = freshBrowser();
    const mistyped = recoveryKey.replace(/^./, (digit) => (digit === 'A' ? 'B' : 'A'));
    for (const text of ['', 'hello', mistyped, recoveryKey.slice(5)]) {
      await expect(api.beginRecovery(text)).rejects.toMatchObject({ code: 'bad-recovery-key' });
    }
    await expect(api.recoverVault(ALICE, vault, NEW_PASSWORD)).rejects.toMatchObject({ code: 'usage' });
  });

  it("doesn't open another person's vault by a recovery key", async () => {
    const { recoveryKey, vault } = await aliceWithRecoveryKey();
    const api = freshBrowser();
    await api.beginRecovery(recoveryKey);
    await expect(api.recoverVault(BOB, vault, NEW_PASSWORD)).rejects.toMatchObject({
      code: 'corrupt-record',
    });
  });

  it('can be created after a reload, but not while the browser is locked', async () => {
    const { alice, relay, vault } = await aliceWithRecoveryKey();
    const reloaded = await alice.openTab();
    const { recoveryKey, recoveryWrap } = await newRecoveryKey(reloaded.api, relay);
    const api = freshBrowser();
    await api.beginRecovery(recoveryKey);
    await api.recoverVault(ALICE, { ...vault, recoveryWrap }, NEW_PASSWORD);
    await alice.api.lock();
    await expect(alice.api.createRecoveryKey()).rejects.toMatchObject({ code: 'locked' });
  });
});

describe('a script that calls the worker without the password', () => {
  it.each(['', 'a guess', `${PASSWORD} `])(
    'has the vault key wrapped for no recovery key: %j',
    async (guess) => {
      const { alice, relay } = await createPair();
      const passwordParams = relay.passwordParams.get(ALICE)!;
      await alice.api.createRecoveryKey();
      await expect(alice.api.confirmRecoveryKey({ password: guess, passwordParams })).rejects.toMatchObject({
        code: 'wrong-password',
      });
      await expect(alice.api.signPendingProof(anyRequest)).rejects.toMatchObject({ code: 'usage' });
    },
  );

  it('has it wrapped for no new password, whatever it says that the present one is', async () => {
    const { alice, relay } = await createPair();
    const currentParams = relay.passwordParams.get(ALICE)!;
    const reloaded = await alice.openTab();
    for (const api of [alice.api, reloaded.api]) {
      const change = { currentPassword: 'a guess', currentParams, newPassword: NEW_PASSWORD };
      await expect(api.changePassword(change)).rejects.toMatchObject({ code: 'wrong-password' });
      await expect(api.signPendingProof(anyRequest)).rejects.toMatchObject({ code: 'usage' });
    }
  });

  it('has no recovery key wrapped that was not created', async () => {
    const { alice, relay } = await createPair();
    const passwordParams = relay.passwordParams.get(ALICE)!;
    await expect(alice.api.confirmRecoveryKey({ password: PASSWORD, passwordParams })).rejects.toMatchObject({
      code: 'usage',
    });
  });
});

describe('a new password', () => {
  it('is taken by the worker from then on, and the one before too, since the relay may have refused it', async () => {
    const { alice, relay } = await createPair();
    const currentParams = relay.passwordParams.get(ALICE)!;
    const change = { currentPassword: PASSWORD, currentParams, newPassword: NEW_PASSWORD };
    const { passwordParams } = await alice.api.changePassword(change);
    await alice.api.createRecoveryKey();
    for (const credential of [
      { password: NEW_PASSWORD, passwordParams },
      { password: PASSWORD, passwordParams: currentParams },
    ]) {
      expect(await alice.api.confirmRecoveryKey(credential)).toHaveProperty('recoveryWrap');
    }
  });

  it('is taken by a tab that was open while another one set it', async () => {
    const { alice, relay } = await createPair();
    const other = await alice.openTab();
    const currentParams = relay.passwordParams.get(ALICE)!;
    const change = { currentPassword: PASSWORD, currentParams, newPassword: NEW_PASSWORD };
    const { passwordParams } = await alice.api.changePassword(change);
    await other.api.createRecoveryKey();
    const credential = { password: NEW_PASSWORD, passwordParams };
    expect(await other.api.confirmRecoveryKey(credential)).toHaveProperty('recoveryWrap');
  });

  it('opens the vault from then on, and the old password does not', async () => {
    const { alice, relay } = await createPair();
    const vault = relay.vaults.get(ALICE)!;
    const currentParams = relay.passwordParams.get(ALICE)!;
    const old = await freshBrowser().beginLogin(PASSWORD, currentParams);
    const changed = await alice.api.changePassword({
      currentPassword: PASSWORD,
      currentParams,
      newPassword: NEW_PASSWORD,
    });
    expect(changed).toMatchObject({ currentAuthKey: old.authKey, currentProofKey: old.proofKey });
    expect(changed.proofKey).not.toBe(old.proofKey);
    expect(changed.passwordParams.salt).not.toBe(currentParams.salt);
    const renewed = { ...vault, passwordWrap: changed.passwordWrap };
    const api = freshBrowser();
    for (const [params, password] of [
      [currentParams, PASSWORD],
      [changed.passwordParams, PASSWORD],
    ] as const) {
      await api.beginLogin(password, params);
      await expect(api.openVault(ALICE, renewed)).rejects.toMatchObject({ code: 'wrong-password' });
    }
    expect(await api.beginLogin(NEW_PASSWORD, changed.passwordParams)).toEqual({
      authKey: changed.authKey,
      proofKey: changed.proofKey,
    });
    await api.openVault(ALICE, renewed);
    // The session of this browser is not affected.
    await alice.send(ALICE_AND_BOB, 'still me');
    await alice.sync();
    expect((await alice.history(ALICE_AND_BOB)).map(textOf)).toEqual(['still me']);
  });
});
