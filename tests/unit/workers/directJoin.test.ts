import { expect, it } from 'vitest';
import { ALICE, ALICE_AND_BOB, BOB, createPair, createWorld, textOf, type World } from './support/device.ts';
import { Rogue } from './support/rogue.ts';

/** A conversation of Alice and Bob that a relay makes up with a device of Bob's that it has got hold of, and nobody else. */
async function fabricated(world: World) {
  const [one, other] = [await Rogue.ofPerson(world.relay, BOB), await Rogue.ofPerson(world.relay, BOB)];
  const { groupInfo } = one.found(ALICE_AND_BOB, [Buffer.from(other.bundle.bytes).toString('base64url')]);
  return { conversationId: ALICE_AND_BOB, epoch: 1, groupInfo };
}

it('a new device comes into a direct conversation that holds another of its person', async () => {
  const { alice: laptop, world } = await createPair();
  await laptop.readState();
  const phone = await world.device(ALICE);
  await phone.sync();
  expect(await phone.api.conversation(ALICE_AND_BOB)).toMatchObject({ status: 'joined' });
});

it('a new device comes into none that holds none, though there are others, and then into the real one', async () => {
  const { alice: laptop, bob, world } = await createPair();
  await laptop.readState();
  const phone = await world.device(ALICE);
  await expect(phone.api.joinByExternalCommit(await fabricated(world))).rejects.toMatchObject({
    code: 'policy',
  });
  expect(await phone.api.conversation(ALICE_AND_BOB)).toMatchObject({ status: 'outside' });
  await phone.sync();
  await bob.sync();
  await bob.send(ALICE_AND_BOB, 'the real one');
  expect((await phone.sync()).map(textOf)).toContain('the real one');
});

it("a person's first and only device comes into one that holds none", async () => {
  const world = createWorld();
  await world.device(BOB);
  const only = await world.device(ALICE);
  await only.readState();
  await expect(only.api.joinByExternalCommit(await fabricated(world))).resolves.toBeDefined();
});

it('a new device comes into one that holds none any more, after its person has revoked the one that was in it', async () => {
  const { alice: laptop, bob, world } = await createPair();
  await laptop.readState();
  const phone = await world.device(ALICE);
  const tablet = await world.device(ALICE);
  const statement = await phone.revoke(laptop.deviceId);
  const revocation = { userId: ALICE, deviceId: laptop.deviceId, statement };
  for (const device of [phone, bob]) await device.api.setRevoked([revocation]);
  await phone.readState();
  await bob.sync();
  // Bob's next message takes the laptop out, and nobody of Alice's is left there.
  await bob.send(ALICE_AND_BOB, 'anybody?');
  await phone.sync();
  expect(await phone.api.conversation(ALICE_AND_BOB)).toMatchObject({ status: 'joined' });
  expect(tablet.deviceId).not.toBe(phone.deviceId);
});

it('nobody comes back into a direct conversation after a commit that is none, with a GroupInfo that is none', async () => {
  const { relay, device } = createWorld();
  const alice = await device(ALICE);
  const bob = await Rogue.create(relay, BOB, 'bob');
  bob.publish();
  await alice.start(ALICE_AND_BOB);
  bob.join();
  await alice.send(ALICE_AND_BOB, 'read before');
  bob.commitNothing(ALICE_AND_BOB);
  await expect(alice.sync()).rejects.toMatchObject({ code: 'unsupported' });
  expect(await alice.api.conversation(ALICE_AND_BOB)).toMatchObject({ status: 'forked' });
  expect((await alice.history(ALICE_AND_BOB)).map(textOf)).toEqual(['read before']);
});
