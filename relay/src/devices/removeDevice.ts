import type { Db } from '../db/tables.ts';
import { deleteDevice } from '../repositories/devices.ts';
import { insertRevocation, type RevocationRow } from '../repositories/revocations.ts';
import { deleteMailbox } from '../repositories/welcomes.ts';

/** Takes a device out of use with its KeyPackages and Welcomes, and keeps the word that it is revoked. */
export async function removeDevice(tx: Db, userId: string, revocation: RevocationRow): Promise<void> {
  const { deviceId } = revocation;
  await insertRevocation(tx, userId, revocation);
  await deleteMailbox(tx, deviceId);
  await deleteDevice(tx, deviceId);
}
