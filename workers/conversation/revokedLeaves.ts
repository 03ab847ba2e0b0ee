/** Revoked devices in a group, which a member removes before it sends (PROTOCOL section 3). */
import { type Group, groupView, type LeafIndex } from '@sinetti/crypto-core';
import { isOfLeaf, readRevocation, readStatement } from '../identity/revocations.ts';
import type { UnlockedAccount } from '../session/session.ts';
import type { Transaction } from '../storage/db.ts';
import type { MlsGroup } from './mlsGroup.ts';

export interface RevokedLeaf {
  readonly leafIndex: LeafIndex;
  readonly statement: Uint8Array;
}

/** Finds the leaves of revoked devices, without this device's, since nobody can remove their own leaf. */
export async function revokedLeaves(
  tx: Transaction,
  account: UnlockedAccount,
  state: MlsGroup,
): Promise<RevokedLeaf[]> {
  const known = (await tx.objectStore('revocations').getAllKeys()).filter(
    ([userId, deviceId]) => deviceId !== account.device?.deviceId && state.hasDevice(userId, deviceId),
  );
  if (known.length === 0) return [];
  const leaves: RevokedLeaf[] = [];
  for (const [userId, deviceId] of known) {
    const statement = await readStatement(tx, account, userId, deviceId);
    if (statement !== null) leaves.push(...leavesOf(state.group, statement));
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
