/** Own devices that tell each other which keys and which account state the relay gives them. */
import type { RotatedVault, SealedState } from '#workers/api/cryptoApi.ts';
import { ALICE, BOB, createPair, type TestDevice, type World } from './device.ts';
import { OWN } from './ownDevices.ts';
import type { MemoryRelay } from './relay.ts';

/** Alice's laptop and phone, which know Bob and are in their group, and have said what they were given. */
export async function twoDevices() {
  const { alice: laptop, relay, world } = await createPair();
  await laptop.readState();
  const phone = await world.device(ALICE);
  await laptop.start(OWN);
  await settle(laptop, phone);
  return { laptop, phone, relay, world };
}

/** A vault and an account state as the relay had them once. */
export interface Former {
  readonly state: SealedState | null;
  readonly vault: RotatedVault;
}

export const formerOf = (relay: MemoryRelay): Former => ({
  state: relay.states.get(ALICE) ?? null,
  vault: relay.vaults.get(ALICE)!,
});

/** Has the relay give out what it had once. @returns a function that has it tell the truth again */
export function rollBack(relay: MemoryRelay, { state, vault }: Former): () => void {
  const present = formerOf(relay);
  if (state === null) relay.states.delete(ALICE);
  else relay.states.set(ALICE, state);
  relay.vaults.set(ALICE, vault);
  return () => void rollBack(relay, present);
}

/** Asks for what the relay has, as the page does. @returns whether the device has all of it */
export async function isSettled(device: TestDevice): Promise<boolean> {
  const { version } = device.vault();
  if (version !== (await device.api.vaultVersion())) return false;
  await device.readState();
  return (await device.api.adoptState(device.state())) === null;
}

/** Sends what waits in the own devices' group. */
export async function send(device: TestDevice): Promise<void> {
  for (const { messageId } of await device.api.outbox(OWN)) await device.flush(messageId);
}

/** Reads the log, and says what the relay gives where that is due. @returns whether it was */
export async function compare(device: TestDevice, lies: Former | null = null): Promise<boolean> {
  await device.syncOne(OWN);
  await device.shareKeys();
  const { askAfter } = await device.api.ownRevisions();
  if (askAfter === null) return false;
  const tellTheTruth = lies === null ? () => undefined : rollBack(device.relay, lies);
  const settled = await isSettled(device);
  tellTheTruth();
  if (settled && (await device.api.tellRevisions(askAfter))) await send(device);
  await device.syncOne(OWN);
  return settled;
}

/** Has devices compare until none has anything to say. @returns how often one had */
export async function settle(...devices: readonly TestDevice[]): Promise<number> {
  let count = 0;
  for (let round = 0; round < 6; round += 1) {
    const before = count;
    for (const device of devices) if (await compare(device)) count += 1;
    if (count === before) return count;
  }
  throw new Error('own devices never stop saying what they were given');
}

export const olderAt = async (device: TestDevice) => (await device.api.ownRevisions()).older;
export const mark = (device: TestDevice, verified: boolean) => device.mark(BOB, verified);

/** Signs in on a new browser, which the relay gives what it had once. */
export async function signInTo(relay: MemoryRelay, world: World, lies: Former): Promise<TestDevice> {
  const tellTheTruth = rollBack(relay, lies);
  const device = await world.device(ALICE);
  tellTheTruth();
  return device;
}

/** Has the devices compare while the relay goes on lying to the last one. */
export async function settleWithLies(lies: Former, honest: readonly TestDevice[], deceived: TestDevice) {
  for (let round = 0; round < 4; round += 1) {
    await compare(deceived, lies);
    for (const device of honest) await compare(device);
  }
}
