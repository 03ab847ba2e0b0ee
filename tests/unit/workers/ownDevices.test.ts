import { describe, expect, it } from 'vitest';
import { ALICE, ALICE_AND_BOB, BOB, createPair, createWorld, selfOf, textOf } from './support/device.ts';
import {
  devicesIn,
  idsOf,
  kept,
  know,
  modifiedClient,
  newest,
  OWN,
  refused,
  revoke,
  threeDevices,
  versionOf,
} from './support/ownDevices.ts';
import { decode, openVaultOf } from './support/rogue.ts';
import { crashAtWrite } from './support/storage.ts';

describe("the group of a person's own devices", () => {
  it('is started by one device, and entered by Welcome or from outside', async () => {
    const { laptop, phone, tablet, world } = await threeDevices();
    const late = await world.device(ALICE);
    await late.syncOne(OWN);
    for (const device of [laptop, phone, tablet, late]) {
      await device.sync();
      expect(await devicesIn(device)).toEqual(idsOf(laptop, phone, tablet, late));
    }
  });

  it('is one, whichever of two that start at once comes first', async () => {
    const world = createWorld();
    const [laptop, phone] = [await world.device(ALICE), await world.device(ALICE)];
    const [first, second] = await Promise.all(
      [laptop, phone].map(({ api, deviceId }) =>
        api.startConversation({
          conversationId: OWN,
          keyPackages: world.relay.claim([ALICE], deviceId),
        }),
      ),
    );
    expect([laptop.submit(first!), phone.submit(second!)]).toEqual([true, false]);
    for (const device of [laptop, phone]) {
      await device.sync();
      expect(await devicesIn(device)).toEqual(idsOf(laptop, phone));
    }
  });

  it('is followed by a device that hears of a revocation before it reads how the revoked one came', async () => {
    for (const isTakenOut of [true, false]) {
      const { laptop, phone, relay, tablet, world } = await threeDevices();
      for (const device of [laptop, phone]) await device.syncOne(OWN);
      const { lastSeq } = await phone.api.conversation(OWN);
      // While the phone is away a device comes in, and is revoked.
      const desk = await world.device(ALICE);
      await desk.syncOne(OWN);
      for (const device of [laptop, tablet]) await device.syncOne(OWN);
      const statement = await revoke(laptop, desk);
      if (isTakenOut) laptop.submit((await laptop.api.nextCommit(OWN))!);
      await know(phone, desk, statement);
      const { events, state } = await phone.api.processEntries(OWN, relay.entries(OWN, lastSeq));
      expect(events.map(({ change }) => change.kind)).not.toContain('refused');
      expect(state).toMatchObject({ status: 'joined' });
      expect((await devicesIn(phone)).includes(desk.deviceId)).toBe(!isTakenOut);
      // It takes the device out before it says anything.
      const removal = await phone.api.nextCommit(OWN);
      expect(removal === null).toBe(isTakenOut);
      if (removal !== null) phone.submit(removal);
      for (const device of [laptop, phone, tablet]) {
        await device.syncOne(OWN);
        expect(await devicesIn(device)).toEqual(idsOf(laptop, phone, tablet));
      }
    }
  });

  it('is nobody else’s', async () => {
    const { alice, bob, relay } = await createPair();
    const usage = { code: 'usage' };
    const others = relay.claim([BOB], '');
    const starts = [
      { conversationId: OWN, keyPackages: others },
      { conversationId: selfOf(BOB), keyPackages: others },
    ];
    for (const start of starts) await expect(alice.api.startConversation(start)).rejects.toMatchObject(usage);
    await expect(bob.api.processEntries(OWN, [])).rejects.toMatchObject(usage);
    await expect(bob.api.leaveStatement(selfOf(BOB))).rejects.toMatchObject(usage);
  });

  it('keeps nothing of what it does not know, and tells the page nothing of the keys that are said there', async () => {
    const { laptop, phone, tablet, world } = await threeDevices();
    const rogue = await modifiedClient(world);
    rogue.send(OWN, JSON.stringify({ v: 2, type: 'text', text: 'of later', sentAt: '2026-03-01T10:00:00Z' }));
    expect(await phone.syncOne(OWN)).toEqual([]);
    expect(await newest(phone)).toEqual(refused);
    expect(await kept(phone, ['messages'])).not.toContain('of later');
    await revoke(laptop, tablet);
    await laptop.shareKeys();
    expect(await phone.syncOne(OWN)).toEqual([]);
    expect(await newest(phone)).toEqual({ kind: 'unknown' });
    expect(await phone.api.conversation(OWN)).toMatchObject({ lastMessage: null, unread: 0 });
    expect(await phone.history(OWN)).toEqual([]);
  });
});

describe('renewed keys', () => {
  it('are taken over by the other devices, once the revoked one is out', async () => {
    const { laptop, phone, tablet } = await threeDevices();
    await revoke(laptop, phone);
    expect(await laptop.shareKeys()).toBe(true);
    await laptop.sync();
    expect(await laptop.shareKeys()).toBe(false);
    expect(await devicesIn(laptop)).toEqual(idsOf(laptop, tablet));
    expect(await versionOf(tablet)).toBe(1);
    await tablet.sync();
    expect(await versionOf(tablet)).toBe(2);
    await phone.syncOne(OWN).catch(() => undefined);
    expect(await versionOf(phone)).toBe(1);
  });

  it('seal the copies of the device that took them over, and open the vault as before at its next log-in', async () => {
    const { alice: laptop, bob, world } = await createPair();
    const [phone, tablet] = [await world.device(ALICE), await world.device(ALICE)];
    await laptop.start(OWN);
    for (const device of [laptop, phone, tablet, bob]) await device.sync();
    await revoke(laptop, phone);
    await laptop.shareKeys();
    await tablet.sync();
    await bob.send(ALICE_AND_BOB, 'after');
    await tablet.sync();
    const { copies } = (await tablet.api.nextBackupEntries(ALICE_AND_BOB))!;
    await laptop.sync();
    const read = await laptop.api.readBackup(copies.map((copy, i) => ({ ...copy, position: i + 1 })));
    expect(read.isComplete).toBe(true);
    expect(copies.map(({ sealed }) => new DataView(decode(sealed).buffer).getUint32(0))).toEqual([2]);
    await tablet.api.lock();
    await tablet.logIn();
    expect(await tablet.api.openDevice()).toMatchObject({ deviceId: tablet.deviceId, isNew: false });
    expect((await tablet.history(ALICE_AND_BOB)).map(textOf)).toEqual(['after']);
  });

  it('reach a device that missed several renewals, with all keys between', async () => {
    const { laptop, phone, relay, tablet, world } = await threeDevices();
    await revoke(laptop, phone);
    const spare = await world.device(ALICE);
    await revoke(laptop, spare);
    await laptop.shareKeys();
    await tablet.sync();
    const { sharedKeys } = openVaultOf(relay, ALICE);
    const held = await kept(tablet, ['device']);
    expect(await versionOf(tablet)).toBe(3);
    for (const { historyKey } of sharedKeys) {
      expect(held).toContain(Buffer.from(historyKey).toString('base64url'));
    }
  });

  it('are said once, and to a device that comes in later only those that come after it', async () => {
    const { laptop, phone, tablet, world } = await threeDevices();
    await revoke(laptop, phone);
    await laptop.shareKeys();
    for (const device of [tablet, laptop]) await device.sync();
    const late = await world.device(ALICE);
    await late.syncOne(OWN);
    const devices = [laptop, tablet, late];
    for (const device of devices) await device.sync();
    const share = async () => {
      const shared: boolean[] = [];
      for (const device of devices) {
        shared.push(await device.shareKeys());
        for (const other of devices) await other.sync();
      }
      return shared;
    };
    expect(await share()).toEqual([false, false, false]);
    await revoke(late, await world.device(ALICE));
    expect(await share()).toEqual([false, false, true]);
    expect(await Promise.all(devices.map(versionOf))).toEqual([3, 3, 3]);
  });

  it('wait in the outbox without the keys, and leave none in the message cache', async () => {
    const { laptop, phone, relay, tablet } = await threeDevices();
    await revoke(laptop, phone);
    expect(await laptop.api.shareKeys()).toBe(true);
    const secrets = openVaultOf(relay, ALICE).sharedKeys.flatMap(({ historyKey, stateKey }) =>
      [historyKey, stateKey].flatMap((key) =>
        ['base64url', 'latin1'].map((form) => Buffer.from(key).toString(form as BufferEncoding)),
      ),
    );
    const check = async () => {
      for (const device of [laptop, tablet]) {
        const content = await kept(device, ['outbox', 'messages', 'pending', 'heads', 'events']);
        expect(content).not.toContain('statement');
        for (const secret of secrets) expect(content).not.toContain(secret);
      }
    };
    await check();
    const [waiting] = await laptop.api.outbox(OWN);
    expect(waiting?.content).toEqual({ kind: 'unknown' });
    await laptop.shareKeys();
    await check();
    for (const device of [laptop, tablet]) await device.sync();
    await check();
    expect(await laptop.api.outbox()).toEqual([]);
    expect(await versionOf(tablet)).toBe(2);
  });

  it('are the newest when they go, however long they have waited', async () => {
    const { laptop, phone, tablet, world } = await threeDevices();
    await revoke(laptop, phone);
    expect(await laptop.api.shareKeys()).toBe(true);
    await revoke(laptop, await world.device(ALICE));
    await laptop.shareKeys();
    await tablet.sync();
    expect(await versionOf(tablet)).toBe(3);
  });

  it('are taken over with the message that says them or not at all, wherever the tab dies', async () => {
    for (let nth = 1; ; nth += 1) {
      const { laptop, phone, tablet } = await threeDevices();
      await revoke(laptop, phone);
      await laptop.shareKeys();
      const crashed = await crashAtWrite(nth, () => tablet.syncOne(OWN));
      const reloaded = await tablet.openTab();
      await reloaded.syncOne(OWN);
      expect(await versionOf(reloaded)).toBe(2);
      if (!crashed) break;
    }
  });

  it('are said by one of two devices that have them and wait to say them', async () => {
    const { laptop, phone, relay, tablet } = await threeDevices();
    await revoke(laptop, phone);
    // The tablet has them by the password.
    await tablet.confirm('renew-keys');
    await tablet.api.readRenewedKeys(tablet.vault());
    expect([await laptop.api.shareKeys(), await tablet.api.shareKeys()]).toEqual([true, true]);
    await laptop.shareKeys();
    const [waiting] = await tablet.api.outbox(OWN);
    await tablet.syncOne(OWN);
    await expect(tablet.flush(waiting!.messageId)).rejects.toMatchObject({ code: 'unknown-message' });
    expect(await tablet.api.outbox(OWN)).toEqual([]);
    expect(await tablet.api.shareKeys()).toBe(false);
    expect(relay.entries(OWN).filter(({ kind }) => kind === 'application')).toHaveLength(1);
  });

  it('go on their way again after they could not be sent', async () => {
    const { laptop, phone, tablet } = await threeDevices();
    await revoke(laptop, phone);
    await laptop.api.shareKeys();
    const [waiting] = await laptop.api.outbox(OWN);
    await laptop.api.messageFailed(waiting!.messageId, 'network');
    const reloaded = await laptop.openTab();
    expect(await reloaded.shareKeys()).toBe(true);
    await tablet.sync();
    expect(await versionOf(tablet)).toBe(2);
  });

  it('are not shared by a device that is outside, or alone', async () => {
    const { alice } = await createPair();
    expect(await alice.api.shareKeys()).toBe(false);
    const { laptop, phone, tablet } = await threeDevices();
    for (const gone of [phone, tablet]) await revoke(laptop, gone);
    const submission = await laptop.api.nextCommit(OWN);
    laptop.submit(submission!);
    await laptop.sync();
    expect(await devicesIn(laptop)).toEqual([laptop.deviceId]);
    expect(await laptop.api.shareKeys()).toBe(false);
  });
});
