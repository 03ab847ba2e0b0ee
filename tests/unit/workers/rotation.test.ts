import {
  newestSharedKeys,
  openAccountState,
  openShared,
  openVault,
  type SharedKeys,
  sealAccountState,
  unwrapVaultKey,
  verifyAccountState,
} from '@sinetti/crypto-core/account';
import { describe, expect, it } from 'vitest';
import { accountDatabaseName } from '#workers/storage/db.ts';
import { cheapPasswordKeys } from './support/browser.ts';
import { ALICE, ALICE_AND_BOB, BOB, PASSWORD, type TestDevice, textOf } from './support/device.ts';
import {
  changePassword,
  held,
  holds,
  NEW_PASSWORD,
  revisionsIn,
  takeOver,
  threeDevices,
} from './support/heldKeys.ts';
import { wholeState } from './support/relay.ts';
import { openVaultOf, storageKeyOf } from './support/rogue.ts';
import { answer, openRecords } from './support/storage.ts';

const DAY = 24 * 60 * 60 * 1000;
const decode = (text: string) => new Uint8Array(Buffer.from(text, 'base64url'));

/** Writes the newest message's copy as the device leaves it at the relay. */
async function copyOf(device: TestDevice): Promise<{ sealed: string; place: string }> {
  await device.sync();
  const { copies } = (await device.api.nextBackupEntries(ALICE_AND_BOB))!;
  const { id, sealed } = copies.at(-1)!;
  return { sealed, place: `${ALICE_AND_BOB}/${id}` };
}

describe('what a browser keeps of the account', () => {
  it('is the keys that devices share, and never what certifies devices or opens the vault', async () => {
    const { laptop, phone, relay, tablet } = await threeDevices();
    await laptop.revoke(phone.deviceId);
    await takeOver(tablet);
    await changePassword(tablet, PASSWORD, NEW_PASSWORD);
    const { accountSeed, deviceSecret, sharedKeys } = openVaultOf(relay, ALICE);
    for (const device of [laptop, phone, tablet]) {
      const content = await held(device);
      expect([holds(content, accountSeed), holds(content, deviceSecret)]).toEqual([false, false]);
    }
    expect(revisionsIn(await held(tablet), sharedKeys)).toEqual([1, 2, 3]);
  });

  it('is a storage key of its own', async () => {
    const { laptop, phone, relay, tablet } = await threeDevices();
    const keys = await Promise.all([laptop, phone, tablet].map((device) => storageKeyOf(relay, device)));
    expect(new Set(keys.map((key) => Buffer.from(key).toString('hex'))).size).toBe(3);
    for (const [i, device] of [phone, tablet, laptop].entries()) {
      const db = await answer<IDBDatabase>(device.browser.indexedDB.open(accountDatabaseName(ALICE)));
      await expect(openRecords(db, keys[i]!)).rejects.toMatchObject({ code: 'corrupt-record' });
      db.close();
    }
  });
});

describe('who has which keys', () => {
  it('is told by what each device has heard of', async () => {
    const { laptop, phone, relay, tablet, world } = await threeDevices();
    const revisions = async () => {
      const { sharedKeys } = openVaultOf(relay, ALICE);
      return Promise.all(
        [laptop, phone, tablet].map(async (device) => revisionsIn(await held(device), sharedKeys)),
      );
    };
    expect(await revisions()).toEqual([[1], [1], [1]]);
    // The phone is revoked by the laptop; the tablet has not heard of it yet.
    await laptop.revoke(phone.deviceId);
    expect(await revisions()).toEqual([[1, 2], [1], [1]]);
    await takeOver(tablet);
    expect(await revisions()).toEqual([[1, 2], [1], [1, 2]]);
    // The tablet is locked and away for 40 days, in which the password changes.
    await tablet.api.lock();
    await changePassword(laptop, PASSWORD, NEW_PASSWORD);
    world.clock.advance(40 * DAY);
    expect(await revisions()).toEqual([[1, 2, 3], [1], [1, 2]]);
    await tablet.logIn();
    expect(await revisions()).toEqual([[1, 2, 3], [1], [1, 2, 3]]);
    expect(await tablet.api.openDevice()).toMatchObject({ deviceId: tablet.deviceId, isNew: false });
  });

  it('a device that was revoked gets no newer ones by racing the one that revokes it', async () => {
    const { laptop, phone } = await threeDevices();
    const before = phone.vault();
    await phone.confirm('revoke-device', laptop.deviceId);
    const raced = await phone.api.revokeDevice({ vault: before, deviceId: laptop.deviceId });
    await laptop.revoke(phone.deviceId);
    expect(() => phone.relay.rotate(ALICE, raced.vault)).toThrow('a stale vault');
  });

  it('a device whose renewal the relay never took goes on with the keys it has', async () => {
    const { laptop, relay } = await threeDevices();
    await laptop.confirm('replace-recovery-key');
    await laptop.api.replaceRecoveryKey(laptop.vault());
    const { sharedKeys } = openVaultOf(relay, ALICE);
    expect(revisionsIn(await held(laptop), sharedKeys)).toEqual([1]);
    await laptop.mark(BOB, true);
    await laptop.confirm('replace-recovery-key');
    const renewed = await laptop.api.replaceRecoveryKey(laptop.vault());
    relay.rotate(ALICE, renewed);
    await expect(laptop.api.adoptRenewedKeys('AAAA')).rejects.toMatchObject({ code: 'usage' });
    await laptop.api.adoptRenewedKeys(renewed.sealedVault);
    expect(await laptop.api.vaultVersion()).toBe(2);
    await expect(laptop.api.adoptRenewedKeys(renewed.sealedVault)).rejects.toMatchObject({ code: 'usage' });
  });
});

describe('with the disk of a revoked device, and all that the relay ever had', () => {
  it('nothing opens that was sealed after its revocation', async () => {
    const { bob, laptop, phone, relay } = await threeDevices();
    const formerVault = phone.vault();
    await laptop.mark(BOB, true);
    const stolen = (await keysOf(phone)).sharedKeys;
    await bob.send(ALICE_AND_BOB, 'before');
    const before = await copyOf(laptop);
    await laptop.revoke(phone.deviceId);
    await laptop.readState();
    await bob.send(ALICE_AND_BOB, 'after it was stolen');
    const after = await copyOf(laptop);
    const state = decode(laptop.state()!.sealed);

    // The phone's earlier messages stay open to it, as its own records do.
    expect(openShared('history', stolen, before.place, decode(before.sealed)).length).toBeGreaterThan(0);
    const tries = [
      () => openShared('history', stolen, after.place, decode(after.sealed)),
      () => openAccountState(verifyAccountState(state).sealed, stolen, ALICE),
      ...stolen
        .flatMap(({ historyKey, stateKey }) => [historyKey, stateKey])
        .flatMap((key) => [formerVault, laptop.vault()].map((vault) => [key, vault] as const))
        .flatMap(([key, vault]) => [
          () => openVault(decode(vault.sealedVault), key, ALICE),
          () => unwrapVaultKey(decode(vault.passwordWrap), key),
        ]),
    ];
    for (const attempt of tries) expect(attempt).toThrow(/missing-key|corrupt-record|wrong-password/);
    // A person who knows the password can open it, which shows that there was something to open.
    const { sharedKeys } = openVaultOf(relay, ALICE);
    expect(openShared('history', sharedKeys, after.place, decode(after.sealed)).length).toBeGreaterThan(0);
    expect(openAccountState(verifyAccountState(state).sealed, sharedKeys, ALICE).verified).toHaveLength(1);
  });
});

describe('with an old password, and a vault and wraps of its time', () => {
  it('the account seed opens, and nothing that was sealed after the change', async () => {
    const { bob, laptop, relay } = await threeDevices();
    const old = { vault: laptop.vault(), params: relay.passwordParams.get(ALICE)! };
    await laptop.mark(BOB, true);
    await changePassword(laptop, PASSWORD, NEW_PASSWORD);
    await bob.send(ALICE_AND_BOB, 'after the change');
    const after = await copyOf(laptop);

    const { wrapKey } = cheapPasswordKeys(PASSWORD, {
      salt: decode(old.params.salt),
    });
    const vaultKey = unwrapVaultKey(decode(old.vault.passwordWrap), wrapKey);
    const { vault } = openVault(decode(old.vault.sealedVault), vaultKey, ALICE);
    const present = openVaultOf(relay, ALICE);
    // SECURITY.md says so: only moving to a new account key shuts out who had the seed.
    expect(vault.accountSeed).toEqual(present.accountSeed);
    const tries = [
      () => openVault(decode(laptop.vault().sealedVault), vaultKey, ALICE),
      () => unwrapVaultKey(decode(laptop.vault().passwordWrap), wrapKey),
      () => openShared('history', vault.sharedKeys, after.place, decode(after.sealed)),
      () => openAccountState(decode(laptop.state()!.sealed), vault.sharedKeys, ALICE),
    ];
    for (const attempt of tries) expect(attempt).toThrow(/missing-key|corrupt-record|wrong-password/);
    expect(newestSharedKeys(vault.sharedKeys).revision).toBe(1);
  });
});

describe('a relay with old vaults', () => {
  it('has none of them opened for new keys, nor sealed again', async () => {
    const { laptop, phone, tablet } = await threeDevices();
    const former = laptop.vault();
    await laptop.revoke(phone.deviceId);
    await takeOver(tablet);
    const made = [former.version, laptop.vault().version, 900].map((version) => ({ ...former, version }));
    for (const old of [...made, { ...laptop.vault(), version: 900 }]) {
      await tablet.confirm('renew-keys');
      await expect(tablet.api.readRenewedKeys(old)).rejects.toMatchObject({ code: 'stale-vault' });
      await tablet.confirm('revoke-device', laptop.deviceId);
      await expect(tablet.api.revokeDevice({ vault: old, deviceId: laptop.deviceId })).rejects.toMatchObject({
        code: 'stale-vault',
      });
    }
    expect(await tablet.api.vaultVersion()).toBe(2);
  });

  it('takes no key from a browser that logs in with one', async () => {
    const { laptop, phone, relay, tablet } = await threeDevices();
    const former = laptop.vault();
    await laptop.revoke(phone.deviceId);
    await takeOver(tablet);
    const { sharedKeys } = openVaultOf(relay, ALICE);
    await tablet.api.lock();
    relay.vaults.set(ALICE, former);
    await tablet.logIn();
    expect(revisionsIn(await held(tablet), sharedKeys)).toEqual([1, 2]);
  });
});

describe('with the keys of a removed browser, and what a stolen token may write', () => {
  it('nobody is marked as verified at a device with newer keys, and the state is put right', async () => {
    const { laptop, phone, relay } = await threeDevices();
    await laptop.mark(BOB, true);
    const { sharedKeys } = await keysOf(phone);
    await laptop.revoke(phone.deviceId);
    await laptop.readState();
    const env = { random: (length: number) => new Uint8Array(length), now: () => 0 };
    const forged = sealAccountState({ verified: [], pins: [], revision: 99 }, sharedKeys, ALICE, env);
    for (const state of [forged, Uint8Array.of(0, 255, 255, 255, 255)].map(wholeState)) {
      relay.states.set(ALICE, state);
      await laptop.readState();
      const trust = (await laptop.api.contactTrust()).find(({ userId }) => userId === BOB);
      expect(trust?.verifiedAt).not.toBeNull();
      expect(relay.states.get(ALICE)).not.toBe(state);
    }
  });

  it('a state that another device has sealed under newer keys stays in its place', async () => {
    const { laptop, phone, relay, tablet } = await threeDevices();
    await laptop.mark(BOB, true);
    await laptop.revoke(phone.deviceId);
    await laptop.readState();
    const sealed = relay.states.get(ALICE)!;
    await expect(tablet.api.adoptState(sealed)).rejects.toMatchObject({ code: 'missing-key' });
  });
});

describe('a confirmation that ends while its operation goes on', () => {
  it('leaves no vault under a key that somebody knows', async () => {
    const { laptop, phone, world } = await threeDevices();
    await laptop.confirm('revoke-device', phone.deviceId);
    const sealing = laptop.api.revokeDevice({ vault: laptop.vault(), deviceId: phone.deviceId });
    world.clock.advance(3 * 60 * 1000);
    // It finds the confirmation too old, and wipes its keys.
    const request = {
      operation: 'DELETE /user',
      body: '',
      replaces: 1,
      session: ALICE,
      nonce: 'A'.repeat(43),
    };
    await expect(laptop.api.signPendingProof(request)).rejects.toMatchObject({ code: 'usage' });
    const { vault } = await sealing;
    expect(() => unwrapVaultKey(decode(vault.passwordWrap), new Uint8Array(32))).toThrow('wrong-password');
  });
});

describe('renewing the keys', () => {
  it('keeps every message and mark of the device that does it', async () => {
    const { laptop, phone } = await threeDevices();
    await laptop.send(ALICE_AND_BOB, 'before');
    await laptop.sync();
    await laptop.mark(BOB, true);
    await laptop.revoke(phone.deviceId);
    await laptop.readState();
    const reloaded = await laptop.openTab();
    expect((await reloaded.history(ALICE_AND_BOB)).map(textOf)).toEqual(['before']);
    const trust = (await reloaded.api.contactTrust()).find(({ userId }) => userId === BOB);
    expect(trust?.verifiedAt).not.toBeNull();
  });

  it('brings copies and marks from before and after to a browser that logs in later', async () => {
    const { bob, laptop, phone, world } = await threeDevices();
    await bob.send(ALICE_AND_BOB, 'before');
    const before = await copyOf(laptop);
    await laptop.mark(BOB, true);
    await laptop.revoke(phone.deviceId);
    await laptop.readState();
    await bob.send(ALICE_AND_BOB, 'after');
    const after = await copyOf(laptop);
    const fresh = await world.device(ALICE);
    const copies = [before, after].map(({ place, sealed }, i) => ({
      id: place.slice(ALICE_AND_BOB.length + 1),
      conversationId: ALICE_AND_BOB,
      sealed,
      position: i + 1,
    }));
    const { isComplete, messages } = await fresh.api.readBackup(copies);
    expect(isComplete).toBe(true);
    expect(messages.map(textOf)).toEqual(['before', 'after']);
    const trust = (await fresh.api.contactTrust()).find(({ userId }) => userId === BOB);
    expect(trust?.verifiedAt).not.toBeNull();
  });

  it('has copies wait at a device without the new keys, in their order, until it has them', async () => {
    const { bob, laptop, phone, tablet } = await threeDevices();
    await bob.send(ALICE_AND_BOB, 'before');
    const before = await copyOf(laptop);
    await laptop.revoke(phone.deviceId);
    await bob.send(ALICE_AND_BOB, 'after');
    const after = await copyOf(laptop);
    const copies = [before, after, before].map(({ place, sealed }, i) => ({
      id: place.slice(ALICE_AND_BOB.length + 1),
      conversationId: ALICE_AND_BOB,
      sealed,
      position: i + 1,
    }));
    expect(await tablet.api.readBackup(copies)).toMatchObject({ isComplete: false });
    expect((await tablet.api.backupState()).position).toBe(1);
    await takeOver(tablet);
    expect(await tablet.api.readBackup(copies.slice(1))).toMatchObject({ isComplete: true });
    expect((await tablet.api.backupState()).position).toBe(3);
  });

  it('is read by nobody who has not confirmed it', async () => {
    const { laptop, phone, tablet } = await threeDevices();
    await laptop.revoke(phone.deviceId);
    await expect(tablet.api.readRenewedKeys(tablet.vault())).rejects.toMatchObject({ code: 'usage' });
    await tablet.confirm('delete-account');
    await expect(tablet.api.readRenewedKeys(tablet.vault())).rejects.toMatchObject({ code: 'usage' });
    expect(await tablet.api.vaultVersion()).toBe(1);
  });
});

/** The keys that whoever has a device's disk and session reads there. */
async function keysOf(device: TestDevice): Promise<{ sharedKeys: SharedKeys[] }> {
  const [, record = ''] = /(\{"sharedKeys":.*?\})(?:\n|$)/s.exec(await held(device)) ?? [];
  interface Row {
    readonly revision: number;
    readonly stateKey: string;
    readonly historyKey: string;
  }
  const { sharedKeys } = JSON.parse(record) as { sharedKeys: Row[] };
  return {
    sharedKeys: sharedKeys.map(({ historyKey, revision, stateKey }) => ({
      revision,
      stateKey: decode(stateKey),
      historyKey: decode(historyKey),
    })),
  };
}

describe('a relay that was restored from a backup', () => {
  const goOn = async (device: TestDevice) => {
    await device.confirm('accept-older-vault');
    const vault = await device.api.acceptOlderVault(device.vault());
    device.relay.rotate(ALICE, vault);
    await device.api.adoptRenewedKeys(vault.sealedVault);
    await device.readState();
  };

  it('is gone on with on the word of the person alone, under keys that nobody had before', async () => {
    const { laptop, phone, relay, tablet } = await threeDevices();
    const backup = laptop.vault();
    await laptop.revoke(phone.deviceId);
    await takeOver(tablet);
    await laptop.revoke(tablet.deviceId);
    relay.vaults.set(ALICE, backup);
    const accept = () => laptop.api.acceptOlderVault(laptop.vault());
    await expect(accept()).rejects.toMatchObject({ code: 'usage' });
    await laptop.confirm('renew-keys');
    await expect(accept()).rejects.toMatchObject({ code: 'usage' });
    await expect(laptop.api.readRenewedKeys(laptop.vault())).rejects.toMatchObject({ code: 'stale-vault' });
    await goOn(laptop);
    expect(await laptop.api.vaultVersion()).toBe(2);
    const { sharedKeys } = openVaultOf(relay, ALICE);
    expect(revisionsIn(await held(laptop), sharedKeys)).toEqual([1, 2]);
    // Keys of the lost renewals have the same revisions, and are not the same.
    expect(revisionsIn(await held(tablet), sharedKeys)).toEqual([1]);
    expect(revisionsIn(await held(phone), sharedKeys)).toEqual([1]);
    // Everything after it is as ever.
    await laptop.revoke(tablet.deviceId);
    expect(await laptop.api.vaultVersion()).toBe(3);
  });
});
