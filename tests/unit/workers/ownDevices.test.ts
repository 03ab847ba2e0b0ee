import {
  encodeRemovalGrounds,
  newestSharedKeys,
  type SharedKeys,
  signSharedKeys,
} from '@sinetti/crypto-core';
import { describe, expect, it } from 'vitest';
import { accountDatabaseName } from '#workers/storage/db.ts';
import { seededRandom } from './support/browser.ts';
import {
  ALICE,
  ALICE_AND_BOB,
  BOB,
  createPair,
  createWorld,
  selfOf,
  type TestDevice,
  textOf,
  type World,
} from './support/device.ts';
import { decode, openVaultOf, Rogue, storageKeyOf } from './support/rogue.ts';
import { answer, crashAtWrite, openRecords } from './support/storage.ts';

const OWN = selfOf(ALICE);
const random = seededRandom('own devices');
const keysOf = (revision: number): SharedKeys => ({ revision, stateKey: random(32), historyKey: random(32) });

/** Alice's laptop, which has started the group of her devices, with a phone and a tablet in it. */
async function threeDevices() {
  const world = createWorld();
  const [laptop, phone, tablet] = [
    await world.device(ALICE),
    await world.device(ALICE),
    await world.device(ALICE),
  ];
  await laptop.start(OWN);
  await phone.sync();
  await tablet.sync();
  return { laptop, phone, tablet, relay: world.relay, world };
}

/** Revokes a device; the relay goes on serving it, as one that colludes does. */
async function revoke(by: TestDevice, device: { readonly deviceId: string }): Promise<string> {
  const statement = await by.revoke(device.deviceId);
  await by.api.setRevoked([{ userId: ALICE, deviceId: device.deviceId, statement }]);
  return statement;
}

const know = (device: TestDevice, gone: { readonly deviceId: string }, statement: string) =>
  device.api.setRevoked([{ userId: ALICE, deviceId: gone.deviceId, statement }]);

async function devicesIn(device: TestDevice): Promise<string[]> {
  const { members } = await device.api.conversation(OWN);
  return members.flatMap(({ deviceIds }) => deviceIds).sort();
}

const idsOf = (...devices: { readonly deviceId: string }[]) => devices.map(({ deviceId }) => deviceId).sort();
const versionOf = (device: TestDevice) => device.api.vaultVersion();

/** A modified client of Alice's, which is in the group. */
async function modifiedClient(world: World): Promise<Rogue> {
  const rogue = await Rogue.ofPerson(world.relay, ALICE);
  rogue.joinFromOutside(OWN);
  return rogue;
}

const say = (rogue: Rogue, statement: Uint8Array | null) =>
  rogue.send(
    OWN,
    JSON.stringify({ v: 1, type: 'shared-keys', statement: Buffer.from(statement!).toString('base64url') }),
  );

/** Returns what is kept here of the newest message. */
async function newest(device: TestDevice) {
  return (await device.history(OWN)).at(-1)?.content;
}

const refused = { kind: 'undecryptable', reason: 'rules' };

/** The contents of the records in some stores of a browser, for whoever opens them. */
async function kept(device: TestDevice, stores: readonly string[]): Promise<string> {
  const storageKey = await storageKeyOf(device.relay, device);
  const db = await answer<IDBDatabase>(device.browser.indexedDB.open(accountDatabaseName(ALICE)));
  const records = await openRecords(db, storageKey);
  db.close();
  return records
    .filter(({ store }) => stores.includes(store))
    .map(({ content }) => Buffer.from(content).toString('latin1'))
    .join('\n');
}

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

  it('is nobody else’s, and needs another device', async () => {
    const { alice, bob, relay } = await createPair();
    const usage = { code: 'usage' };
    const others = relay.claim([BOB], '');
    const starts = [
      { conversationId: OWN, keyPackages: [] },
      { conversationId: OWN, keyPackages: others },
      { conversationId: selfOf(BOB), keyPackages: others },
    ];
    for (const start of starts) await expect(alice.api.startConversation(start)).rejects.toMatchObject(usage);
    await expect(bob.api.processEntries(OWN, [])).rejects.toMatchObject(usage);
    await expect(bob.api.leaveStatement(selfOf(BOB))).rejects.toMatchObject(usage);
  });

  it('takes no text, and tells the page nothing of what is said there', async () => {
    const { laptop, phone, world } = await threeDevices();
    await expect(laptop.queue(OWN, 'a note')).rejects.toMatchObject({ code: 'usage' });
    const rogue = await modifiedClient(world);
    rogue.say(OWN, 'a note');
    expect(await phone.syncOne(OWN)).toEqual([]);
    expect(await newest(phone)).toEqual(refused);
    expect(await kept(phone, ['messages'])).not.toContain('a note');
    await laptop.shareKeys();
    expect(await phone.syncOne(OWN)).toEqual([]);
    expect(await phone.api.conversation(OWN)).toMatchObject({ lastMessage: null, unread: 0 });
    expect(await phone.api.conversationsToBackUp()).toEqual([]);
    expect(await phone.api.nextBackupEntries(OWN)).toBeNull();
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

  it('are said again for a device that comes in later, by one of the others alone', async () => {
    const { laptop, phone, tablet, world } = await threeDevices();
    await revoke(laptop, phone);
    await laptop.shareKeys();
    await tablet.sync();
    await laptop.sync();
    expect([await laptop.shareKeys(), await tablet.shareKeys()]).toEqual([false, false]);
    const late = await world.device(ALICE);
    await late.syncOne(OWN);
    for (const device of [laptop, tablet]) await device.sync();
    expect(await tablet.shareKeys()).toBe(true);
    for (const device of [laptop, tablet, late]) await device.sync();
    expect(await Promise.all([laptop, tablet, late].map((device) => device.shareKeys()))).toEqual([
      false,
      false,
      false,
    ]);
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
        // The statement begins with its version and the user id, whatever its alignment in base64.
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

describe('a device that comes in from outside without having heard of a revocation', () => {
  it('learns of it from the commit that removed the device', async () => {
    const { laptop, phone, relay, tablet } = await threeDevices();
    await revoke(laptop, phone);
    await laptop.shareKeys();
    await tablet.sync();
    // The relay lets the revoked device in again, and tells the tablet of no revocation.
    await phone.syncOne(OWN).catch(() => undefined);
    const before = await tablet.api.conversation(OWN);
    await tablet.api.processEntries(OWN, relay.entries(OWN, before.lastSeq));
    expect(await devicesIn(tablet)).not.toContain(phone.deviceId);
    const last = relay.entries(OWN).at(-1);
    expect(last).toMatchObject({ kind: 'commit', sender_device_id: phone.deviceId });
    expect(await tablet.api.conversation(OWN)).toMatchObject({ status: 'forked', refusal: 'policy' });
  });
});

describe('a revoked device that still has the state of the group', () => {
  it('comes in no more, and whoever knows of it comes back and takes it out', async () => {
    const { laptop, phone, tablet } = await threeDevices();
    await revoke(laptop, phone);
    await laptop.shareKeys();
    await tablet.sync();
    // A relay that colludes takes its commit.
    await phone.syncOne(OWN);
    expect(await phone.api.conversation(OWN)).toMatchObject({ status: 'joined' });
    await laptop.sync();
    expect(await laptop.api.nextCommit(OWN)).not.toBeNull();
    await laptop.shareKeys();
    await laptop.sync();
    expect(await devicesIn(laptop)).not.toContain(phone.deviceId);
    await tablet.sync();
    expect(await devicesIn(tablet)).toEqual(idsOf(laptop, tablet));
    expect(await versionOf(phone)).toBe(1);
  });

  it('that commits before it is removed keeps nobody from removing it', async () => {
    const { laptop, phone, relay, tablet, world } = await threeDevices();
    const rogue = await modifiedClient(world);
    for (const device of [laptop, phone, tablet]) await device.sync();
    const statement = await revoke(laptop, rogue);
    const removal = await laptop.api.nextCommit(OWN);
    rogue.commit(OWN, {});
    expect(laptop.submit(removal!)).toBe(false);
    await know(tablet, rogue, statement);
    await laptop.sync();
    await laptop.shareKeys();
    for (const device of [tablet, phone]) await device.sync();
    expect(await devicesIn(tablet)).toEqual(idsOf(laptop, phone, tablet));
    expect([await versionOf(tablet), await versionOf(phone)]).toEqual([2, 2]);
    const commits = relay.entries(OWN).filter(({ kind }) => kind === 'commit');
    expect(() => rogue.follow(commits.at(-1)!.content)).not.toThrow();
    // What was said after its removal doesn't open to it.
    expect(() => rogue.open(relay.entries(OWN).at(-1)!.content)).toThrow('wrong-epoch');
  });

  it('gives nobody keys, not even true ones', async () => {
    const { laptop, phone, relay, tablet, world } = await threeDevices();
    const rogue = await modifiedClient(world);
    for (const device of [laptop, phone, tablet]) await device.sync();
    const statement = await revoke(laptop, rogue);
    await know(tablet, rogue, statement);
    const { accountSeed, sharedKeys } = openVaultOf(relay, ALICE);
    say(rogue, signSharedKeys(accountSeed, ALICE, sharedKeys));
    await tablet.syncOne(OWN);
    expect(await newest(tablet)).toEqual(refused);
    expect(await versionOf(tablet)).toBe(1);
  });
});

describe("whoever has a device's keys, and not the account's", () => {
  it('plants none: forged, another person’s, older, or with a gap before them', async () => {
    const { laptop, phone, relay, tablet, world } = await threeDevices();
    const rogue = await modifiedClient(world);
    const { accountSeed, sharedKeys } = openVaultOf(relay, ALICE);
    const seed = random(32);
    const own = keysOf(9);
    const forged: (Uint8Array | null)[] = [
      signSharedKeys(seed, ALICE, [...sharedKeys, own]),
      signSharedKeys(accountSeed, BOB, [...sharedKeys, own]),
      signSharedKeys(accountSeed, ALICE, [...sharedKeys, own])!.map((byte, at) =>
        at === 90 ? byte ^ 1 : byte,
      ),
      new Uint8Array(200),
    ];
    for (const statement of forged) {
      say(rogue, statement);
      await phone.syncOne(OWN);
      expect(await newest(phone)).toEqual(refused);
    }
    // These are the account's, as a relay that made two histories of it would have them.
    const other: SharedKeys = { ...newestSharedKeys(sharedKeys), stateKey: random(32) };
    const contradicting = [[own], [other, own], [other], sharedKeys];
    for (const keys of contradicting) {
      say(rogue, signSharedKeys(accountSeed, ALICE, keys));
      await phone.syncOne(OWN);
      expect(await newest(phone)).toEqual({ kind: 'unknown' });
    }
    expect(await versionOf(phone)).toBe(1);
    expect(await kept(phone, ['device'])).not.toContain(Buffer.from(own.historyKey).toString('base64url'));
    // None of it stops what follows.
    await revoke(laptop, tablet);
    await laptop.syncOne(OWN);
    await laptop.shareKeys();
    await phone.syncOne(OWN);
    expect(await versionOf(phone)).toBe(2);
  });

  it('says nonsense that is refused, and stops nothing after it', async () => {
    const { laptop, phone, tablet, world } = await threeDevices();
    const rogue = await modifiedClient(world);
    const nonsense = [
      '',
      '{',
      'null',
      '[]',
      '{"v":1,"type":"shared-keys"}',
      '{"v":1,"type":"shared-keys","statement":""}',
      '{"v":1,"type":"shared-keys","statement":"!"}',
      '{"v":1,"type":"shared-keys","revision":99}',
      '{"v":2,"type":"shared-keys","statement":"AAAA"}',
      `{"v":1,"type":"shared-keys","statement":"${'A'.repeat(12_000)}"}`,
    ];
    for (const payload of nonsense) rogue.send(OWN, payload);
    await phone.syncOne(OWN);
    const history = await phone.history(OWN);
    expect(history.map(({ content }) => content)).toEqual(nonsense.map(() => refused));
    await revoke(laptop, tablet);
    await laptop.syncOne(OWN);
    await laptop.shareKeys();
    await phone.syncOne(OWN);
    expect(await versionOf(phone)).toBe(2);
  });

  it('replays no message with keys, and nobody is given any elsewhere', async () => {
    const { laptop, phone, relay, tablet, world } = await threeDevices();
    await revoke(laptop, phone);
    await laptop.shareKeys();
    await tablet.syncOne(OWN);
    const said = relay.entries(OWN).at(-1)!;
    await revoke(laptop, await world.device(ALICE));
    const { content, epoch } = said;
    relay.append({ userId: ALICE, deviceId: laptop.deviceId }, OWN, { kind: 'application', epoch, content });
    relay.append({ userId: ALICE, deviceId: laptop.deviceId }, OWN, {
      kind: 'application',
      epoch,
      content,
      id: said.id,
    });
    await tablet.syncOne(OWN);
    expect((await tablet.history(OWN)).slice(-2).map(({ content: shown }) => shown.kind)).toEqual([
      'undecryptable',
      'undecryptable',
    ]);
    expect(await versionOf(tablet)).toBe(2);

    const { bob, relay: other } = await createPair();
    const { accountSeed, sharedKeys } = openVaultOf(other, BOB);
    const statement = signSharedKeys(accountSeed, BOB, [...sharedKeys, keysOf(5)]);
    const alices = await Rogue.ofPerson(other, ALICE);
    alices.joinFromOutside(ALICE_AND_BOB);
    alices.send(
      ALICE_AND_BOB,
      JSON.stringify({ v: 1, type: 'shared-keys', statement: Buffer.from(statement!).toString('base64url') }),
    );
    await bob.syncOne(ALICE_AND_BOB);
    expect(await bob.api.vaultVersion()).toBe(1);
  });
});

describe('a commit among own devices', () => {
  it('is refused that removes a device which is not revoked, or adds somebody else’s', async () => {
    const breaches: ((rogue: Rogue, world: World, phone: TestDevice) => Promise<void>)[] = [
      async (rogue, _world, phone) => rogue.commit(OWN, { removes: [phone.deviceId] }),
      async (rogue, { relay }) => {
        const stranger = await Rogue.create(relay, BOB, 'of Bob');
        rogue.commit(OWN, { adds: [stranger] });
      },
      async (rogue, { relay }) => {
        const invented = await Rogue.create(relay, ALICE, 'invented by the relay');
        rogue.commit(OWN, { adds: [invented] });
      },
      async (_rogue, { relay }) => {
        const invented = await Rogue.create(relay, ALICE, 'invented by the relay');
        invented.joinFromOutside(OWN);
      },
      async (_rogue, { relay }) => (await Rogue.create(relay, BOB, 'of Bob')).joinFromOutside(OWN),
    ];
    for (const breach of breaches) {
      const { phone, tablet, world } = await threeDevices();
      const rogue = await modifiedClient(world);
      await phone.syncOne(OWN);
      const { lastSeq } = await phone.api.conversation(OWN);
      await breach(rogue, world, tablet);
      const { state } = await phone.api.processEntries(OWN, world.relay.entries(OWN, lastSeq));
      expect(state.status).toBe('forked');
    }
  });

  it('is refused that adds a revoked device, or states a revocation that it doesn’t act on', async () => {
    const { laptop, phone, relay, tablet, world } = await threeDevices();
    const rogue = await modifiedClient(world);
    for (const device of [laptop, phone]) await device.syncOne(OWN);
    const gone = await Rogue.ofPerson(relay, ALICE);
    const statement = await revoke(laptop, gone);
    await know(phone, gone, statement);
    const grounds = await revoke(laptop, tablet);
    rogue.commit(OWN, {
      authenticatedData: encodeRemovalGrounds({ departures: [], revocations: [decode(grounds)] }),
    });
    const { lastSeq } = await phone.api.conversation(OWN);
    const kept = await phone.api.processEntries(OWN, relay.entries(OWN, lastSeq));
    expect(kept.state).toMatchObject({ status: 'forked', refusal: 'policy' });
    await phone.syncOne(OWN);
    expect(await phone.api.conversation(OWN)).toMatchObject({ status: 'joined' });

    const known = (await laptop.api.conversation(OWN)).lastSeq;
    rogue.follow(relay.entries(OWN).at(-1)!.content);
    rogue.commit(OWN, { adds: [gone] });
    const added = await laptop.api.processEntries(OWN, relay.entries(OWN, known));
    expect(added.state.status).toBe('forked');
  });

  it('with a Welcome of a revoked device is not believed', async () => {
    const world = createWorld();
    const [laptop, phone] = [await world.device(ALICE), await world.device(ALICE)];
    const rogue = await Rogue.ofPerson(world.relay, ALICE);
    const statement = await revoke(laptop, rogue);
    await know(phone, rogue, statement);
    const keyPackages = world.relay.claim([ALICE], laptop.deviceId).map(({ keyPackage }) => keyPackage);
    const { welcome } = rogue.found(OWN, keyPackages);
    const invitation = { conversationId: OWN, epoch: 1, seq: 1, welcome };
    await expect(phone.api.joinByWelcome(invitation)).rejects.toMatchObject({ code: 'policy' });
  });
});
