import { describe, expect, it } from 'vitest';
import { ALICE, DAY, PASSWORD, selfOf, type TestDevice } from './support/device.ts';
import {
  changePassword,
  held,
  NEW_PASSWORD,
  revisionsIn,
  takeOver,
  threeDevices,
} from './support/heldKeys.ts';
import { openVaultOf } from './support/rogue.ts';

const OWN = selfOf(ALICE);

describe('who has which keys, among devices that are in a group', () => {
  /** Alice's devices, a desk beside them, in their group. */
  async function fourDevices() {
    const { laptop, phone, relay, tablet, world } = await threeDevices();
    const desk = await world.device(ALICE);
    await laptop.start(OWN);
    const devices = { laptop, phone, tablet, desk };
    for (const device of Object.values(devices)) await device.syncOne(OWN);
    const revisions = async () => {
      const { sharedKeys } = openVaultOf(relay, ALICE);
      const found: Record<string, number[]> = {};
      for (const [name, device] of Object.entries(devices))
        found[name] = revisionsIn(await held(device), sharedKeys);
      return found;
    };
    return { ...devices, relay, revisions, world };
  }

  /** Revokes a device, and says the new keys to the others. */
  async function revokeAndShare(by: TestDevice, deviceId: string): Promise<string> {
    const statement = await by.revoke(deviceId);
    await by.api.setRevoked([{ userId: ALICE, deviceId, statement }]);
    await by.shareKeys();
    await by.syncOne(OWN);
    return statement;
  }

  it('is told by what each has heard there: the locked one by its next log-in, the away one when it is back', async () => {
    const { desk, laptop, phone, revisions, tablet, world } = await fourDevices();
    await tablet.api.lock();
    await revokeAndShare(laptop, phone.deviceId);
    expect(await revisions()).toEqual({ laptop: [1, 2], phone: [1], tablet: [1], desk: [1] });
    await desk.syncOne(OWN);
    expect(await revisions()).toEqual({ laptop: [1, 2], phone: [1], tablet: [1], desk: [1, 2] });
    // The desk is away for 40 days, in which the keys are renewed twice more.
    await revokeAndShare(laptop, (await world.device(ALICE)).deviceId);
    await changePassword(laptop, PASSWORD, NEW_PASSWORD);
    await laptop.shareKeys();
    world.clock.advance(40 * DAY);
    expect(await revisions()).toEqual({ laptop: [1, 2, 3, 4], phone: [1], tablet: [1], desk: [1, 2] });
    await desk.syncOne(OWN);
    expect(await revisions()).toMatchObject({ tablet: [1], desk: [1, 2, 3, 4] });
    expect(await desk.api.vaultVersion()).toBe(4);
    // The locked one opens the vault, as ever; what was said while it was locked takes nothing from it.
    await tablet.logIn();
    expect(await tablet.api.openDevice()).toMatchObject({ deviceId: tablet.deviceId, isNew: false });
    await tablet.syncOne(OWN);
    expect(await revisions()).toMatchObject({ phone: [1], tablet: [1, 2, 3, 4] });
  });

  it('is nothing more for a device that is being revoked, whatever it commits or asks for meanwhile', async () => {
    const { desk, laptop, phone, relay, revisions, tablet } = await fourDevices();
    // Its own renewal comes too late at the relay, and what it says of it is believed by nobody who has heard.
    const before = phone.vault();
    await phone.confirm('revoke-device', laptop.deviceId);
    const raced = await phone.api.revokeDevice({ vault: before, deviceId: laptop.deviceId });
    const statement = await laptop.revoke(phone.deviceId);
    await laptop.api.setRevoked([{ userId: ALICE, deviceId: phone.deviceId, statement }]);
    expect(() => relay.rotate(ALICE, raced.vault)).toThrow('a stale vault');
    for (const device of [tablet, desk])
      await device.api.setRevoked([{ userId: ALICE, deviceId: phone.deviceId, statement }]);
    // Its modified page says that the relay took it. What it commits takes the epoch that it was to be removed in.
    const removal = await laptop.api.nextCommit(OWN);
    await phone.api.adoptRenewedKeys(raced.vault.sealedVault);
    expect(await phone.shareKeys()).toBe(true);
    expect(laptop.submit(removal!)).toBe(false);
    await laptop.syncOne(OWN);
    await laptop.shareKeys();
    // A relay that colludes goes on serving it.
    await phone.syncOne(OWN).catch(() => undefined);
    for (const device of [tablet, desk]) await device.syncOne(OWN);
    expect(await revisions()).toEqual({ laptop: [1, 2], phone: [1], tablet: [1, 2], desk: [1, 2] });
  });

  it('is nothing more for a revoked device that the relay lets in again', async () => {
    const { desk, laptop, phone, revisions, tablet } = await fourDevices();
    await revokeAndShare(laptop, phone.deviceId);
    for (const device of [tablet, desk, phone]) await device.syncOne(OWN);
    expect(await phone.api.conversation(OWN)).toMatchObject({ status: 'joined' });
    await revokeAndShare(laptop, desk.deviceId);
    for (const device of [tablet, phone, desk]) await device.syncOne(OWN).catch(() => undefined);
    // The tablet refused to follow the phone, and missed what was said until it came back.
    expect(await revisions()).toEqual({ laptop: [1, 2, 3], phone: [1], tablet: [1, 2], desk: [1, 2] });
    await takeOver(tablet);
    expect(await revisions()).toMatchObject({ tablet: [1, 2, 3] });
  });

  it('is what it was where the relay keeps back what is said, until the person types the password', async () => {
    const { laptop, phone, revisions, tablet } = await fourDevices();
    await revokeAndShare(laptop, phone.deviceId);
    expect(await revisions()).toMatchObject({ laptop: [1, 2], tablet: [1] });
    await takeOver(tablet);
    expect(await revisions()).toMatchObject({ laptop: [1, 2], tablet: [1, 2] });
    await tablet.syncOne(OWN);
    expect(await tablet.api.vaultVersion()).toBe(2);
  });
});

describe('a relay that was restored from a backup', () => {
  it('leaves no two devices with other keys under one number: the other one asks for the password', async () => {
    const { laptop, phone, relay, tablet } = await threeDevices();
    await laptop.start(OWN);
    for (const device of [phone, tablet]) await device.syncOne(OWN);
    const backup = laptop.vault();
    const statement = await laptop.revoke(tablet.deviceId);
    await laptop.api.setRevoked([{ userId: ALICE, deviceId: tablet.deviceId, statement }]);
    await laptop.shareKeys();
    for (const device of [laptop, phone]) await device.syncOne(OWN);
    expect(await phone.api.vaultVersion()).toBe(2);
    relay.vaults.set(ALICE, backup);
    await laptop.confirm('accept-older-vault');
    const vault = await laptop.api.acceptOlderVault(laptop.vault());
    relay.rotate(ALICE, vault);
    await laptop.api.adoptRenewedKeys(vault.sealedVault);
    // Both have revision 2, and not the same keys.
    const { sharedKeys } = openVaultOf(relay, ALICE);
    expect(revisionsIn(await held(phone), sharedKeys)).toEqual([1]);
    expect(await laptop.shareKeys()).toBe(true);
    await phone.syncOne(OWN);
    expect(await phone.api.vaultVersion()).toBeLessThan(laptop.vault().version);
    await takeOver(phone);
    expect(await phone.api.vaultVersion()).toBe(laptop.vault().version);
    expect(revisionsIn(await held(phone), sharedKeys)).toEqual([1, 2]);
  });
});
