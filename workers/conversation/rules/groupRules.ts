import {
  CryptoError,
  type Extension,
  equalBytes,
  type GroupView,
  type LeafIndex,
} from '@sinetti/crypto-core';
import { findGroupBinding, isFromOutside, LEAF_REF_LABEL } from '@sinetti/crypto-core/account';
import { certificateOf, readableCertificate } from '../../identity/certificates.ts';
import { isOfLeaf } from '../../identity/revocations.ts';
import type { GroupRecord } from '../../storage/records.ts';
import { verifiedLeaver } from '../leaveStatements.ts';
import { changesOneAgreement } from './agreed.ts';
import {
  type DeviceName,
  type Grounds,
  isSameDevice,
  type ProposedCommit,
  type Rules,
  removalGrounds,
} from './rules.ts';

export interface GroupRules extends Rules {
  /**
   * People whose adding these rules have refused. A tree that holds any of them may be joined from outside only
   * if a device of the creator signed it, or by the creator's devices.
   */
  readonly unauthorizedAdds: ReadonlySet<string>;
  /** Returns whether a device of the creator vouches for the tree that was checked last. */
  readonly isVouchedFor: () => boolean;
}

/**
 * The rules of a group: its creator adds people, everybody adds their own devices, and nobody is removed but
 * by their own devices or on their own signed statement, that they leave or that they revoke a device
 * (PROTOCOL sections 3 and 4).
 * @param known this device's record of the group, which it keeps when it loses the group
 */
export function groupRules(own: DeviceName, known: GroupRecord | null): GroupRules {
  const { userId: ownUserId } = own;
  const unauthorizedAdds = new Set<string>();
  let vouchedFor = false;
  return {
    unauthorizedAdds,
    isVouchedFor: () => vouchedFor,
    admits: () => true,
    checkCommit: (commit) => checkCommit(commit, ownUserId, known, unauthorizedAdds),
    checkJoin(join, method) {
      const isReturnOfCreator = method === 'external' && known?.creatorId === ownUserId;
      const creatorId = isReturnOfCreator ? ownUserId : creatorOf(join.extensions);
      if (known !== null && known.creatorId !== creatorId) throw new CryptoError('policy', 'another creator');
      const signedBy = certificateOf(join.signer.credential);
      const signer = signedBy.userId;
      // A device has had no time to repair a tree that it has signed as it came in from outside; earlier versions don't say so.
      vouchedFor =
        signer === creatorId && !isSameDevice(signedBy, own) && !isFromOutside(join.infoExtensions);
      if (method === 'welcome') {
        if (signer !== creatorId && signer !== ownUserId) {
          throw new CryptoError('policy', 'invited by somebody other than the creator');
        }
        return;
      }
      if (ownUserId !== creatorId && !isMember(join, ownUserId)) {
        throw new CryptoError('policy', 'a group that one is not in');
      }
      // The creator's devices rejoin to repair the group, and a tree that one of them vouches for is repaired.
      if (ownUserId === creatorId || vouchedFor) return;
      if (known?.uninvitedIds.some((userId) => isMember(join, userId)) === true) {
        throw new CryptoError('policy', 'somebody is in it whom its creator did not add');
      }
    },
  };
}

/** Returns the creator of a group. @throws CryptoError `policy` for a group that isn't bound to one */
export function creatorOf(extensions: readonly Extension[]): string {
  const creatorId = boundTo(extensions);
  if (creatorId === null) throw new CryptoError('policy', 'a group without a creator');
  return creatorId;
}

/** Returns the creator that a group is bound to; null if the binding is absent or can't be read. */
export function boundTo(extensions: readonly Extension[]): string | null {
  try {
    return findGroupBinding(extensions)?.creatorId ?? null;
  } catch (error) {
    if (error instanceof CryptoError) return null;
    throw error;
  }
}

function checkCommit(
  commit: ProposedCommit,
  ownUserId: string,
  known: GroupRecord | null,
  unauthorizedAdds: Set<string>,
): void {
  // The record goes first: a creator's device may have rejoined a tree that is bound to another creator.
  const creatorId = known?.creatorId ?? creatorOf(commit.group.extensions);
  const sender = certificateOf(commit.senderCredential);
  // A creator's own device may break these rules to repair the group; the other people's devices are not in
  // that epoch.
  const isRepair = known !== null && sender.userId === creatorId && creatorId === ownUserId;
  if (commit.changesExtensions && !isRepair && !changesOneAgreement(commit))
    throw new CryptoError('policy', 'changes the extensions');
  // Nobody would follow into another group, its creator's devices included.
  if (commit.endsGroup) throw new CryptoError('policy', 'ends the group');
  if (commit.updates.length > 0) throw new CryptoError('policy', "commits another's update");
  if (known !== null && isDistrusted(commit, sender, known)) {
    noteStrangers(commit, unauthorizedAdds);
    throw new CryptoError('policy', 'by a device with an invalid certificate');
  }
  if (commit.external) checkExternal(commit, creatorId, unauthorizedAdds);
  if (sender.userId !== creatorId) checkAdds(commit, sender, unauthorizedAdds);
  const grounds = removalGrounds(commit);
  const left = leaversOf(commit, grounds);
  for (const { leafIndex, credential } of commit.removes) {
    const removed = readableCertificate(credential);
    const isOwn = removed !== null && isOwnOf(sender, removed, commit.external);
    const isRevoked = grounds.revocations.some((revocation) => isOfLeaf(revocation, credential));
    if (isOwn || isRevoked || (removed !== null && left.has(removed.userId))) continue;
    // Here the two are in one tree, since this device could not know who had added that person.
    if (sender.userId === creatorId && known?.unvouched.some(({ userId }) => userId === removed?.userId))
      continue;
    const key = commit.group.members.find((member) => member.leafIndex === leafIndex)?.signatureKey;
    if (isRepair && key !== undefined && isUnauthorized(known, removed?.userId, key)) continue;
    throw new CryptoError('policy', 'removes somebody who did not leave');
  }
}

function isOwnOf(sender: DeviceName, removed: DeviceName, external: boolean): boolean {
  return external ? isSameDevice(removed, sender) : removed.userId === sender.userId;
}

/**
 * Returns whether the creator's devices remove a leaf: its person was added against the rules, or its
 * certificate is invalid.
 */
export function isUnauthorized(
  { uninvitedIds, distrustedKeys }: Pick<GroupRecord, 'uninvitedIds' | 'distrustedKeys'>,
  userId: string | undefined,
  signatureKey: Uint8Array,
): boolean {
  if (userId !== undefined && uninvitedIds.includes(userId)) return true;
  return distrustedKeys.some((key) => equalBytes(key, signatureKey));
}

function checkAdds(commit: ProposedCommit, sender: DeviceName, unauthorizedAdds: Set<string>): void {
  const others = commit.adds
    .map((credential) => certificateOf(credential).userId)
    .filter((userId) => userId !== sender.userId);
  if (others.length === 0) return;
  noteStrangers(commit, unauthorizedAdds);
  throw new CryptoError('policy', 'adds somebody without being the creator');
}

/** A device of a member is refused, too, but brings no stranger into the group. */
function noteStrangers({ adds, group }: ProposedCommit, unauthorizedAdds: Set<string>): void {
  for (const credential of adds) {
    const { userId } = certificateOf(credential);
    if (!isMember(group, userId)) unauthorizedAdds.add(userId);
  }
}

/**
 * Returns whether a device commits that had an invalid certificate when this one came in: its leaf isn't checked again while
 * it stays as it is, and may be in anybody's name, the creator's too.
 */
function isDistrusted(
  { group }: ProposedCommit,
  sender: DeviceName,
  { distrustedKeys }: Pick<GroupRecord, 'distrustedKeys'>,
): boolean {
  if (distrustedKeys.length === 0) return false;
  return group.members.some(({ credential, signatureKey }) => {
    const certificate = readableCertificate(credential);
    if (certificate === null || !isSameDevice(certificate, sender)) return false;
    return distrustedKeys.some((key) => equalBytes(key, signatureKey));
  });
}

function isMember({ members }: Pick<GroupView, 'members'>, userId: string): boolean {
  return members.some(({ credential }) => readableCertificate(credential)?.userId === userId);
}

function checkExternal(commit: ProposedCommit, creatorId: string, unauthorizedAdds: Set<string>): void {
  const { userId } = certificateOf(commit.senderCredential);
  if (commit.adds.length > 0) throw new CryptoError('policy', 'an external commit that adds others');
  // The creator may add whom they want, themselves included: nobody else could once their last device was revoked.
  if (userId === creatorId || isMember(commit.group, userId)) return;
  unauthorizedAdds.add(userId);
  throw new CryptoError('policy', 'joins from outside without being a member');
}

/**
 * Returns the people whose leave statements come with the commit. It has to remove all devices of each: with
 * the device that signed removed and another one left, nothing could verify the statement any more.
 * @throws CryptoError `policy`
 */
function leaversOf(
  commit: ProposedCommit,
  { leaveStatements }: Pick<Grounds, 'leaveStatements'>,
): ReadonlySet<string> {
  const left = new Set<string>();
  const tree = {
    ...commit.group,
    leafRef: (leafIndex: LeafIndex) => commit.leafRef(leafIndex, LEAF_REF_LABEL),
  };
  try {
    for (const statement of leaveStatements) left.add(verifiedLeaver(statement, tree));
  } catch (error) {
    if (!(error instanceof CryptoError)) throw error;
    throw new CryptoError('policy', `leave statement: ${error.message}`);
  }
  const removed = new Set(commit.removes.map(({ leafIndex }) => leafIndex));
  for (const { leafIndex, credential } of commit.group.members) {
    const userId = readableCertificate(credential)?.userId;
    if (userId !== undefined && left.has(userId) && !removed.has(leafIndex)) {
      throw new CryptoError('policy', 'leaves a device of somebody who left');
    }
  }
  return left;
}
