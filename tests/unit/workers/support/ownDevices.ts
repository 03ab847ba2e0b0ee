/** Alice's devices in their own group, and what is said there. */
import type { SharedKeys } from '@sinetti/crypto-core/account';
import type { MessageContent } from '#workers/api/cryptoApi.ts';
import { accountDatabaseName } from '#workers/storage/db.ts';
import { payloadContent } from '#workers/storage/payload.ts';
import type { MessageRecord } from '#workers/storage/records.ts';
import { seededRandom } from './browser.ts';
import { ALICE, createWorld, selfOf, type TestDevice, type World } from './device.ts';
import { Rogue, storageKeyOf } from './rogue.ts';
import { answer, openRecords } from './storage.ts';

export const OWN = selfOf(ALICE);
export const random = seededRandom('own devices');
export const keysOf = (revision: number): SharedKeys => ({
  revision,
  stateKey: random(32),
  historyKey: random(32),
});

/** Alice's laptop, which has started the group of her devices, with a phone and a tablet in it. */
export async function threeDevices() {
  const world = createWorld();
  const [laptop, phone, tablet] = [
    await world.device(ALICE),
    await world.device(ALICE),
    await world.device(ALICE),
  ];
  await laptop.start(OWN);
  await phone.sync();
  await tablet.sync();
  return { laptop, phone, tablet, relay: world.relay, world };
}

/** Revokes a device; the relay goes on serving it, as one that colludes does. */
export async function revoke(by: TestDevice, device: { readonly deviceId: string }): Promise<string> {
  const statement = await by.revoke(device.deviceId);
  await by.api.setRevoked([{ userId: ALICE, deviceId: device.deviceId, statement }]);
  return statement;
}

export const know = (device: TestDevice, gone: { readonly deviceId: string }, statement: string) =>
  device.api.setRevoked([{ userId: ALICE, deviceId: gone.deviceId, statement }]);

export async function devicesIn(device: TestDevice): Promise<string[]> {
  const { members } = await device.api.conversation(OWN);
  return members.flatMap(({ deviceIds }) => deviceIds).sort();
}

export const idsOf = (...devices: { readonly deviceId: string }[]) =>
  devices.map(({ deviceId }) => deviceId).sort();
export const versionOf = (device: TestDevice) => device.api.vaultVersion();

/** A modified client of Alice's, which is in the group. */
export async function modifiedClient(world: World): Promise<Rogue> {
  const rogue = await Rogue.ofPerson(world.relay, ALICE);
  rogue.joinFromOutside(OWN);
  return rogue;
}

export const say = (rogue: Rogue, ...statements: (Uint8Array | null)[]) =>
  rogue.send(OWN, keysPayload(...statements));

/** The payload of a message with shared keys. */
export function keysPayload(...statements: (Uint8Array | null)[]): string {
  const wire = statements.map((statement) => Buffer.from(statement ?? []).toString('base64url'));
  return JSON.stringify({ v: 1, type: 'shared-keys', statements: wire });
}

/** Returns what is kept here of each message, of which the conversation shows the notes only. */
export async function keptMessages(device: TestDevice): Promise<MessageContent[]> {
  const records = (await recordsOf(device)).filter(({ place, store }) => {
    return store === 'messages' && place.startsWith(OWN);
  });
  return records.map(({ content }) => {
    const { payload, reason } = JSON.parse(Buffer.from(content).toString()) as MessageRecord;
    return payload === null
      ? { kind: 'undecryptable', reason: reason ?? 'damaged' }
      : payloadContent(payload);
  });
}

/** Returns what is kept here of the newest message. */
export async function newest(device: TestDevice): Promise<MessageContent | undefined> {
  return (await keptMessages(device)).at(-1);
}

export const refused = { kind: 'undecryptable', reason: 'rules' };

/** The contents of the records in some stores of a browser, for whoever opens them. */
export async function kept(device: TestDevice, stores: readonly string[]): Promise<string> {
  return (await recordsOf(device))
    .filter(({ store }) => stores.includes(store))
    .map(({ content }) => Buffer.from(content).toString('latin1'))
    .join('\n');
}

async function recordsOf(device: TestDevice) {
  const storageKey = await storageKeyOf(device.relay, device);
  const db = await answer<IDBDatabase>(device.browser.indexedDB.open(accountDatabaseName(device.userId)));
  const records = await openRecords(db, storageKey);
  db.close();
  return records;
}
