/** Verification of leave statements against a group's tree (PROTOCOL section 4). */
import {
  CryptoError,
  equalBytes,
  type Group,
  type GroupView,
  groupView,
  type LeafIndex,
  leafRef,
} from '@sinetti/crypto-core';
import {
  LEAF_REF_LABEL,
  type LeaveStatement,
  readLeaveStatement,
  verifyLeaveStatement,
} from '@sinetti/crypto-core/account';
import { readableCertificate } from '../identity/certificates.ts';
import { isSameDevice } from './rules/rules.ts';

/** The parts of a group's tree by which statements are verified. */
export interface TreeView extends Pick<GroupView, 'groupId' | 'epoch' | 'members'> {
  readonly leafRef: (leafIndex: LeafIndex) => Uint8Array | null;
}

/** A leave statement, with the person whose it is as the relay says. */
export interface AttributedStatement {
  readonly userId: string;
  readonly statement: Uint8Array;
}

export function treeOf(group: Group): TreeView {
  return { ...groupView(group), leafRef: (leafIndex) => leafRef(group, leafIndex, LEAF_REF_LABEL) };
}

/**
 * Returns the person who left. A valid statement is signed by one of their devices in the tree and names its
 * present leaf, and with that their present membership.
 * @throws CryptoError `malformed`, `unsupported`, `bad-signature`, `policy`
 */
export function verifiedLeaver(statement: Uint8Array, tree: TreeView): string {
  const { claim, isOfPresentLeaf } = verifiedClaim(statement, tree);
  if (claim.epoch > tree.epoch) throw new CryptoError('policy', 'leaves a later epoch');
  if (!isOfPresentLeaf) throw new CryptoError('policy', 'left before it was added again');
  return claim.userId;
}

/**
 * Returns whether a statement is the person's own and of their present membership. It may be of a later epoch
 * than this device's: the other device that signed it may have followed the log further, which the relay
 * shows to nobody who left.
 */
export function isOwnStatement(statement: Uint8Array, tree: TreeView, userId: string): boolean {
  try {
    const { claim, isOfPresentLeaf } = verifiedClaim(statement, tree);
    return claim.userId === userId && (isOfPresentLeaf || claim.epoch > tree.epoch);
  } catch (error) {
    if (error instanceof CryptoError) return false;
    throw error;
  }
}

/**
 * Reads a statement and verifies its signature.
 * @throws CryptoError `malformed`, `unsupported`, `bad-signature`, `policy`
 */
function verifiedClaim(
  statement: Uint8Array,
  tree: TreeView,
): { claim: LeaveStatement; isOfPresentLeaf: boolean } {
  const claim = readLeaveStatement(statement);
  if (!equalBytes(claim.groupId, tree.groupId)) throw new CryptoError('policy', 'leaves another group');
  const signer = tree.members.find(({ credential }) => {
    const certificate = readableCertificate(credential);
    return certificate !== null && isSameDevice(certificate, claim);
  });
  if (signer === undefined) throw new CryptoError('policy', 'left by a device that is not in the group');
  verifyLeaveStatement(statement, signer.signatureKey);
  const ref = tree.leafRef(signer.leafIndex);
  return { claim, isOfPresentLeaf: ref !== null && equalBytes(claim.leafRef, ref) };
}

/** Selects the valid statements, one for each person. */
export function validStatements<T extends AttributedStatement>(
  statements: readonly T[],
  tree: TreeView,
): T[] {
  const seen = new Set<string>();
  return statements.filter(({ userId, statement }) => {
    if (seen.has(userId) || !isValidFor(userId, statement, tree)) return false;
    seen.add(userId);
    return true;
  });
}

function isValidFor(userId: string, statement: Uint8Array, tree: TreeView): boolean {
  try {
    return verifiedLeaver(statement, tree) === userId;
  } catch (error) {
    if (error instanceof CryptoError) return false;
    throw error;
  }
}
