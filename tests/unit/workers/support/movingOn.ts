import type { Vault } from '@sinetti/crypto-core/account';
import type { MovedOn, RotatedVault } from '#workers/api/cryptoApi.ts';
import { cheapPasswordKeys } from './browser.ts';
import { ALICE, ALICE_AND_BOB, createPair, PASSWORD, type TestDevice } from './device.ts';
import type { MemoryRelay } from './relay.ts';
import { decode, openVaultOf } from './rogue.ts';

export const NEW_PASSWORD = 'a quieter harbour';

/** The possessions of somebody who has logged in with the password: the vault of that time, open. */
export interface Loot {
  readonly vault: Vault;
  readonly stored: RotatedVault;
  readonly wrapKey: Uint8Array;
}

export function steal(relay: MemoryRelay, userId = ALICE): Loot {
  const stored = relay.vaults.get(userId)!;
  const { salt } = relay.passwordParams.get(userId)!;
  const { wrapKey } = cheapPasswordKeys(PASSWORD, { salt: decode(salt) });
  return { vault: openVaultOf(relay, userId), stored, wrapKey };
}

/** Alice and Bob who have talked, a thief's browser in Alice's account, and what the thief has. */
export async function robbed() {
  const pair = await createPair();
  const { alice, bob, relay, world } = pair;
  await alice.send(ALICE_AND_BOB, 'before the theft');
  await bob.sync();
  await bob.send(ALICE_AND_BOB, 'a reply');
  const thief = await world.device(ALICE);
  for (const device of [thief, alice, bob]) await device.sync();
  return { ...pair, thief, loot: steal(relay) };
}

export const revocationsOf = (userId: string, { revocations }: MovedOn) =>
  revocations.map(({ id, statement }) => ({ userId, deviceId: id, statement }));

export async function accept(device: TestDevice, userId: string): Promise<void> {
  await device.confirm('accept-account-key', userId);
  await device.api.acceptAccountKey(userId, (await device.api.safetyNumbers(userId)).offered!);
}

export async function trustIn(device: TestDevice, userId: string) {
  return (await device.api.contactTrust()).find((contact) => contact.userId === userId);
}

/** Has the log of a conversation end with this device's own leaves alone, of its person. */
export async function rejoin(device: TestDevice, conversationId: string): Promise<void> {
  await device.syncOne(conversationId);
  for (;;) {
    const submission = await device.api.nextCommit(conversationId);
    if (submission === null) return;
    device.submit(submission);
    await device.syncOne(conversationId);
  }
}

export async function devicesIn(device: TestDevice, conversationId: string, userId: string) {
  const { members } = await device.api.conversation(conversationId);
  return members.find((person) => person.userId === userId)?.deviceIds ?? [];
}
