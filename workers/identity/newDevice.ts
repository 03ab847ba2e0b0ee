/** The device that a browser is, and how it becomes another one under a new account key (PROTOCOL sections 2 and 3). */
import {
  createSignatureKeyPair,
  type Env,
  issueDeviceCertificate,
  signDeviceRevocation,
} from '@sinetti/crypto-core';
import { limits } from '../codec/limits.ts';
import { randomUuid } from '../codec/uuid.ts';
import type { Device, UnlockedAccount } from '../session/session.ts';
import type { WriteTransaction } from '../storage/db.ts';
import {
  ConversationRecord,
  type DeviceRecord,
  type MessageRecord,
  OutboxRecord,
  sealingKey,
} from '../storage/records.ts';
import { putRevocation } from './revocations.ts';

/** A device that takes the place of others, with the former account key's word that these are revoked. */
export interface NewDevice {
  readonly record: DeviceRecord;
  readonly revocations: readonly { readonly deviceId: string; readonly statement: Uint8Array }[];
}

/**
 * Draws a device and certifies it.
 * @param accountSeed 32 bytes
 * @param former the device of this browser so far, certified by an account key that the person moves on from
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
  const formerAccountKeys = former === null ? [] : [...former.formerAccountKeys, former.accountKey];
  return {
    deviceId,
    signatureSeed: privateKey,
    certificate: issueDeviceCertificate(accountSeed, device),
    ownRevocation: signDeviceRevocation(accountSeed, { userId, deviceId }),
    formerAccountKeys: formerAccountKeys.slice(-limits.formerKeys),
  };
}

/**
 * Puts a device under a new account key in the place of this browser's. Messages, pins and marks stay. The conversations
 * are left, since the leaves in them are the former device's: the new one joins them again.
 */
export async function becomeDevice(
  tx: WriteTransaction,
  account: UnlockedAccount,
  { record, revocations }: NewDevice,
): Promise<void> {
  const { sealer, userId } = account;
  const devices = tx.objectStore('device');
  await devices.put(sealer.seal('device', 'device', record), 'device');
  const unlock = await devices.get('nextUnlock');
  if (unlock !== undefined) await devices.put(unlock, 'unlock');
  await devices.delete('nextUnlock');
  for (const { deviceId, statement } of revocations) {
    await putRevocation(tx, account, userId, deviceId, statement);
  }
  await keepSentMessages(tx, account);
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

/** Keeps messages that the relay has taken, whose entries in the log come before the new device's time. */
async function keepSentMessages(tx: WriteTransaction, { sealer, userId, device }: UnlockedAccount) {
  const outbox = tx.objectStore('outbox');
  for (const messageId of await outbox.getAllKeys()) {
    const row = await outbox.get(messageId);
    if (row === undefined) continue;
    const sent = sealer.open('outbox', messageId, row.sealed, OutboxRecord);
    if (sent.status !== 'sent' || sent.seq === null) continue;
    const message: MessageRecord = {
      senderId: userId,
      senderDeviceId: device?.deviceId ?? '',
      timestamp: sent.timestamp ?? sent.sentAt,
      own: true,
      payload: sent.payload,
      reason: null,
      sentAt: null,
      isClockOff: false,
      epoch: sent.epoch,
    };
    const place = [row.conversationId, sent.seq] as const;
    const sealed = sealer.seal('messages', sealingKey(row.conversationId, sent.seq), message);
    await tx.objectStore('messages').put({ messageId, sealed }, [...place]);
    await outbox.delete(messageId);
  }
}
