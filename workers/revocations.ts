/** Devices that their person has revoked, as far as this browser knows (PROTOCOL section 3). */
import {
  type Credential,
  CryptoError,
  type DeviceRevocation,
  equalBytes,
  type Group,
  groupView,
  type LeafIndex,
  verifyDeviceRevocation,
} from '@sinetti/crypto-core';
import { readableCertificate } from './certificates.ts';
import type { GroupState } from './groupState.ts';
import type { Person } from './session.ts';
import type { Transaction, WriteTransaction } from './vault/db.ts';
import { sealingKey } from './vault/records.ts';

export interface RevokedLeaf {
  readonly leafIndex: LeafIndex;
  readonly statement: Uint8Array;
}

/** What a statement says, if it holds. */
export function readRevocation(statement: Uint8Array): DeviceRevocation | null {
  try {
    return verifyDeviceRevocation(statement);
  } catch (error) {
    if (error instanceof CryptoError) return null;
    throw error;
  }
}

/** Whether it is about the device of that leaf, by the account key that certified it. */
export function isOfLeaf(revocation: DeviceRevocation, credential: Credential): boolean {
  const certificate = readableCertificate(credential);
  return (
    certificate !== null &&
    certificate.userId === revocation.userId &&
    certificate.deviceId === revocation.deviceId &&
    equalBytes(certificate.accountKey, revocation.accountKey)
  );
}

/** Keeps a statement for good: a relay can't take it back. */
export async function putRevocation(
  tx: WriteTransaction,
  { sealer }: Person,
  userId: string,
  deviceId: string,
  statement: Uint8Array,
): Promise<void> {
  const sealed = sealer.sealBytes('revocations', sealingKey(userId, deviceId), statement);
  await tx.objectStore('revocations').put(sealed, [userId, deviceId]);
}

/** The leaves of revoked devices, this one's left out: nobody removes their own leaf. */
export async function revokedLeaves(
  tx: Transaction,
  person: Person,
  state: GroupState,
): Promise<RevokedLeaf[]> {
  const known = (await tx.objectStore('revocations').getAllKeys()).filter(
    ([userId, deviceId]) => deviceId !== person.device?.deviceId && state.hasDevice(userId, deviceId),
  );
  if (known.length === 0) return [];
  const leaves: RevokedLeaf[] = [];
  for (const [userId, deviceId] of known) {
    const sealed = await tx.objectStore('revocations').get([userId, deviceId]);
    if (sealed === undefined) continue;
    const statement = person.sealer.openBytes('revocations', sealingKey(userId, deviceId), sealed);
    leaves.push(...leavesOf(state.group, statement));
  }
  return leaves;
}

function leavesOf(group: Group, statement: Uint8Array): RevokedLeaf[] {
  const revocation = readRevocation(statement);
  if (revocation === null) return [];
  return groupView(group)
    .members.filter(({ credential }) => isOfLeaf(revocation, credential))
    .map(({ leafIndex }) => ({ leafIndex, statement }));
}
