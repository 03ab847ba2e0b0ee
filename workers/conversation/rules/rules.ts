/** What the rules of a kind of conversation decide. Refusals are CryptoError `policy`. */
import {
  type CommitPolicy,
  CryptoError,
  type DeviceRevocation,
  decodeRemovalGrounds,
  type JoinProposal,
} from '@sinetti/crypto-core';
import { readRevocation } from '../../identity/revocations.ts';

/** How a device gets in: somebody added it, or it adds itself. */
export type JoinMethod = 'welcome' | 'external';

export interface Rules {
  /** Whether a device of that person may be in the tree at all. */
  readonly admits: (userId: string) => boolean;
  readonly checkCommit: CommitPolicy;
  readonly checkJoin: (join: JoinProposal, method: JoinMethod) => void;
}

export type ProposedCommit = Parameters<CommitPolicy>[0];

export interface DeviceName {
  readonly userId: string;
  readonly deviceId: string;
}

/** What a commit says for its removals. */
export interface Grounds {
  /** Leave statements, unchecked. */
  readonly leaveStatements: readonly Uint8Array[];
  /** Those of the revocations whose signatures hold. */
  readonly revocations: readonly DeviceRevocation[];
}

/** @throws CryptoError `policy` for what can't be read */
export function removalGrounds({ authenticatedData }: ProposedCommit): Grounds {
  try {
    const { departures, revocations } = decodeRemovalGrounds(authenticatedData);
    return {
      leaveStatements: departures,
      revocations: revocations.map(readRevocation).filter((revocation) => revocation !== null),
    };
  } catch (error) {
    if (!(error instanceof CryptoError)) throw error;
    throw new CryptoError('policy', `grounds of a removal: ${error.message}`);
  }
}

export function isSameDevice(a: DeviceName, b: DeviceName): boolean {
  return a.userId === b.userId && a.deviceId === b.deviceId;
}
