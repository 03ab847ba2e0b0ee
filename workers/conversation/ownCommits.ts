/** Own commits: made from what has to change, kept until the log shows them, given to the relay as often as it takes. */
import {
  type CreatedCommit,
  CryptoError,
  createCommit,
  decodeKeyPackage,
  type Env,
  encodeRemovalGrounds,
  equalBytes,
  exportSecret,
  GROUP_NAME_LABEL,
  type Group,
  groupBindingExtension,
  groupView,
  type LeafIndex,
  sealGroupName,
} from '@sinetti/crypto-core';
import type { CommitSubmission } from '../api/cryptoApi.ts';
import { toBase64Url } from '../codec/base64url.ts';
import { certificateOf, readableCertificate } from '../identity/certificates.ts';
import { readPin } from '../identity/pins.ts';
import type { GroupRecord, Submission } from '../storage/records.ts';
import { peerOf } from './conversationId.ts';
import type { ConversationStep } from './conversationTransaction.ts';
import type { GroupState } from './mlsGroup.ts';
import { type RevokedLeaf, revokedLeaves } from './revokedLeaves.ts';
import { boundTo, isAmiss } from './rules/groupRules.ts';

/** A KeyPackage that the relay handed out, with whose it says it is. */
export interface Claimed {
  readonly userId: string;
  readonly deviceId: string;
  readonly keyPackage: Uint8Array;
}

/** What the relay is given for a commit that is kept as pending. */
export function submissionOf(
  conversationId: string,
  epoch: number,
  { commit, welcome, welcomeDeviceIds, groupInfo, sealedName, addedIds, removedIds }: Submission,
): CommitSubmission {
  return {
    conversationId,
    epoch,
    commit: toBase64Url(commit),
    welcomes: welcome === null ? [] : [{ deviceIds: welcomeDeviceIds, welcome: toBase64Url(welcome) }],
    groupInfo: toBase64Url(groupInfo),
    sealedName: sealedName === null ? null : toBase64Url(sealedName),
    addedIds,
    removedIds,
  };
}

/** The own commit that waits for its place in the log. */
export async function waitingCommit(step: ConversationStep): Promise<CommitSubmission | null> {
  const { conversationId, head } = step;
  const pending = await step.pending();
  return pending === null ? null : submissionOf(conversationId, head.pendingEpoch, pending);
}

/** What has to change in a conversation before anything is said in it. */
export interface DueChanges {
  readonly revoked: readonly RevokedLeaf[];
  /** In a direct conversation: leaves under an account key that the other person had before. */
  readonly superseded: readonly LeafIndex[];
  /** People who left, by statements that hold. */
  readonly departures: GroupRecord['departures'];
  /** At the creator's own devices: leaves that only they can take out, since the others don't follow into such a tree. */
  readonly amiss: readonly LeafIndex[];
  /** At the creator's own devices: the group says that it is somebody else's. */
  readonly rebind: boolean;
}

export async function dueChanges(step: ConversationStep, state: GroupState): Promise<DueChanges> {
  const { group } = state;
  const record = await step.group();
  const revoked = await revokedLeaves(step.tx, step.person, state);
  if (record === null) {
    return {
      revoked,
      superseded: await supersededLeaves(step, state),
      departures: [],
      amiss: [],
      rebind: false,
    };
  }
  const superseded: LeafIndex[] = [];
  const { creatorId, departures, distrustedKeys, uninvitedIds } = record;
  if (creatorId !== step.person.userId) return { revoked, superseded, departures, amiss: [], rebind: false };
  const members = uninvitedIds.length + distrustedKeys.length > 0 ? groupView(group).members : [];
  const amiss = members.flatMap(({ leafIndex, credential, signatureKey }) => {
    const userId = readableCertificate(credential)?.userId;
    return isAmiss(record, userId, signatureKey) ? [leafIndex] : [];
  });
  return { revoked, superseded, departures, amiss, rebind: boundTo(group.context.extensions) !== creatorId };
}

/** People whose leaves the next own commit takes out: they can be added again by the same one. */
export async function leavingIds(step: ConversationStep): Promise<ReadonlySet<string>> {
  const record = await step.group();
  if (record === null) return new Set();
  const uninvitedIds = record.creatorId === step.person.userId ? record.uninvitedIds : [];
  return new Set([...record.departures.map(({ userId }) => userId), ...uninvitedIds]);
}

/** Those that come in their place are added by the same commit (addMembers): without it nobody would be left to talk to. */
export async function supersededLeaves(
  { conversationId, person, tx }: ConversationStep,
  { group }: GroupState,
): Promise<LeafIndex[]> {
  const peer = peerOf(conversationId, person.userId);
  const pin = peer === null ? null : await readPin(tx, person, peer);
  if (pin === null || pin.former.length === 0) return [];
  return groupView(group).members.flatMap(({ credential, leafIndex }) => {
    const certificate = readableCertificate(credential);
    const isPresent = certificate?.userId !== peer || equalBytes(certificate.accountKey, pin.accountKey);
    return isPresent ? [] : [leafIndex];
  });
}

export function isDue({ revoked, departures, amiss, rebind }: DueChanges): boolean {
  return revoked.length > 0 || departures.length > 0 || amiss.length > 0 || rebind;
}

/**
 * Commits as a member: with a renewed leaf, the devices given, and without those who have to go. The commit is kept as
 * pending.
 */
export async function commitAsMember(
  step: ConversationStep,
  state: GroupState,
  adds: readonly Claimed[],
  env: Env,
): Promise<CommitSubmission> {
  const { conversationId, head, person, tx } = step;
  const due = await dueChanges(step, state);
  const membership = await step.membership();
  const { memberCheck, policy } = membership;
  const created = membership.run(() =>
    createCommit(
      state.group,
      {
        adds: adds.map(({ keyPackage }) => keyPackage),
        removes: leavesToRemove(state.group, adds.length === 0 ? { ...due, superseded: [] } : due),
        authenticatedData: groundsOf(due),
        ...(due.rebind ? { extensions: [groupBindingExtension({ creatorId: person.userId })] } : {}),
        forcePath: true,
        memberCheck,
        policy,
      },
      env,
    ),
  );
  state.accept();
  await membership.savePins(tx, person, env.now());
  const record = await step.group();
  const submission = submissionFor(created, step, record?.name ?? null, adds, env);
  const leaving = await leavingIds(step);
  const complete = {
    ...submission,
    addedIds: submission.addedIds.filter((userId) => leaving.has(userId) || !state.hasPerson(userId)),
    removedIds: due.departures.map(({ userId }) => userId),
  };
  step.setPending('member', head.epoch, created.pending, complete);
  return submissionOf(conversationId, head.epoch, complete);
}

/** @param name the group's, null in a direct conversation and where it isn't known */
export function submissionFor(
  {
    pending,
    commit,
    welcome,
    groupInfo,
  }: Pick<CreatedCommit, 'pending' | 'commit' | 'welcome' | 'groupInfo'>,
  { isGroup, person }: ConversationStep,
  name: string | null,
  adds: readonly Claimed[],
  env: Env,
): Submission {
  const groupId = pending.context.groupId;
  return {
    commit,
    welcome,
    groupInfo,
    welcomeDeviceIds: adds.map(({ deviceId }) => deviceId),
    sealedName: name === null ? null : sealGroupName(groupNameKey(pending), groupId, name, env),
    addedIds: isGroup ? othersAmong(adds, person.userId) : [],
    removedIds: [],
  };
}

function othersAmong(adds: readonly Claimed[], ownUserId: string): string[] {
  return [...new Set(adds.map(({ userId }) => userId))].filter((userId) => userId !== ownUserId);
}

/** Of the group's epoch. */
export function groupNameKey(group: Group): Uint8Array {
  return exportSecret(group, GROUP_NAME_LABEL, group.context.groupId, 32);
}

/**
 * The relay hands out key packages by user and device: they have to be those devices'.
 * @throws CryptoError `invalid-key-package`
 */
export function checkClaim(claimed: Claimed): void {
  const { credential } = decodeKeyPackage(claimed.keyPackage).leafNode;
  const { userId, deviceId } = certificateOf(credential);
  if (userId !== claimed.userId || deviceId !== claimed.deviceId) {
    throw new CryptoError('invalid-key-package', 'of another device than the relay says');
  }
}

/**
 * Those of the claims that may be added: without devices under an account key that their person has no more.
 * @throws CryptoError `invalid-key-package` for a revoked device
 */
export async function presentClaims(
  step: ConversationStep,
  claims: readonly Claimed[],
): Promise<readonly Claimed[]> {
  await refuseRevoked(step, claims);
  const { person, tx } = step;
  const former = new Map<string, readonly Uint8Array[]>();
  for (const userId of new Set(claims.map((claimed) => claimed.userId))) {
    const pin = await readPin(tx, person, userId);
    former.set(userId, pin?.former.map(({ accountKey }) => accountKey) ?? []);
  }
  return claims.filter(({ keyPackage, userId }) => {
    const { accountKey } = certificateOf(decodeKeyPackage(keyPackage).leafNode.credential);
    if (userId === person.userId) return equalBytes(accountKey, person.device.accountKey);
    return former.get(userId)?.every((key) => !equalBytes(key, accountKey)) ?? true;
  });
}

/**
 * The relay has no business handing out what a revoked device left behind.
 * @throws CryptoError `invalid-key-package`
 */
async function refuseRevoked({ tx }: ConversationStep, claims: readonly Claimed[]): Promise<void> {
  for (const { userId, deviceId } of claims) {
    if ((await tx.objectStore('revocations').getKey([userId, deviceId])) !== undefined) {
      throw new CryptoError('invalid-key-package', 'of a revoked device');
    }
  }
}

function leavesToRemove(group: Group, { revoked, superseded, departures, amiss }: DueChanges): LeafIndex[] {
  const leaves = new Set([...amiss, ...superseded, ...revoked.map(({ leafIndex }) => leafIndex)]);
  const gone = new Set(departures.map(({ userId }) => userId));
  if (gone.size > 0) {
    for (const { leafIndex, credential } of groupView(group).members) {
      const userId = readableCertificate(credential)?.userId;
      if (userId !== undefined && gone.has(userId)) leaves.add(leafIndex);
    }
  }
  return [...leaves];
}

function groundsOf({ revoked, departures }: DueChanges): Uint8Array {
  return encodeRemovalGrounds({
    departures: departures.map(({ statement }) => statement),
    revocations: revoked.map(({ statement }) => statement),
  });
}
