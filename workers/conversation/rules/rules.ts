/** The interface of the rules of a kind of conversation. Refusals are CryptoError `policy`. */
import { type CommitPolicy, CryptoError, type JoinProposal } from '@sinetti/crypto-core';
import { type DeviceRevocation, decodeRemovalGrounds } from '@sinetti/crypto-core/account';
import { readRevocation } from '../../identity/revocations.ts';

/** The ways to join: by Welcome after somebody added the device, or by its own external commit. */
export type JoinMethod = 'welcome' | 'external';

export interface Rules {
  /** Returns whether devices of that person may be in the tree at all. */
  readonly admits: (userId: string) => boolean;
  readonly checkCommit: CommitPolicy;
  readonly checkJoin: (join: JoinProposal, method: JoinMethod) => void;
}

export type ProposedCommit = Parameters<CommitPolicy>[0];

export interface DeviceName {
  readonly userId: string;
  readonly deviceId: string;
}

/** The grounds that a commit gives for its removals. */
export interface Grounds {
  /** The leave statements, not verified yet. */
  readonly leaveStatements: readonly Uint8Array[];
  /** The revocations whose signatures are valid. */
  readonly revocations: readonly DeviceRevocation[];
}

/** Reads the grounds of a commit. @throws CryptoError `policy` for grounds that can't be read */
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
