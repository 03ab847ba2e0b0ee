import { groupBindingExtension } from '@sinetti/crypto-core/account';
import { ALICE, BOB, CAROL, createWorld, GROUP, type TestDevice } from './device.ts';
import { Rogue } from './rogue.ts';

export const bound = (creatorId: string) => [groupBindingExtension({ creatorId })];

/** Creates Alice's group with Carol, and with Bob, whose client keeps none of the rules. */
export async function createTrioWithRogue() {
  const world = createWorld();
  const { relay } = world;
  const alice = await world.device(ALICE);
  const carol = await world.device(CAROL);
  const bob = await Rogue.create(relay, BOB, 'bob');
  bob.publish();
  await alice.createGroup(GROUP, 'Skerry', [BOB, CAROL]);
  bob.join();
  await carol.sync();
  await alice.send(GROUP, 'before');
  for (const device of [alice, carol]) await device.sync();
  return { world, relay, alice, bob, carol };
}
export type Trio = Awaited<ReturnType<typeof createTrioWithRogue>>;

/** Processes the log of the group on a device, which doesn't rejoin if it forks. */
export async function processLogOn(device: TestDevice) {
  const { lastSeq } = await device.api.conversation(GROUP);
  return device.api.processEntries(GROUP, device.relay.entries(GROUP, lastSeq));
}
