import { CryptoError, equalBytes } from '@sinetti/crypto-core';
import { decodeRemovalGrounds } from '@sinetti/crypto-core/account';
import { certificateOf } from '../../identity/certificates.ts';
import { isOfLeaf, readRevocation } from '../../identity/revocations.ts';
import { isSameDevice, type ProposedCommit, type Rules, removalGrounds } from './rules.ts';

/** The person whose devices' group it is, by what this device knows of their devices. */
export interface Owner {
  readonly userId: string;
  readonly accountKey: Uint8Array;
  /** Ids of the person's devices that are revoked. */
  readonly revokedIds: ReadonlySet<string>;
  /** Ids of those that this device has seen the group take out. */
  readonly removedIds: Set<string>;
}

export interface SelfRules extends Rules {
  /** The owner's; grows while the log is read. */
  readonly removedIds: Set<string>;
  /** The person's revocations that the checked commits gave as grounds. */
  readonly statedRevocations: readonly StatedRevocation[];
}

export interface StatedRevocation {
  readonly deviceId: string;
  readonly statement: Uint8Array;
}

/**
 * The rules of the group of a person's own devices: each of them comes in by itself or is added by another, and is
 * removed by its revocation alone, after which it doesn't come back.
 *
 * [Note: a revoked leaf that is still there]
 * A commit that leaves a revoked leaf in the tree is no breach, nor is one that adds it: its sender may not have heard of
 * the revocation, or this device has heard of it before it reads what is older. One that refused to follow couldn't
 * remove the leaf either. It does so by its own next commit, before it says anything (dueChanges). But a commit that
 * states a revocation has to act on it, and whoever commits after it has read it.
 */
export function selfRules(owner: Owner): SelfRules {
  const statedRevocations: StatedRevocation[] = [];
  return {
    removedIds: owner.removedIds,
    statedRevocations,
    admits: (userId) => userId === owner.userId,
    checkCommit(commit) {
      checkCommit(commit, owner);
      statedRevocations.push(...revocationsIn(commit, owner));
    },
    checkJoin(join, method) {
      // The leaves are checked one by one. From outside a device has to come in where a revoked one was the last to
      // commit, to remove it; no Welcome of such a one is needed.
      const { deviceId } = certificateOf(join.signer.credential);
      if (method === 'welcome' && owner.revokedIds.has(deviceId)) {
        throw new CryptoError('policy', 'invited by a revoked device');
      }
    },
  };
}

function checkCommit(commit: ProposedCommit, { removedIds, revokedIds, userId }: Owner): void {
  const sender = certificateOf(commit.senderCredential);
  const added = commit.external ? [commit.senderCredential, ...commit.adds] : commit.adds;
  for (const credential of added) {
    const device = certificateOf(credential);
    if (device.userId !== userId) throw new CryptoError('policy', "adds another person's device");
    if (revokedIds.has(device.deviceId) && removedIds.has(device.deviceId)) {
      throw new CryptoError('policy', 'adds a device that was taken out');
    }
  }
  if (commit.external && commit.adds.length > 0) {
    throw new CryptoError('policy', 'an external commit that adds others');
  }
  const { revocations } = removalGrounds(commit);
  const removed = new Set(commit.removes.map(({ leafIndex }) => leafIndex));
  for (const { credential } of commit.removes) {
    const isReplaced = commit.external && isSameDevice(certificateOf(credential), sender);
    const isRevoked = revocations.some((revocation) => isOfLeaf(revocation, credential));
    if (!isReplaced && !isRevoked) throw new CryptoError('policy', 'removes a device that is not revoked');
  }
  for (const { credential, leafIndex } of commit.group.members) {
    const isKept =
      !removed.has(leafIndex) && revocations.some((revocation) => isOfLeaf(revocation, credential));
    if (isKept) throw new CryptoError('policy', 'keeps a device that it says is revoked');
  }
  // No honest client sends any of these among its own devices.
  if (commit.endsGroup) throw new CryptoError('policy', 'ends the conversation');
  if (commit.changesExtensions) throw new CryptoError('policy', 'changes the extensions');
  if (commit.updates.length > 0) throw new CryptoError('policy', "commits another's update");
}

function revocationsIn(
  { authenticatedData }: ProposedCommit,
  { accountKey, userId }: Owner,
): StatedRevocation[] {
  return decodeRemovalGrounds(authenticatedData).revocations.flatMap((statement) => {
    const revocation = readRevocation(statement);
    const isOwn = revocation?.userId === userId && equalBytes(revocation.accountKey, accountKey);
    return isOwn ? [{ deviceId: revocation.deviceId, statement }] : [];
  });
}
