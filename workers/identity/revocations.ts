/** Revocations, as far as this browser knows them (PROTOCOL section 3). */
import { type Credential, CryptoError, equalBytes } from '@sinetti/crypto-core';
import { type DeviceRevocation, verifyDeviceRevocation } from '@sinetti/crypto-core/account';
import type { AccountOnDevice, UnlockedAccount } from '../session/session.ts';
import { type Transaction, type WriteTransaction, withinFirst } from '../storage/db.ts';
import { sealingKey } from '../storage/sealer.ts';
import { readableCertificate } from './certificates.ts';

/** Verifies and reads a revocation; null if it isn't valid. */
export function readRevocation(statement: Uint8Array): DeviceRevocation | null {
  try {
    return verifyDeviceRevocation(statement);
  } catch (error) {
    if (error instanceof CryptoError) return null;
    throw error;
  }
}

/** Returns whether a revocation is of the device in a leaf, signed by the account key that certified it. */
export function isOfLeaf(revocation: DeviceRevocation, credential: Credential): boolean {
  const certificate = readableCertificate(credential);
  return (
    certificate !== null &&
    certificate.userId === revocation.userId &&
    certificate.deviceId === revocation.deviceId &&
    equalBytes(certificate.accountKey, revocation.accountKey)
  );
}

/** Returns whether a device of the person's own is revoked by their present account key, as far as is known here. */
export async function isRevokedOwn(
  tx: Transaction,
  account: AccountOnDevice,
  deviceId: string,
): Promise<boolean> {
  const { device, userId } = account;
  return isRevokedBy(tx, account, { userId, deviceId, accountKey: device.accountKey });
}

/** Returns whether a device of somebody is revoked by this account key of theirs, as far as is known here. */
export async function isRevokedBy(
  tx: Transaction,
  account: UnlockedAccount,
  { accountKey, deviceId, userId }: Pick<DeviceRevocation, 'userId' | 'deviceId' | 'accountKey'>,
): Promise<boolean> {
  const statement = await readStatement(tx, account, userId, deviceId);
  const revocation = statement === null ? null : readRevocation(statement);
  return revocation !== null && equalBytes(revocation.accountKey, accountKey);
}

/** Stores a revocation for good, so that a relay can't take it back. */
export async function putRevocation(
  tx: WriteTransaction,
  { sealer }: UnlockedAccount,
  userId: string,
  deviceId: string,
  statement: Uint8Array,
): Promise<void> {
  const sealed = sealer.sealBytes('revocations', sealingKey(userId, deviceId), statement);
  await tx.objectStore('revocations').put(sealed, [userId, deviceId]);
}

/** Reads the revocations of a person's devices that are known here. */
export async function revocationsOf(
  tx: Transaction,
  account: UnlockedAccount,
  userId: string,
): Promise<DeviceRevocation[]> {
  const store = tx.objectStore('revocations');
  const keys = await store.getAllKeys(withinFirst(userId));
  const known: DeviceRevocation[] = [];
  for (const [, deviceId] of keys) {
    const statement = await readStatement(tx, account, userId, deviceId);
    const revocation = statement === null ? null : readRevocation(statement);
    if (revocation !== null) known.push(revocation);
  }
  return known;
}

/** Reads the statement that a device is revoked; null where none is known here. */
export async function readStatement(
  tx: Transaction,
  { sealer }: UnlockedAccount,
  userId: string,
  deviceId: string,
): Promise<Uint8Array | null> {
  const sealed = await tx.objectStore('revocations').get([userId, deviceId]);
  return sealed === undefined ? null : sealer.openBytes('revocations', sealingKey(userId, deviceId), sealed);
}
