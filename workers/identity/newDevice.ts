/** The device that a browser is, and how it becomes another one (PROTOCOL sections 2 and 3). */
import { createSignatureKeyPair, type Env, equalBytes } from '@sinetti/crypto-core';
import {
  issueDeviceCertificate,
  readDeviceCertificate,
  signDeviceCopied,
  signDeviceRevocation,
} from '@sinetti/crypto-core/account';
import { limits } from '../codec/limits.ts';
import { randomUuid } from '../codec/uuid.ts';
import type { Device, UnlockedAccount } from '../session/session.ts';
import type { OutboxRow, WriteTransaction } from '../storage/db.ts';
import {
  ConversationRecord,
  type DeviceRecord,
  type FormerDeviceRecord,
  OutboxRecord,
} from '../storage/records.ts';
import { putRevocation } from './revocations.ts';

/** A device that takes the place of others, with the former account key's word that these are revoked. */
export interface NewDevice {
  readonly record: DeviceRecord;
  readonly revocations: readonly { readonly deviceId: string; readonly statement: Uint8Array }[];
}

/**
 * Keeps a message that the relay has taken, whose entry in the log comes before the new device's time.
 * @returns false where it has to be sent again
 */
export type KeepSent = (
  tx: WriteTransaction,
  account: UnlockedAccount,
  messageId: string,
  row: OutboxRow,
  record: OutboxRecord,
) => Promise<boolean>;

/**
 * Draws a device and certifies it.
 * @param accountSeed 32 bytes
 * @param former the device of this browser so far
 */
export function newDeviceRecord(
  env: Env,
  userId: string,
  accountSeed: Uint8Array,
  former: Pick<Device, 'accountKey' | 'formerAccountKeys'> | null,
): DeviceRecord {
  const { publicKey, privateKey } = createSignatureKeyPair(env);
  const deviceId = randomUuid(env);
  const notBefore = BigInt(Math.floor(env.now() / 1000));
  const device = { userId, deviceId, deviceKey: publicKey, notBefore };
  const certificate = issueDeviceCertificate(accountSeed, device);
  const { accountKey } = readDeviceCertificate(certificate);
  const left = former === null || equalBytes(former.accountKey, accountKey) ? [] : [former.accountKey];
  const formerAccountKeys = [...(former?.formerAccountKeys ?? []), ...left];
  return {
    deviceId,
    signatureSeed: privateKey,
    certificate,
    ownRevocation: signDeviceRevocation(accountSeed, { userId, deviceId }),
    formerAccountKeys: formerAccountKeys.slice(-limits.formerKeys),
  };
}

/**
 * Puts another device in the place of this browser's, whose data is in two places, and keeps the words for the relay that
 * end the former one.
 */
export async function replaceCopied(
  tx: WriteTransaction,
  account: UnlockedAccount,
  {
    former: { deviceId, signatureKey },
    record,
    accountSeed,
  }: { readonly former: Device; readonly record: DeviceRecord; readonly accountSeed: Uint8Array },
  keepSent: KeepSent,
): Promise<void> {
  const { sealer, userId } = account;
  const statement = signDeviceRevocation(accountSeed, { userId, deviceId });
  const signature = signDeviceCopied(signatureKey.privateKey, { userId, deviceId });
  await becomeDevice(tx, account, { record, revocations: [{ deviceId, statement }] }, keepSent);
  const words: FormerDeviceRecord = { deviceId, signature, statement };
  await tx.objectStore('device').put(sealer.seal('device', 'former', words), 'former');
}

/**
 * Puts another device in the place of this browser's. Messages, pins and marks stay. The conversations
 * are left, since the leaves in them are the former device's: the new one joins them again.
 */
export async function becomeDevice(
  tx: WriteTransaction,
  account: UnlockedAccount,
  { record, revocations }: NewDevice,
  keepSent: KeepSent,
): Promise<void> {
  const { sealer, userId } = account;
  const devices = tx.objectStore('device');
  await devices.put(sealer.seal('device', 'device', record), 'device');
  const unlock = await devices.get('nextUnlock');
  if (unlock !== undefined) await devices.put(unlock, 'unlock');
  await devices.delete('nextUnlock');
  await devices.delete('start');
  for (const { deviceId, statement } of revocations) {
    await putRevocation(tx, account, userId, deviceId, statement);
  }
  await keepMessages(tx, account, keepSent);
  for (const store of ['keyPackages', 'pending', 'epochs', 'ratchets', 'members'] as const) {
    await tx.objectStore(store).clear();
  }
  const heads = tx.objectStore('heads');
  for (const id of await heads.getAllKeys()) {
    const sealed = await heads.get(id);
    if (sealed === undefined) continue;
    const head = sealer.open('heads', id, sealed, ConversationRecord);
    const left: ConversationRecord = {
      ...head,
      membership: 'none',
      pending: 'none',
      refusal: null,
      version: head.version + 1,
    };
    await heads.put(sealer.seal('heads', id, left), id);
  }
}

/**
 * Keeps messages that the relay has taken, whose entries in the log come before the new device's time. Those that wait are
 * encrypted anew, by the new device's leaf.
 */
async function keepMessages(
  tx: WriteTransaction,
  account: UnlockedAccount,
  keepSent: KeepSent,
): Promise<void> {
  const outbox = tx.objectStore('outbox');
  for (const messageId of await outbox.getAllKeys()) {
    const row = await outbox.get(messageId);
    if (row === undefined) continue;
    const record = account.sealer.open('outbox', messageId, row.sealed, OutboxRecord);
    if (record.status === 'sent' && (await keepSent(tx, account, messageId, row, record))) continue;
    const waiting: OutboxRecord = {
      ...record,
      // Gives up what the relay has said of the message.
      ...(record.status === 'sent' ? { status: 'sending', seq: null, timestamp: null } : {}),
      epoch: null,
      ciphertext: null,
      headerAt: null,
    };
    await outbox.put({ ...row, sealed: account.sealer.seal('outbox', messageId, waiting) }, messageId);
  }
}
