import { describe, expect, it } from 'vitest';
import type { SealedVault } from '#workers/api/cryptoApi.ts';
import { Browser, Clock } from './support/browser.ts';
import { ALICE, ALICE_AND_BOB, BOB, createPair, PASSWORD, textOf } from './support/device.ts';

const NEW_PASSWORD = 'a quieter harbour';

/** Creates Alice and Bob, and a recovery key of Alice's whose wrap the relay has. */
async function aliceWithRecoveryKey() {
  const pair = await createPair();
  const { alice, relay } = pair;
  const created = await alice.api.createRecoveryKey();
  const vault: SealedVault = { ...relay.vaults.get(ALICE)!, recoveryWrap: created.recoveryWrap };
  relay.vaults.set(ALICE, vault);
  return { ...pair, ...created, vault };
}

const freshBrowser = () => new Browser('another browser', new Clock()).tab();

describe('the recovery key', () => {
  it('opens the vault on a fresh browser, and wraps it for a new password', async () => {
    const { alice, bob, recoveryKey, recoveryAuthKey, vault } = await aliceWithRecoveryKey();
    await bob.send(ALICE_AND_BOB, 'are you there?');
    const api = freshBrowser();
    expect(await api.beginRecovery(recoveryKey)).toEqual({ recoveryAuthKey });
    const recovered = await api.recoverVault(ALICE, vault, NEW_PASSWORD);
    const device = await api.openDevice();
    expect(device).toMatchObject({ userId: ALICE, isNew: true });
    // Alice's other device accepts the certificate, since her account key is the same.
    expect(await alice.api.observeDevices(ALICE, [device.certificate])).toBeNull();
    expect(await bob.api.observeDevices(ALICE, [device.certificate])).toMatchObject({ keyOffered: false });

    const { authKey, passwordParams, passwordWrap } = recovered;
    const renewed = { ...vault, passwordWrap };
    const later = freshBrowser();
    expect(await later.beginLogin(NEW_PASSWORD, passwordParams)).toEqual({ authKey });
    await later.openVault(ALICE, renewed);
    await later.beginLogin(PASSWORD, passwordParams);
    await expect(later.openVault(ALICE, renewed)).rejects.toMatchObject({ code: 'wrong-password' });
  });

  it('is another key each time, and opens only a vault that is wrapped for it', async () => {
    const { alice, recoveryKey, vault } = await aliceWithRecoveryKey();
    const second = await alice.api.createRecoveryKey();
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
    const { alice, vault } = await aliceWithRecoveryKey();
    const reloaded = await alice.openTab();
    const { recoveryKey, recoveryWrap } = await reloaded.api.createRecoveryKey();
    const api = freshBrowser();
    await api.beginRecovery(recoveryKey);
    await api.recoverVault(ALICE, { ...vault, recoveryWrap }, NEW_PASSWORD);
    await alice.api.lock();
    await expect(alice.api.createRecoveryKey()).rejects.toMatchObject({ code: 'locked' });
  });
});

describe('a new password', () => {
  it('opens the vault from then on, and the old password does not', async () => {
    const { alice, relay } = await createPair();
    const vault = relay.vaults.get(ALICE)!;
    const currentParams = relay.passwordParams.get(ALICE)!;
    const { authKey: oldAuthKey } = await freshBrowser().beginLogin(PASSWORD, currentParams);
    const changed = await alice.api.changePassword({
      currentPassword: PASSWORD,
      currentParams,
      newPassword: NEW_PASSWORD,
      passwordWrap: vault.passwordWrap,
    });
    expect(changed.currentAuthKey).toBe(oldAuthKey);
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
    expect(await api.beginLogin(NEW_PASSWORD, changed.passwordParams)).toEqual({ authKey: changed.authKey });
    await api.openVault(ALICE, renewed);
    // The session of this browser is not affected.
    await alice.send(ALICE_AND_BOB, 'still me');
    await alice.sync();
    expect((await alice.history(ALICE_AND_BOB)).map(textOf)).toEqual(['still me']);
  });

  it('is refused without the old password', async () => {
    const { alice, relay } = await createPair();
    await expect(
      alice.api.changePassword({
        currentPassword: 'a guess',
        currentParams: relay.passwordParams.get(ALICE)!,
        newPassword: NEW_PASSWORD,
        passwordWrap: relay.vaults.get(ALICE)!.passwordWrap,
      }),
    ).rejects.toMatchObject({ code: 'wrong-password' });
  });
});
