import { describe, expect, it } from 'vitest';
import type { Operation } from '#workers/api/cryptoApi.ts';
import { Browser, Clock } from './support/browser.ts';
import {
  ALICE,
  ALICE_AND_BOB,
  BOB,
  createPair,
  PASSWORD,
  type TestDevice,
  textOf,
} from './support/device.ts';

const NEW_PASSWORD = 'a quieter harbour';
const anyRequest = { operation: 'PUT /vault', body: '', replaces: 1, session: ALICE, nonce: 'A'.repeat(43) };

/** Has Alice keep a recovery key, and the relay the vault that it opens. */
async function newRecoveryKey(alice: TestDevice) {
  await alice.confirm('replace-recovery-key');
  const recoveryKey = alice.browser.typist.asked.at(-1)?.recoveryKey ?? '';
  const { recoveryAuthKey, recoveryProofKey, ...rotated } = await alice.api.replaceRecoveryKey(alice.vault());
  const vault = alice.relay.rotate(alice.userId, rotated);
  await alice.api.adoptRenewedKeys(rotated.sealedVault);
  return { recoveryKey, recoveryAuthKey, recoveryProofKey, vault };
}

/** Has Alice change her password. */
async function changePassword(alice: TestDevice, from: string, to: string) {
  alice.browser.typist.knows(from, to);
  await alice.api.confirm({ kind: 'change-password', target: 'alice', id: null }, alice.owner());
  return alice.api.changePassword(alice.vault());
}

/** Creates Alice and Bob, and a recovery key of Alice's. */
async function aliceWithRecoveryKey() {
  const pair = await createPair();
  return { ...pair, ...(await newRecoveryKey(pair.alice)) };
}

const freshBrowser = () => new Browser('another browser', new Clock()).tab();

describe('the recovery key', () => {
  it('opens the vault on a fresh browser, and wraps it for a new password', async () => {
    const { alice, bob, recoveryKey, recoveryAuthKey, recoveryProofKey, relay, vault } =
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

    const { authKey, passwordParams, proofKey } = recovered;
    const renewed = relay.rotate(ALICE, recovered.vault);
    const later = freshBrowser();
    expect(await later.beginLogin(NEW_PASSWORD, passwordParams)).toEqual({ authKey, proofKey });
    await later.openVault(ALICE, renewed);
    await later.beginLogin(PASSWORD, passwordParams);
    await expect(later.openVault(ALICE, renewed)).rejects.toMatchObject({ code: 'wrong-password' });
  });

  it('is another key each time, and opens only a vault that is wrapped for it', async () => {
    const { alice, recoveryKey, vault } = await aliceWithRecoveryKey();
    const second = await newRecoveryKey(alice);
    expect(second.recoveryKey).not.toBe(recoveryKey);
    const api = freshBrowser();
    await api.beginRecovery(recoveryKey);
    await expect(api.recoverVault(ALICE, second.vault, NEW_PASSWORD)).rejects.toMatchObject({
      code: 'bad-recovery-key',
    });
    await expect(api.openDevice()).rejects.toMatchObject({ code: 'locked' });
    await api.beginRecovery(second.recoveryKey);
    // Nor does the first open what its former vault is not sealed for any more.
    await expect(
      api.recoverVault(ALICE, { ...second.vault, sealedVault: vault.sealedVault }, NEW_PASSWORD),
    ).rejects.toMatchObject({ code: 'corrupt-record' });
    await api.recoverVault(ALICE, second.vault, NEW_PASSWORD);
  });

  it('takes over the keys that it renews once the relay has them, and not before', async () => {
    const { recoveryKey, relay, vault } = await aliceWithRecoveryKey();
    const api = freshBrowser();
    await api.beginRecovery(recoveryKey);
    const recovered = await api.recoverVault(ALICE, vault, NEW_PASSWORD);
    expect(await api.vaultVersion()).toBe(vault.version);
    relay.rotate(ALICE, recovered.vault);
    await api.adoptRenewedKeys(recovered.vault.sealedVault);
    expect(await api.vaultVersion()).toBe(vault.version + 1);
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
      code: 'bad-recovery-key',
    });
  });

  it('can be created after a reload, but not while the browser is locked', async () => {
    const { alice } = await aliceWithRecoveryKey();
    const reloaded = await alice.openTab();
    const { recoveryKey, vault } = await newRecoveryKey(reloaded);
    const api = freshBrowser();
    await api.beginRecovery(recoveryKey);
    await api.recoverVault(ALICE, vault, NEW_PASSWORD);
    await alice.api.lock();
    await expect(alice.confirm('replace-recovery-key')).rejects.toMatchObject({ code: 'locked' });
  });
});

describe('a script that calls the worker', () => {
  it.each(['', 'a guess', `${PASSWORD} `])(
    'has nothing confirmed by a person who types a wrong password: %j',
    async (guess) => {
      const { alice } = await createPair();
      alice.browser.typist.knows(guess);
      const operation = { kind: 'create-recovery-key', target: 'alice', id: null } as const;
      await expect(alice.api.confirm(operation, alice.owner())).rejects.toMatchObject({ code: 'cancelled' });
      await expect(alice.api.replaceRecoveryKey(alice.vault())).rejects.toMatchObject({ code: 'usage' });
      await expect(alice.api.signPendingProof(anyRequest)).rejects.toMatchObject({ code: 'usage' });
    },
  );

  it('has nothing confirmed with parameters of its own', async () => {
    const { alice } = await createPair();
    alice.browser.typist.knows(PASSWORD);
    const passwordParams = { ...alice.owner().passwordParams, salt: 'A'.repeat(22) };
    const operation = { kind: 'delete-account', target: 'alice', id: null } as const;
    await expect(alice.api.confirm(operation, { ...alice.owner(), passwordParams })).rejects.toMatchObject({
      code: 'cancelled',
    });
    expect(alice.browser.typist.asked).toHaveLength(1);
  });

  it('has the vault sealed for no recovery key and no password that was not confirmed', async () => {
    const { alice } = await createPair();
    await alice.confirm('delete-account');
    await expect(alice.api.replaceRecoveryKey(alice.vault())).rejects.toMatchObject({ code: 'usage' });
    await expect(alice.api.changePassword(alice.vault())).rejects.toMatchObject({ code: 'usage' });
    // Nor where the person has typed no new password.
    await alice.confirm('change-password');
    await expect(alice.api.changePassword(alice.vault())).rejects.toMatchObject({ code: 'usage' });
  });

  it('gets the recovery key from no method', async () => {
    const { alice, recoveryKey, ...pair } = await aliceWithRecoveryKey();
    const { recoveryAuthKey, recoveryProofKey, vault } = pair;
    expect(JSON.stringify({ recoveryAuthKey, recoveryProofKey, vault })).not.toContain(recoveryKey);
    expect(Object.keys(alice.api)).not.toContain('createRecoveryKey');
  });

  it.each([
    { kind: 'take-over' },
    { target: 'x'.repeat(321) },
    { id: 'not an id' },
    { kind: null, target: null },
  ])('has nothing asked that the frame has no words for: %o', async (change) => {
    const { alice } = await createPair();
    const operation = { kind: 'delete-account', target: 'alice', id: null, ...change };
    await expect(alice.api.confirm(operation as Operation, alice.owner())).rejects.toMatchObject({
      code: 'usage',
    });
    expect(alice.browser.typist.asked).toEqual([]);
  });
});

describe('a new password', () => {
  it('is taken by the worker from then on, and the one before too, since the relay may have refused it', async () => {
    const { alice } = await createPair();
    const { passwordParams } = await changePassword(alice, PASSWORD, NEW_PASSWORD);
    for (const [password, params] of [
      [NEW_PASSWORD, passwordParams],
      [PASSWORD, alice.owner().passwordParams],
    ] as const) {
      alice.browser.typist.knows(password);
      const owner = { ...alice.owner(), passwordParams: params };
      const confirmed = alice.api.confirm({ kind: 'delete-account', target: 'alice', id: null }, owner);
      await expect(confirmed).resolves.toBeUndefined();
    }
  });

  it('is the only one that is taken once the relay is known to have it', async () => {
    const { alice } = await createPair();
    const { vault } = await changePassword(alice, PASSWORD, NEW_PASSWORD);
    alice.relay.rotate(ALICE, vault);
    await alice.api.adoptRenewedKeys(vault.sealedVault);
    alice.browser.typist.knows(PASSWORD);
    const operation = { kind: 'delete-account', target: 'alice', id: null } as const;
    await expect(alice.api.confirm(operation, alice.owner())).rejects.toMatchObject({ code: 'cancelled' });
  });

  it('is taken by a tab that was open while another one set it', async () => {
    const { alice } = await createPair();
    const other = await alice.openTab();
    const { passwordParams } = await changePassword(alice, PASSWORD, NEW_PASSWORD);
    other.browser.typist.knows(NEW_PASSWORD);
    const owner = { ...other.owner(), passwordParams };
    const confirmed = other.api.confirm({ kind: 'delete-account', target: 'alice', id: null }, owner);
    await expect(confirmed).resolves.toBeUndefined();
  });

  it('opens the vault from then on, and the old password does not', async () => {
    const { alice, relay } = await createPair();
    const currentParams = relay.passwordParams.get(ALICE)!;
    const old = await freshBrowser().beginLogin(PASSWORD, currentParams);
    const changed = await changePassword(alice, PASSWORD, NEW_PASSWORD);
    expect(changed.currentAuthKey).toBe(old.authKey);
    expect(changed.proofKey).not.toBe(old.proofKey);
    expect(changed.passwordParams.salt).not.toBe(currentParams.salt);
    const renewed = relay.rotate(ALICE, changed.vault);
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
