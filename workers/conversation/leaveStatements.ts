/** Who has left a group by their own signed word, as far as its tree can tell (PROTOCOL section 4). */
import {
  CryptoError,
  equalBytes,
  type Group,
  type GroupView,
  groupView,
  type LeafIndex,
  type LeaveStatement,
  leafRef,
  readLeaveStatement,
  verifyLeaveStatement,
} from '@sinetti/crypto-core';
import { readableCertificate } from '../identity/certificates.ts';
import { isSameDevice } from './rules/rules.ts';

/** The tree that statements are held against. */
export interface Leaves extends Pick<GroupView, 'groupId' | 'epoch' | 'members'> {
  readonly leafRef: (leafIndex: LeafIndex) => Uint8Array | null;
}

export interface StatedLeave {
  readonly userId: string;
  readonly statement: Uint8Array;
}

export function leavesOf(group: Group): Leaves {
  return { ...groupView(group), leafRef: (leafIndex) => leafRef(group, leafIndex) };
}

/**
 * The person who says that they leave. The statement is by one of their devices that are in the tree, of that very
 * leaf, and so of their present membership.
 * @throws CryptoError `malformed`, `unsupported`, `bad-signature`, `policy`
 */
export function whoLeft(statement: Uint8Array, leaves: Leaves): string {
  const { claim, isOfPresentLeaf } = verifiedClaim(statement, leaves);
  if (claim.epoch > leaves.epoch) throw new CryptoError('policy', 'leaves a later epoch');
  if (!isOfPresentLeaf) throw new CryptoError('policy', 'left before it was added again');
  return claim.userId;
}

/**
 * Whether a statement is the person's own, and of a time that this device was still in the group: their other device may
 * have followed the log further, and nobody shows it any more to who has left.
 */
export function isOwnLeave(statement: Uint8Array, leaves: Leaves, userId: string): boolean {
  try {
    const { claim, isOfPresentLeaf } = verifiedClaim(statement, leaves);
    return claim.userId === userId && (isOfPresentLeaf || claim.epoch > leaves.epoch);
  } catch (error) {
    if (error instanceof CryptoError) return false;
    throw error;
  }
}

/** @throws CryptoError `malformed`, `unsupported`, `bad-signature`, `policy` */
function verifiedClaim(
  statement: Uint8Array,
  leaves: Leaves,
): { claim: LeaveStatement; isOfPresentLeaf: boolean } {
  const claim = readLeaveStatement(statement);
  if (!equalBytes(claim.groupId, leaves.groupId)) throw new CryptoError('policy', 'leaves another group');
  const signer = leaves.members.find(({ credential }) => {
    const certificate = readableCertificate(credential);
    return certificate !== null && isSameDevice(certificate, claim);
  });
  if (signer === undefined) throw new CryptoError('policy', 'left by a device that is not in the group');
  verifyLeaveStatement(statement, signer.signatureKey);
  const ref = leaves.leafRef(signer.leafIndex);
  return { claim, isOfPresentLeaf: ref !== null && equalBytes(claim.leafRef, ref) };
}

/** Those of the departures that hold, each person once. */
export function verifiedLeaves<T extends StatedLeave>(departures: readonly T[], leaves: Leaves): T[] {
  const seen = new Set<string>();
  return departures.filter(({ userId, statement }) => {
    if (seen.has(userId) || !holds(userId, statement, leaves)) return false;
    seen.add(userId);
    return true;
  });
}

function holds(userId: string, statement: Uint8Array, leaves: Leaves): boolean {
  try {
    return whoLeft(statement, leaves) === userId;
  } catch (error) {
    if (error instanceof CryptoError) return false;
    throw error;
  }
}
