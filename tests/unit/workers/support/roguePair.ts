import { ALICE, ALICE_AND_BOB, BOB, createWorld } from './device.ts';
import { Rogue } from './rogue.ts';

/** Alice in a conversation with Bob, whose client keeps none of the rules. */
export async function createPairWithRogue() {
  const world = createWorld();
  const { relay } = world;
  const alice = await world.device(ALICE);
  const bob = await Rogue.create(relay, BOB, 'bob');
  bob.publish();
  await alice.start(ALICE_AND_BOB);
  bob.join();
  return { world, relay, alice, bob };
}
