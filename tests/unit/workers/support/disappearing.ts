/** Timers and pinned messages, on which members agree; the reading that starts clocks, and what is left of what was over. */
import type { CommitSubmission } from '#workers/api/cryptoApi.ts';
import { linesOf } from './changes.ts';
import { ALICE_AND_BOB as CHAT, createPair, selfOf, type TestDevice, type World } from './device.ts';
import { kept, OWN } from './ownDevices.ts';

export const HOUR = 60 * 60 * 1000;

/** Has a device agree with the others on a timer. */
export async function setTimer(device: TestDevice, conversationId: string, seconds: number): Promise<void> {
  await agreeOn(device, conversationId, () => device.api.setTimer(conversationId, seconds));
}

/** Has a device pin a message for everybody, or unpin it. */
export async function setPinned(
  device: TestDevice,
  conversationId: string,
  messageId: string,
  isPinned = true,
): Promise<void> {
  await agreeOn(device, conversationId, () => device.api.setPinned(conversationId, messageId, isPinned));
}

async function agreeOn(
  device: TestDevice,
  conversationId: string,
  nextCommit: () => Promise<CommitSubmission | null>,
): Promise<void> {
  for (let attempt = 0; attempt < 5; attempt++) {
    const submission = await nextCommit();
    if (submission === null) return;
    device.submit(submission);
    await device.syncOne(conversationId);
  }
  throw new Error('nobody agrees');
}

/** The person reads all of a conversation on this device, which tells the person's others. */
export async function readHere(device: TestDevice, conversationId = CHAT): Promise<void> {
  const { lastSeq } = await device.api.conversation(conversationId);
  await device.api.setReadPosition(conversationId, 'here', lastSeq);
  const own = selfOf(device.userId);
  if (!(await device.api.tellOwnDevices({ reads: [], drafts: [] }))) return;
  for (const { messageId } of await device.api.outbox(own)) await device.flush(messageId);
}

/** All that this browser keeps of a conversation that could hold a text. */
export const textsKept = (device: TestDevice) =>
  kept(device, ['messages', 'outbox', 'notes', 'uploads', 'device']);

/** Erases what is over, as the page does by its clock. @returns milliseconds to the next */
export async function sweep(device: TestDevice): Promise<number | null> {
  return (await device.api.expireMessages([])).nextIn;
}

/** Alice with two devices, in a group of their own, and Bob, in a conversation whose messages disappear after an hour. */
export async function createHour() {
  const { alice, bob, relay, world } = await createPair();
  const phone = await world.device(alice.userId);
  await phone.sync();
  await alice.start(OWN);
  await phone.sync();
  await alice.sync();
  await bob.sync();
  await setTimer(alice, CHAT, 3600);
  await syncAll(bob, phone);
  return { alice, bob, phone, relay, world };
}

export async function syncAll(...devices: readonly TestDevice[]): Promise<void> {
  for (const device of devices) await device.sync();
}

/** Lets time pass, after which each device erases what is over. */
export async function pass(world: World, milliseconds: number, ...devices: readonly TestDevice[]) {
  world.clock.advance(milliseconds);
  for (const device of devices) await sweep(device);
}

export const lines = (device: TestDevice) => linesOf(device, CHAT);
