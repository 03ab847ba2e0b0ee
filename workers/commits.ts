/** Own commits: made from what has to change, kept until the log shows them, given to the relay as often as it takes. */
import {
  createCommit,
  type CreatedCommit,
  decodeKeyPackage,
  CryptoError,
  encodeLeaveStatements,
  type Env,
  exportSecret,
  type Group,
  GROUP_NAME_LABEL,
  groupBindingExtension,
  groupView,
  type LeafIndex,
  sealGroupName,
} from '@sinetti/crypto-core';
import type { CommitSubmission } from './api.ts';
import { toBase64Url } from './base64url.ts';
import { certificateOf, readableCertificate } from './certificates.ts';
import type { GroupState } from './groupState.ts';
import { boundTo, isAmiss } from './rules/groupRules.ts';
import type { ConversationStep } from './steps.ts';
import type { GroupRecord, Submission } from './vault/records.ts';

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

/** What has to change in a group before anything is said in it. */
export interface DueChanges {
  /** People who left, by statements that hold. */
  readonly departures: GroupRecord['departures'];
  /** At the creator's own devices: leaves that only they can take out, since the others don't follow into such a tree. */
  readonly amiss: readonly LeafIndex[];
  /** At the creator's own devices: the group says that it is somebody else's. */
  readonly rebind: boolean;
}

export async function dueChanges(step: ConversationStep, { group }: GroupState): Promise<DueChanges> {
  const record = await step.group();
  if (record === null) return { departures: [], amiss: [], rebind: false };
  const { creatorId, departures, distrustedKeys, uninvitedIds } = record;
  if (creatorId !== step.person.userId) return { departures, amiss: [], rebind: false };
  const members = uninvitedIds.length + distrustedKeys.length > 0 ? groupView(group).members : [];
  const amiss = members.flatMap(({ leafIndex, credential, signatureKey }) => {
    const userId = readableCertificate(credential)?.userId;
    return isAmiss(record, userId, signatureKey) ? [leafIndex] : [];
  });
  return { departures, amiss, rebind: boundTo(group.context.extensions) !== creatorId };
}

/** People whose leaves the next own commit takes out: they can be added again by the same one. */
export async function leavingIds(step: ConversationStep): Promise<ReadonlySet<string>> {
  const record = await step.group();
  if (record === null) return new Set();
  const uninvitedIds = record.creatorId === step.person.userId ? record.uninvitedIds : [];
  return new Set([...record.departures.map(({ userId }) => userId), ...uninvitedIds]);
}

export function isDue({ departures, amiss, rebind }: DueChanges): boolean {
  return departures.length > 0 || amiss.length > 0 || rebind;
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
        removes: leavesToRemove(state.group, due),
        authenticatedData: statementsOf(due),
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

function leavesToRemove(group: Group, { departures, amiss }: DueChanges): LeafIndex[] {
  const leaves = new Set(amiss);
  const gone = new Set(departures.map(({ userId }) => userId));
  if (gone.size > 0) {
    for (const { leafIndex, credential } of groupView(group).members) {
      const userId = readableCertificate(credential)?.userId;
      if (userId !== undefined && gone.has(userId)) leaves.add(leafIndex);
    }
  }
  return [...leaves];
}

function statementsOf({ departures }: DueChanges): Uint8Array {
  return departures.length === 0
    ? new Uint8Array(0)
    : encodeLeaveStatements(departures.map(({ statement }) => statement));
}
