import { describe, expect, it } from 'vitest';
import { accountDatabaseName } from '#workers/storage/db.ts';
import {
  ALICE,
  ALICE_AND_BOB,
  BOB,
  createPair,
  createTrio,
  GROUP,
  type TestDevice,
  textOf,
} from './support/device.ts';

/** Revokes a device: the relay drops it, and returns the revocation. */
async function revoke(by: TestDevice, device: TestDevice) {
  const statement = await by.revoke(device.deviceId);
  const { devices } = by.relay;
  devices.splice(
    devices.findIndex(({ deviceId }) => deviceId === device.deviceId),
    1,
  );
  return { userId: by.userId, deviceId: device.deviceId, statement };
}

async function pairWithPhone() {
  const pair = await createPair();
  const phone = await pair.world.device(BOB);
  await phone.sync();
  for (const device of [pair.alice, pair.bob]) await device.sync();
  return { ...pair, phone };
}

async function memberDevices(device: TestDevice, conversationId: string): Promise<string[]> {
  const { members } = await device.api.conversation(conversationId);
  return members.flatMap(({ deviceIds }) => deviceIds);
}

/** Reads the log on a device that a colluding relay goes on serving. */
async function read(device: TestDevice, conversationId: string): Promise<string[]> {
  const { lastSeq } = await device.api.conversation(conversationId);
  const entries = device.relay.entries(conversationId, lastSeq);
  const { messages } = await device.api.processEntries(conversationId, entries);
  return messages.map(textOf);
}

describe('a revoked device in a direct conversation', () => {
  it('is removed by the other person before their next message, which it cannot read', async () => {
    const { alice, bob, phone } = await pairWithPhone();
    await alice.send(ALICE_AND_BOB, 'before');
    expect(await read(phone, ALICE_AND_BOB)).toEqual(['before']);
    await alice.sync();

    await alice.api.setRevoked([await revoke(bob, phone)]);
    await alice.send(ALICE_AND_BOB, 'after');
    await alice.sync();
    expect(await memberDevices(alice, ALICE_AND_BOB)).not.toContain(phone.deviceId);
    expect(await read(phone, ALICE_AND_BOB)).toEqual([]);
    expect(await phone.api.conversation(ALICE_AND_BOB)).toMatchObject({ status: 'outside' });
    // Bob's device follows, although nobody gave it his revocation.
    await bob.sync();
    expect((await bob.history(ALICE_AND_BOB)).map(textOf)).toEqual(['before', 'after']);
  });

  it('gets no message that was encrypted before the revocation was known', async () => {
    const { alice, bob, phone } = await pairWithPhone();
    await alice.send(ALICE_AND_BOB, 'healed');
    await alice.sync();
    const messageId = await alice.queue(ALICE_AND_BOB, 'on its way');
    expect(await alice.api.prepareMessage(messageId)).toMatchObject({ kind: 'message' });
    await alice.api.setRevoked([await revoke(bob, phone)]);
    expect(await alice.api.prepareMessage(messageId)).toMatchObject({ kind: 'commit' });
    await alice.flush(messageId);
    expect(await read(phone, ALICE_AND_BOB)).toEqual(['healed']);
  });

  it('is removed by its own person at once', async () => {
    const { alice, bob, phone } = await pairWithPhone();
    await bob.api.setRevoked([await revoke(bob, phone)]);
    const submission = await bob.api.nextCommit(ALICE_AND_BOB);
    expect(bob.submit(submission!)).toBe(true);
    await bob.sync();
    expect(await bob.api.nextCommit(ALICE_AND_BOB)).toBeNull();
    await alice.sync();
    expect(await memberDevices(alice, ALICE_AND_BOB)).not.toContain(phone.deviceId);
    await alice.send(ALICE_AND_BOB, 'just us');
    expect(await read(phone, ALICE_AND_BOB)).toEqual([]);
  });

  it('is removed again after it rejoined by external commit', async () => {
    const { alice, bob, phone } = await pairWithPhone();
    await alice.api.setRevoked([await revoke(bob, phone)]);
    await alice.send(ALICE_AND_BOB, 'without you');
    await read(phone, ALICE_AND_BOB);
    // A relay that colludes with the thief accepts the commit.
    await phone.joinByExternalCommit(ALICE_AND_BOB);
    await phone.syncOne(ALICE_AND_BOB);
    expect(await phone.api.conversation(ALICE_AND_BOB)).toMatchObject({ status: 'joined' });
    await alice.sync();
    await alice.send(ALICE_AND_BOB, 'still without you');
    expect(await read(phone, ALICE_AND_BOB)).toEqual([]);
    await bob.sync();
    expect((await bob.history(ALICE_AND_BOB)).map(textOf)).toEqual(['without you', 'still without you']);
  });

  it('is not added again by a KeyPackage that it left at the relay', async () => {
    const { world, relay } = await createPair();
    const carol = await world.device('c0000000-0000-4000-8000-000000000003');
    const bob = await world.device(BOB);
    const phone = await world.device(BOB);
    const [left] = relay.claim([BOB], bob.deviceId).filter(({ deviceId }) => deviceId === phone.deviceId);
    await carol.api.setRevoked([await revoke(bob, phone)]);
    await expect(
      carol.api.startConversation({
        conversationId: `direct:${BOB}:${carol.userId}`,
        keyPackages: [...relay.claim([BOB], ''), left!],
      }),
    ).rejects.toMatchObject({ code: 'invalid-key-package' });
  });
});

describe('a revoked device in a group', () => {
  async function trioWithPhone() {
    const trio = await createTrio();
    const phone = await trio.world.device(BOB);
    await phone.sync();
    for (const device of [trio.alice, trio.bob, trio.carol]) await device.sync();
    return { ...trio, phone };
  }

  it('is removed by any member, whose commit everybody follows', async () => {
    const { alice, bob, carol, phone } = await trioWithPhone();
    const revocation = await revoke(bob, phone);
    await carol.api.setRevoked([revocation]);
    await carol.send(GROUP, 'only those who belong');
    for (const device of [alice, bob]) {
      await device.sync();
      expect((await device.history(GROUP)).map(textOf)).toEqual(['only those who belong']);
      expect(await memberDevices(device, GROUP)).not.toContain(phone.deviceId);
    }
    expect(await read(phone, GROUP)).toEqual([]);
    // A member who learns of it later has nothing left to do.
    await alice.api.setRevoked([revocation]);
    expect(await alice.api.nextCommit(GROUP)).toBeNull();
  });

  it('is removed together with its person who leaves', async () => {
    const { alice, bob, carol, phone, relay } = await trioWithPhone();
    await alice.api.setRevoked([await revoke(bob, phone)]);
    await carol.leave(GROUP);
    await alice.refreshGroup(GROUP);
    await alice.send(GROUP, 'two of us');
    await bob.sync();
    expect((await bob.history(GROUP)).map(textOf)).toEqual(['two of us']);
    expect(await memberDevices(bob, GROUP)).toEqual([alice.deviceId, bob.deviceId]);
    expect(relay.leaveStatements(GROUP)).toEqual([]);
  });
});

describe('a revocation', () => {
  it('ignores a revocation that the owner of the device has not signed', async () => {
    const { alice, bob, phone } = await pairWithPhone();
    const genuine = await revoke(bob, phone);
    const statement = await alice.revoke(phone.deviceId);
    await alice.api.setRevoked([
      { ...genuine, statement },
      { ...genuine, deviceId: bob.deviceId },
      { ...genuine, userId: ALICE },
      { ...genuine, statement: genuine.statement.slice(0, -4) },
      { ...genuine, statement: 'AAAA' },
    ]);
    expect(await alice.api.nextCommit(ALICE_AND_BOB)).toBeNull();
    await alice.send(ALICE_AND_BOB, 'to both');
    expect(await read(phone, ALICE_AND_BOB)).toEqual(['to both']);
  });

  it('keeps a revocation sealed, and over a reload', async () => {
    const { alice, bob, phone } = await pairWithPhone();
    const revocation = await revoke(bob, phone);
    await alice.api.setRevoked([revocation]);
    const reloaded = await alice.openTab();
    expect(await reloaded.api.nextCommit(ALICE_AND_BOB)).not.toBeNull();
    const database = await new Promise<IDBDatabase>((resolve) => {
      const request = alice.browser.indexedDB.open(accountDatabaseName(ALICE));
      request.addEventListener('success', () => resolve(request.result));
    });
    const rows = await new Promise<Uint8Array[]>((resolve) => {
      const request = database.transaction('revocations').objectStore('revocations').getAll();
      request.addEventListener('success', () => resolve(request.result));
    });
    expect(rows).toHaveLength(1);
    expect(Buffer.from(rows[0]!).includes(Buffer.from(revocation.statement, 'base64url'))).toBe(false);
    database.close();
  });
});

describe('a member of a group whose last device was revoked', () => {
  const withoutDevice = async (device: TestDevice) =>
    (await device.api.conversation(GROUP)).group?.withoutDeviceIds;

  it('is known to have none, comes in by the creator alone, and has one then', async () => {
    const { alice, bob, carol, world } = await createTrio();
    const phone = await world.device(BOB);
    await carol.api.setRevoked([await revoke(phone, bob)]);
    await carol.send(GROUP, 'without Bob');
    await carol.sync();
    await alice.sync();
    // She was given the revocation by Carol's commit only.
    for (const device of [alice, carol]) expect(await withoutDevice(device)).toEqual([BOB]);
    await expect(phone.sync()).rejects.toMatchObject({ code: 'policy' });

    await alice.add(GROUP, [BOB]);
    for (const device of [phone, carol]) await device.sync();
    for (const device of [alice, carol, phone]) expect(await withoutDevice(device)).toEqual([]);
    await carol.send(GROUP, 'with Bob');
    await phone.sync();
    expect((await phone.history(GROUP)).map(textOf)).toEqual(['with Bob']);
  });

  it('is not one who has left', async () => {
    const { alice, bob, carol, world } = await createTrio();
    const phone = await world.device(BOB);
    await bob.leave(GROUP);
    await alice.sync();
    await alice.api.setRevoked([await revoke(phone, bob)]);
    await alice.send(GROUP, 'Bob has left');
    for (const device of [alice, carol]) {
      await device.sync();
      expect((await device.api.conversation(GROUP)).members).toHaveLength(2);
      expect(await withoutDevice(device)).toEqual([]);
    }
  });
});

describe('a browser whose device was revoked', () => {
  it('forgets all that it held, and becomes another device of the same person', async () => {
    const { alice, bob, phone } = await pairWithPhone();
    await alice.send(ALICE_AND_BOB, 'for the old device');
    await phone.sync();
    const genuine = await revoke(bob, phone);
    const own = await bob.api.ownRevocation();
    for (const forged of ['AAAA', await alice.revoke(phone.deviceId), own!]) {
      await expect(phone.api.resetDevice(forged)).rejects.toMatchObject({ code: 'usage' });
    }
    expect(await phone.history(ALICE_AND_BOB)).toHaveLength(1);
    // Another device is certified only while signing in.
    await expect(phone.api.resetDevice(genuine.statement)).rejects.toMatchObject({ code: 'locked' });
    await phone.logIn();
    await phone.api.resetDevice(genuine.statement);
    expect(await phone.api.conversations()).toEqual([]);
    expect(await phone.history(ALICE_AND_BOB)).toEqual([]);
    const device = await phone.api.openDevice();
    expect(device).toMatchObject({ userId: BOB, isNew: true });
    expect(device.deviceId).not.toBe(phone.deviceId);
    expect(await alice.api.observeDevices(BOB, [device.certificate])).toMatchObject({ keyOffered: false });
    expect(await phone.browser.tab().resume(BOB)).toBe(true);
  });
});
