import { createKeyPackage } from '@sinetti/crypto-core';
import { describe, expect, it } from 'vitest';
import { toBase64Url } from '#workers/codec/base64url.ts';
import { leafOptions } from '#workers/identity/leafOptions.ts';
import { seededRandom } from './support/browser.ts';
import {
  ALICE,
  ALICE_AND_BOB,
  BOB,
  CAROL,
  createPair,
  createWorld,
  DAVE,
  GROUP,
  people,
  selfOf,
  type TestDevice,
  textOf,
} from './support/device.ts';
import { Rogue } from './support/rogue.ts';

const PRESENT = 0xf04d;
const FORMER = 0x004d;

/** The suites of which a device would ask for KeyPackages; a conversation's own where it is in one. */
const suitesOf = ({ api }: TestDevice, conversationId: string) => api.keyPackageSuites(conversationId);

/** Leaves the relay KeyPackages of the former suite alone, as it has of a browser that hasn't been opened since. */
async function becomeFormer(device: TestDevice): Promise<void> {
  const { keyPackages, lastResort } = await device.api.createKeyPackages(3, true, FORMER);
  const known = device.relay.devices.find(({ deviceId }) => deviceId === device.deviceId);
  known?.keyPackages.splice(0, Number.POSITIVE_INFINITY, ...keyPackages);
  if (known !== undefined) known.lastResort = lastResort;
}

/** Gives the relay KeyPackages of the present suite in the place of those it has. */
async function becomePresent(device: TestDevice): Promise<void> {
  const { keyPackages } = await device.api.createKeyPackages(3, false, PRESENT);
  const known = device.relay.devices.find(({ deviceId }) => deviceId === device.deviceId);
  known?.keyPackages.splice(0, Number.POSITIVE_INFINITY, ...keyPackages);
}

describe('a conversation that begins', () => {
  it('is in the present suite with whoever has KeyPackages of it, and takes others of that suite alone', async () => {
    const { alice, bob } = await createPair();
    await alice.send(ALICE_AND_BOB, 'Hello');
    expect((await bob.sync()).map(textOf)).toEqual(['Hello']);
    expect(await suitesOf(alice, ALICE_AND_BOB)).toEqual([PRESENT]);
    expect(await suitesOf(bob, ALICE_AND_BOB)).toEqual([PRESENT]);
    expect(await suitesOf(alice, ALICE_AND_BOB)).toEqual([PRESENT]);
    expect(await suitesOf(alice, GROUP)).toEqual([PRESENT, FORMER]);
  });

  it('is in the present suite where there is nobody to add', async () => {
    const world = createWorld();
    const alice = await world.device(ALICE);
    await alice.createGroup(GROUP, 'Skerry');
    await alice.send(GROUP, 'to myself');
    await alice.sync();
    expect(await suitesOf(alice, GROUP)).toEqual([PRESENT]);
    await alice.start(selfOf(ALICE));
    expect(await suitesOf(alice, selfOf(ALICE))).toEqual([PRESENT]);
  });

  it('can’t be in two suites at once', async () => {
    const world = createWorld();
    const alice = await world.device(ALICE);
    const laptop = await world.device(ALICE);
    await world.device(BOB);
    await becomeFormer(laptop);
    await expect(alice.start(ALICE_AND_BOB)).rejects.toMatchObject({ code: 'invalid-key-package' });
    expect((await alice.api.conversation(ALICE_AND_BOB)).status).toBe('outside');
  });

  it('is never in the suite without X-Wing, whatever the relay hands out', async () => {
    const world = createWorld();
    const alice = await world.device(ALICE);
    const bob = await Rogue.create(world.relay, BOB, 'bob');
    const { credential, signatureKey: publicKey } = bob.bundle.keyPackage.leafNode;
    const now = BigInt(world.clock.now() / 1000);
    bob.bundle = createKeyPackage(
      {
        suite: 0x0003,
        credential,
        signatureKey: { privateKey: bob.signatureKey, publicKey },
        leaf: leafOptions,
        lifetime: { notBefore: now - 86_400n, notAfter: now + 86_400n },
      },
      { random: seededRandom('bob'), now: () => world.clock.now() },
    );
    const keyPackages = [{ userId: BOB, deviceId: bob.deviceId, keyPackage: toBase64Url(bob.bundle.bytes) }];
    await expect(
      alice.api.startConversation({ conversationId: ALICE_AND_BOB, keyPackages }),
    ).rejects.toMatchObject({ code: 'invalid-key-package' });
  });
});

describe('a conversation that began in the former suite', () => {
  /** Alice's group with Bob, whose browsers had KeyPackages of the former suite alone as it began. */
  async function createOlder() {
    const world = createWorld();
    const alice = await world.device(ALICE);
    const bob = await world.device(BOB);
    await becomeFormer(alice);
    await becomeFormer(bob);
    const laptop = await world.device(ALICE);
    await becomeFormer(laptop);
    await alice.createGroup(GROUP, 'Skerry', [BOB]);
    await alice.send(GROUP, 'as before');
    for (const device of [bob, laptop]) expect((await device.sync()).map(textOf)).toEqual(['as before']);
    await alice.sync();
    expect(await suitesOf(alice, GROUP)).toEqual([FORMER]);
    return { world, alice, bob, laptop };
  }

  it('goes on in it, takes people by KeyPackages of it, and new devices from outside', async () => {
    const { alice, bob, world } = await createOlder();
    expect(await suitesOf(alice, GROUP)).toEqual([FORMER]);
    const carol = await world.device(CAROL);
    await expect(alice.add(GROUP, [CAROL])).rejects.toMatchObject({ code: 'invalid-key-package' });
    await becomeFormer(carol);
    await alice.add(GROUP, [CAROL]);
    const phone = await world.device(BOB);
    await phone.sync();
    for (const device of [alice, bob, carol]) await device.sync();
    await phone.send(GROUP, 'from outside');
    for (const device of [alice, bob, carol])
      expect((await device.sync()).map(textOf)).toEqual(['from outside']);
    expect(people(await phone.api.conversation(GROUP))).toEqual([ALICE, BOB, CAROL]);
    expect(await suitesOf(phone, GROUP)).toEqual([FORMER]);
  });

  it('stands beside new ones on the same devices', async () => {
    const { alice, bob } = await createOlder();
    await becomePresent(alice);
    await becomePresent(bob);
    const laptop = alice.relay.devices.findLast(({ userId }) => userId === ALICE);
    alice.relay.devices.splice(alice.relay.devices.indexOf(laptop!), 1);
    await alice.start(ALICE_AND_BOB);
    await alice.send(ALICE_AND_BOB, 'new');
    expect((await bob.sync()).map(textOf)).toEqual(['new']);
    await alice.sync();
    expect(await suitesOf(alice, ALICE_AND_BOB)).toEqual([PRESENT]);
    await bob.send(GROUP, 'old');
    expect((await alice.sync()).map(textOf)).toEqual(['old']);
    expect(await suitesOf(bob, GROUP)).toEqual([FORMER]);
  });
});

it('a group in the present suite refuses a device that has no KeyPackage of it, and takes it once it has', async () => {
  const world = createWorld();
  const alice = await world.device(ALICE);
  const dave = await world.device(DAVE);
  await becomeFormer(dave);
  await alice.createGroup(GROUP, 'Skerry');
  await expect(alice.add(GROUP, [DAVE])).rejects.toMatchObject({ code: 'invalid-key-package' });
  await becomePresent(dave);
  await alice.add(GROUP, [DAVE]);
  await alice.send(GROUP, 'welcome');
  expect((await dave.sync()).map(textOf)).toEqual(['welcome']);
});
