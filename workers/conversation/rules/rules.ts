/** The interface of the rules of a kind of conversation. Refusals are CryptoError `policy`. */
import {
  type CommitPolicy,
  CryptoError,
  type Extension,
  equalBytes,
  type JoinProposal,
} from '@sinetti/crypto-core';
import {
  type DeviceRevocation,
  decodeRemovalGrounds,
  findMessageTimer,
  groupBindingExtension,
  MESSAGE_TIMER_EXTENSION,
  messageTimerExtension,
} from '@sinetti/crypto-core/account';
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

/** Returns after how many seconds messages disappear; 0 for never, and where nobody can say. */
export function timerIn(extensions: readonly Extension[]): number {
  try {
    return findMessageTimer(extensions);
  } catch (error) {
    if (error instanceof CryptoError) return 0;
    throw error;
  }
}

const withoutTimer = (extensions: readonly Extension[]) =>
  extensions.filter(({ type }) => type !== MESSAGE_TIMER_EXTENSION);

/**
 * Returns whether a commit changes of the extensions nothing but the timer, which any member may, and beside it nothing.
 * @throws CryptoError `malformed`, `unsupported` for a timer that is none
 */
export function changesTimerAlone({ adds, extensions, external, group, removes }: ProposedCommit): boolean {
  findMessageTimer(extensions);
  const before = withoutTimer(group.extensions);
  const after = withoutTimer(extensions);
  const isSame = before.every(({ data, type }, i) => {
    const now = after[i];
    return type === now?.type && equalBytes(data, now.data);
  });
  return isSame && before.length === after.length && !external && adds.length + removes.length === 0;
}

/**
 * Returns the extensions that an own commit leaves.
 * @param creatorId the creator that the group is bound to anew; false for the one so far
 * @param timer seconds, 0 for none
 */
export function extensionsWith(
  before: readonly Extension[],
  creatorId: string | false,
  timer: number,
): readonly Extension[] {
  return [
    ...(creatorId === false ? withoutTimer(before) : [groupBindingExtension({ creatorId })]),
    ...(timer === 0 ? [] : [messageTimerExtension(timer)]),
  ];
}
