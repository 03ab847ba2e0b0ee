import {
  encodeRemovalGrounds,
  newestSharedKeys,
  type SharedKeys,
  signSharedKeys,
  verifySharedKeys,
} from '@sinetti/crypto-core/account';
import { describe, expect, it } from 'vitest';
import {
  ALICE,
  ALICE_AND_BOB,
  BOB,
  createPair,
  createWorld,
  type TestDevice,
  type World,
} from './support/device.ts';
import {
  devicesIn,
  idsOf,
  kept,
  keptMessages,
  keysOf,
  keysPayload,
  know,
  modifiedClient,
  newest,
  OWN,
  random,
  refused,
  revoke,
  say,
  threeDevices,
  versionOf,
} from './support/ownDevices.ts';
import { decode, openVaultOf, Rogue } from './support/rogue.ts';

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
    laptop.submit((await laptop.api.nextCommit(OWN))!);
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
    expect(rogue.follow(commits.at(-1)!.content)).toEqual({ selfRemoved: true });
    // Keys said after its removal don't open to it.
    expect(() => rogue.open(relay.entries(OWN).at(-1)!.content)).toThrow('removed');
  });

  it('that ends the group before it is removed is taken out of it all the same', async () => {
    const { laptop, phone, tablet, world } = await threeDevices();
    const rogue = await modifiedClient(world);
    for (const device of [laptop, phone, tablet]) await device.sync();
    const statement = await revoke(laptop, rogue);
    rogue.commit(OWN, { reInit: { groupId: new Uint8Array(40), suite: 0x0003, extensions: [] } });
    await laptop.sync();
    laptop.submit((await laptop.api.nextCommit(OWN))!);
    await know(tablet, rogue, statement);
    for (const device of [laptop, tablet, phone]) await device.sync();
    expect(await devicesIn(phone)).toEqual(idsOf(laptop, phone, tablet));
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
    // These are the account's, as a relay that made two histories of it would have them: none joins on.
    const other: SharedKeys = { ...newestSharedKeys(sharedKeys), stateKey: random(32) };
    const gaps = [[own], [keysOf(5), own], [other], sharedKeys];
    for (const keys of gaps) {
      say(rogue, signSharedKeys(accountSeed, ALICE, keys));
      await phone.syncOne(OWN);
      expect(await newest(phone)).toEqual({ kind: 'unknown' });
    }
    // One forged among true ones, and nobody is given either.
    const next = [...sharedKeys, keysOf(2)];
    say(rogue, signSharedKeys(accountSeed, ALICE, next), signSharedKeys(seed, ALICE, [...next, keysOf(3)]));
    await phone.syncOne(OWN);
    expect(await newest(phone)).toEqual(refused);
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
      '{"v":1,"type":"shared-keys","statements":[]}',
      '{"v":1,"type":"shared-keys","statements":[""]}',
      '{"v":1,"type":"shared-keys","statements":["!"]}',
      '{"v":1,"type":"shared-keys","revision":99}',
      '{"v":2,"type":"shared-keys","statements":["AAAA"]}',
      `{"v":1,"type":"shared-keys","statements":["${'A'.repeat(12_000)}"]}`,
      `{"v":1,"type":"shared-keys","statements":[${Array(100).fill('"AAAA"').join()}]}`,
    ];
    for (const payload of nonsense) rogue.send(OWN, payload);
    await phone.syncOne(OWN);
    expect(await keptMessages(phone)).toEqual(nonsense.map(() => refused));
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
    expect((await keptMessages(tablet)).slice(-2).map(({ kind }) => kind)).toEqual([
      'undecryptable',
      'undecryptable',
    ]);
    expect(await versionOf(tablet)).toBe(2);

    const { bob, relay: other } = await createPair();
    const { accountSeed, sharedKeys } = openVaultOf(other, BOB);
    const statement = signSharedKeys(accountSeed, BOB, [...sharedKeys, keysOf(5)]);
    const alices = await Rogue.ofPerson(other, ALICE);
    alices.joinFromOutside(ALICE_AND_BOB);
    alices.send(ALICE_AND_BOB, keysPayload(statement));
    await bob.syncOne(ALICE_AND_BOB);
    expect(await bob.api.vaultVersion()).toBe(1);
  });
});

describe('with an old password, and a vault of its time, and a relay that helps', () => {
  it('a device comes in, and is given none of the keys before it', async () => {
    const { laptop, phone, relay, tablet, world } = await threeDevices();
    await revoke(laptop, phone);
    await laptop.shareKeys();
    for (const device of [tablet, laptop]) await device.sync();
    const from = relay.entries(OWN).length;
    const rogue = await modifiedClient(world);
    for (const device of [tablet, laptop]) await device.sync();
    for (const device of [tablet, laptop]) expect(await device.shareKeys()).toBe(false);
    // SECURITY.md says so: it gets those that are renewed from then on, until it is removed.
    await revoke(laptop, await world.device(ALICE));
    await laptop.shareKeys();
    const entries = relay.entries(OWN, from + 1);
    const said = entries.flatMap(({ content, kind }) => {
      if (kind === 'application') return [rogue.open(content).text];
      rogue.follow(content);
      return [];
    });
    const statements = said.flatMap((text) => (JSON.parse(text) as { statements: string[] }).statements);
    expect(statements.map((statement) => verifySharedKeys(decode(statement)).keys.revision)).toEqual([3]);
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

  it('is refused that adds a device after it was taken out, or states a revocation that it doesn’t act on', async () => {
    const { laptop, phone, relay, tablet, world } = await threeDevices();
    const rogue = await modifiedClient(world);
    for (const device of [laptop, phone]) await device.syncOne(OWN);
    const gone = await modifiedClient(world);
    for (const device of [laptop, phone]) await device.syncOne(OWN);
    rogue.follow(relay.entries(OWN).at(-1)!.content);
    const statement = await revoke(laptop, gone);
    await know(phone, gone, statement);
    laptop.submit((await laptop.api.nextCommit(OWN))!);
    for (const device of [laptop, phone]) await device.syncOne(OWN);
    rogue.follow(relay.entries(OWN).at(-1)!.content);
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
