import { CryptoError, equalBytes } from '@sinetti/crypto-core';
import { certificateOf, readableCertificate } from '../../identity/certificates.ts';
import { isOfLeaf } from '../../identity/revocations.ts';
import { changesOneAgreement } from './agreed.ts';
import { isSameDevice, type ProposedCommit, type Rules, removalGrounds } from './rules.ts';

/** The person whose device this is, by what it knows of their devices. */
export interface OwnDevices {
  readonly userId: string;
  /** There are others, and none of the person's was ever revoked: the others are in what the person takes part in. */
  readonly areElsewhere: boolean;
}

/**
 * The rules of a direct conversation: each of the two people adds and removes their own devices, either may
 * remove a device that was revoked or is certified by a former account key, and nobody else gets in.
 */
export function directRules(
  participants: readonly [string, string],
  pinned: (userId: string) => Uint8Array | undefined,
  own: OwnDevices,
): Rules {
  const admits = (userId: string): boolean => participants.includes(userId);
  return {
    admits,
    checkCommit: (commit) => checkCommit(commit, admits, pinned),
    checkJoin(join, method) {
      if (method === 'welcome' || !own.areElsewhere) return;
      // A relay that makes up a conversation has no device of this person's in it.
      const isThere = join.members.some(
        ({ credential }) => readableCertificate(credential)?.userId === own.userId,
      );
      if (!isThere) throw new CryptoError('policy', "a conversation without the person's other devices");
    },
  };
}

function checkCommit(
  commit: ProposedCommit,
  admits: (userId: string) => boolean,
  pinned: (userId: string) => Uint8Array | undefined,
): void {
  const sender = certificateOf(commit.senderCredential);
  const added = commit.external ? [commit.senderCredential, ...commit.adds] : commit.adds;
  for (const credential of added) {
    if (!admits(certificateOf(credential).userId)) {
      throw new CryptoError('policy', 'adds a device of neither participant');
    }
  }
  if (commit.external && commit.adds.length > 0) {
    throw new CryptoError('policy', 'an external commit that adds others');
  }
  const { revocations } = removalGrounds(commit);
  for (const { credential } of commit.removes) {
    if (revocations.some((revocation) => isOfLeaf(revocation, credential))) continue;
    const removed = certificateOf(credential);
    const accountKey = pinned(removed.userId);
    if (accountKey !== undefined && !equalBytes(accountKey, removed.accountKey)) continue;
    const own = commit.external ? isSameDevice(removed, sender) : removed.userId === sender.userId;
    if (!own) throw new CryptoError('policy', 'removes a device that is not its own');
  }
  // No honest client sends any of these in a direct conversation.
  if (commit.endsGroup) throw new CryptoError('policy', 'ends the conversation');
  if (commit.changesExtensions && !changesOneAgreement(commit))
    throw new CryptoError('policy', 'changes the extensions');
  if (commit.updates.length > 0) throw new CryptoError('policy', "commits another's update");
}
