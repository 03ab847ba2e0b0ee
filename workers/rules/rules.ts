/** What the rules of a kind of conversation decide. Refusals are CryptoError `policy`. */
import type { CommitPolicy, JoinProposal } from '@sinetti/crypto-core';

/** How a device gets in: somebody added it, or it adds itself. */
export type WayIn = 'welcome' | 'external';

export interface Rules {
  /** Whether a device of that person may be in the tree at all. */
  readonly admits: (userId: string) => boolean;
  readonly checkCommit: CommitPolicy;
  readonly checkJoin: (join: JoinProposal, way: WayIn) => void;
}

export type ProposedCommit = Parameters<CommitPolicy>[0];

export interface DeviceName {
  readonly userId: string;
  readonly deviceId: string;
}

export function isSameDevice(a: DeviceName, b: DeviceName): boolean {
  return a.userId === b.userId && a.deviceId === b.deviceId;
}
