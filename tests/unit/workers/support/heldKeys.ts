/** Lists the keys of an account that a browser holds, and what renews them. */
import type { SharedKeys } from '@sinetti/crypto-core/account';
import { expect } from 'vitest';
import type { RotatedVault } from '#workers/api/cryptoApi.ts';
import { accountDatabaseName } from '#workers/storage/db.ts';
import { ALICE, createPair, type TestDevice } from './device.ts';
import { storageKeyOf } from './rogue.ts';
import { answer, openRecords } from './storage.ts';

export const NEW_PASSWORD = 'a quieter harbour';

/** Alice with a laptop, a phone and a tablet, all at the relay. */
export async function threeDevices() {
  const { alice: laptop, bob, relay, world } = await createPair();
  const [phone, tablet] = [await world.device(ALICE), await world.device(ALICE)];
  for (const device of [laptop, phone, tablet, bob]) await device.sync();
  return { laptop, phone, tablet, bob, relay, world };
}

/** All that is in a browser, for whoever has its disk and its session: the content of every record. */
export async function held(device: TestDevice): Promise<string> {
  const storageKey = await storageKeyOf(device.relay, device);
  const db = await answer<IDBDatabase>(device.browser.indexedDB.open(accountDatabaseName(ALICE)));
  const records = await openRecords(db, storageKey);
  db.close();
  return records.map(({ content }) => Buffer.from(content).toString('latin1')).join('\n');
}

/** Records are JSON with bytes as base64url, or bytes as they are. */
export function holds(content: string, secret: Uint8Array): boolean {
  const bytes = Buffer.from(secret);
  return content.includes(bytes.toString('base64url')) || content.includes(bytes.toString('latin1'));
}

/** The revisions of the shared keys that a browser holds, of those that there are in the vault. */
export function revisionsIn(content: string, sharedKeys: readonly SharedKeys[]): number[] {
  return sharedKeys.flatMap(({ historyKey, revision, stateKey }) => {
    const both = [holds(content, historyKey), holds(content, stateKey)];
    expect(both[0]).toBe(both[1]);
    return both[0] === true ? [revision] : [];
  });
}

export async function changePassword(device: TestDevice, from: string, to: string): Promise<void> {
  device.browser.typist.knows(from, to);
  await device.api.confirm({ kind: 'change-password', target: 'alice', id: null }, device.owner());
  const { passwordParams, vault } = await device.api.changePassword(device.vault());
  device.relay.rotate(ALICE, vault);
  device.relay.passwordParams.set(ALICE, passwordParams);
  device.relay.passwords.set(ALICE, to);
  await device.api.adoptRenewedKeys(vault.sealedVault);
  await device.readState();
}

export async function takeOver(device: TestDevice, vault: RotatedVault = device.vault()): Promise<void> {
  await device.confirm('renew-keys');
  await device.api.readRenewedKeys(vault);
  await device.readState();
}
