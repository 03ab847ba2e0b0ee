/**
 * Own commits: created from the changes that are due, pending until the log shows them, submitted as often as
 * it takes.
 */
import {
  type CreatedCommit,
  CryptoError,
  createCommit,
  decodeKeyPackage,
  type Env,
  type Extension,
  equalBytes,
  exportSecret,
  type Group,
  groupView,
  keyPackageRef,
  type LeafIndex,
  pathRecipients,
  ratchetTreeRoot,
  splitWelcome,
  type TreePlace,
} from '@sinetti/crypto-core';
import {
  encodeRemovalGrounds,
  GROUP_NAME_LABEL,
  sealGroupName,
  signSubmittedCommit,
} from '@sinetti/crypto-core/account';
import { logPositionExtension } from '@sinetti/crypto-core/content';
import type { CommitSubmission } from '../api/cryptoApi.ts';
import { toBase64Url } from '../codec/base64url.ts';
import { limits } from '../codec/limits.ts';
import { certificateOf, isOfFormerKey, readableCertificate } from '../identity/certificates.ts';
import { leafOptions } from '../identity/leafOptions.ts';
import { readPin } from '../identity/pins.ts';
import { isOfLeaf, readRevocation, readStatement } from '../identity/revocations.ts';
import type { AccountOnDevice } from '../session/session.ts';
import type { Agreed } from '../storage/agreedRecord.ts';
import type { GroupRecord, Submission } from '../storage/records.ts';
import { peerOf } from './conversationId.ts';
import type { ConversationTransaction } from './conversationTransaction.ts';
import type { MlsGroup } from './mlsGroup.ts';
import { type RevokedLeaf, revokedLeaves } from './revokedLeaves.ts';
import { extensionsWith } from './rules/agreed.ts';
import { boundTo, isUnauthorized } from './rules/groupRules.ts';
import { treeParts, treePlaceFor } from './treeNodes.ts';

/** A KeyPackage that the relay handed out, with the device that the relay names as its owner. */
export interface Claimed {
  readonly userId: string;
  readonly deviceId: string;
  readonly keyPackage: Uint8Array;
}

/** Builds the submission of a pending commit, signed by the device: a session alone submits none. */
export function submissionOf(
  { account, conversationId }: Pick<ConversationTransaction, 'account' | 'conversationId'>,
  epoch: number,
  submission: Submission,
): CommitSubmission {
  const { privateKey } = account.device.signatureKey;
  const { addedIds, commit, groupInfo, removedIds, sealedName, tree, welcome, welcomeParts } = submission;
  const whole = welcome === null ? [] : [{ deviceIds: submission.welcomeDeviceIds, welcome }];
  return {
    conversationId,
    epoch,
    signature: toBase64Url(signSubmittedCommit(privateKey, { conversationId, epoch, commit, groupInfo })),
    commit: toBase64Url(commit),
    welcomes: [...whole, ...welcomeParts].map((part) => ({ ...part, welcome: toBase64Url(part.welcome) })),
    groupInfo: toBase64Url(groupInfo),
    tree: tree === null ? null : { hash: toBase64Url(tree.hash), parts: tree.parts.map(toBase64Url) },
    sealedName: sealedName === null ? null : toBase64Url(sealedName),
    addedIds,
    removedIds,
  };
}

/** Returns the pending commit; null if there is none. */
export async function pendingSubmission(
  transaction: ConversationTransaction,
): Promise<CommitSubmission | null> {
  const pending = await transaction.pending();
  return pending === null ? null : submissionOf(transaction, transaction.conversation.pendingEpoch, pending);
}

/** The changes that a commit has to make before this device encrypts anything in a conversation. */
export interface DueChanges {
  readonly revoked: readonly RevokedLeaf[];
  /**
   * Leaves under a former account key: in a direct conversation the other person's, in a group this person's own.
   */
  readonly superseded: readonly LeafIndex[];
  /** With `superseded`: their person has leaves under the present account key, too. */
  readonly isReplaced: boolean;
  /** Valid leave statements of people who are still in the tree. */
  readonly leaveStatements: GroupRecord['departures'];
  /**
   * At the creator's own devices: leaves that only they can remove, since the others don't follow into such a
   * tree.
   */
  readonly unauthorized: readonly LeafIndex[];
  /**
   * At the creator's own devices: the group is bound to another creator, and has to be bound to this one
   * again.
   */
  readonly rebind: boolean;
}

export async function dueChanges(transaction: ConversationTransaction, state: MlsGroup): Promise<DueChanges> {
  const { group } = state;
  const [record, revoked, peer] = await Promise.all([
    transaction.group(),
    revokedLeaves(transaction.tx, transaction.account, state),
    leavesOfPeer(transaction, state),
  ]);
  if (record === null) {
    return {
      revoked,
      superseded: peer?.superseded ?? [],
      isReplaced: peer?.isReplaced ?? false,
      leaveStatements: [],
      unauthorized: [],
      rebind: false,
    };
  }
  const superseded = formerOwnLeaves(transaction.account, group);
  const isReplaced = superseded.length > 0;
  const { creatorId, departures: leaveStatements, distrustedKeys, uninvitedIds } = record;
  if (creatorId !== transaction.account.userId)
    return { revoked, superseded, isReplaced, leaveStatements, unauthorized: [], rebind: false };
  const members = uninvitedIds.length + distrustedKeys.length > 0 ? groupView(group).members : [];
  const unauthorized = members.flatMap(({ leafIndex, credential, signatureKey }) => {
    const userId = readableCertificate(credential)?.userId;
    return isUnauthorized(record, userId, signatureKey) ? [leafIndex] : [];
  });
  return {
    revoked,
    superseded,
    isReplaced,
    leaveStatements,
    unauthorized,
    rebind: boundTo(group.context.extensions) !== creatorId,
  };
}

/** Finds the leaves of this person's devices that an account key they have moved on from has certified. */
function formerOwnLeaves(account: AccountOnDevice, group: Group): LeafIndex[] {
  if (account.device.formerAccountKeys.length === 0) return [];
  return groupView(group).members.flatMap(({ credential, leafIndex }) =>
    isOfFormerKey(account, credential) ? [leafIndex] : [],
  );
}

/**
 * Returns the people whose leaves the next own commit removes, and who can be added again by the same commit.
 */
export async function leavingIds(transaction: ConversationTransaction): Promise<ReadonlySet<string>> {
  const record = await transaction.group();
  if (record === null) return new Set();
  const uninvitedIds = record.creatorId === transaction.account.userId ? record.uninvitedIds : [];
  return new Set([...record.departures.map(({ userId }) => userId), ...uninvitedIds]);
}

/**
 * Returns whether a direct conversation holds leaves under a former account key of the other person, or none under the
 * present one: nothing is sent in it then. Where they have none under the present one, only a commit that adds their
 * present devices (addMembers) removes the former ones, since without it nobody would be left to talk to.
 */
export async function lacksPresentDevices(
  transaction: ConversationTransaction,
  state: MlsGroup,
): Promise<boolean> {
  const peer = await leavesOfPeer(transaction, state);
  return peer !== null && (peer.superseded.length > 0 || !peer.isReplaced);
}

/** Finds the leaves of the other person; null for one whose account key has never changed here, and in a group. */
async function leavesOfPeer(
  { conversationId, account, tx }: ConversationTransaction,
  { group }: MlsGroup,
): Promise<Pick<DueChanges, 'superseded' | 'isReplaced'> | null> {
  const peer = peerOf(conversationId, account.userId);
  const pin = peer === null ? null : await readPin(tx, account, peer);
  if (pin === null || pin.former.length === 0) return null;
  const superseded: LeafIndex[] = [];
  let isReplaced = false;
  for (const { credential, leafIndex } of groupView(group).members) {
    const certificate = readableCertificate(credential);
    if (certificate?.userId !== peer) continue;
    if (equalBytes(certificate.accountKey, pin.accountKey)) isReplaced = true;
    else superseded.push(leafIndex);
  }
  return { superseded, isReplaced };
}

export function isDue(due: DueChanges): boolean {
  const { revoked, superseded, isReplaced, leaveStatements, unauthorized, rebind } = due;
  const isSuperseded = isReplaced && superseded.length > 0;
  return (
    revoked.length > 0 || isSuperseded || leaveStatements.length > 0 || unauthorized.length > 0 || rebind
  );
}

/**
 * Commits as a member: renews this device's leaf, adds the given devices, makes the changes that are due. The
 * commit is pending from then on.
 * @param agreed what its members agree on from then on; null for what they agree on already
 */
export async function commitAsMember(
  transaction: ConversationTransaction,
  state: MlsGroup,
  adds: readonly Claimed[],
  env: Env,
  agreed: Agreed | null = null,
): Promise<CommitSubmission> {
  const { conversation, account, tx } = transaction;
  const due = await dueChanges(transaction, state);
  const membershipPolicy = await transaction.membershipPolicy();
  const { memberCheck, policy } = membershipPolicy;
  const infoExtensions = await logPositionExtensions(transaction);
  const removes = leavesToRemove(
    state.group,
    adds.length > 0 || due.isReplaced ? due : { ...due, superseded: [] },
  );
  const { extensions } = state.group.context;
  const creatorId = due.rebind && account.userId;
  const onlyAdds = adds.length > 0 && removes.length === 0 && !due.rebind;
  // Without a path the leaf stays as old as it is, and is renewed before this device's next message if that is due.
  const renewsLeaf = !onlyAdds || pathRecipients(state.group) <= Math.max(limits.pathKeys, adds.length);
  const devices = groupView(state.group).members.length;
  const treePlace = treePlaceFor(transaction, devices + adds.length);
  // The relay has no node of a tree that was inside.
  const isKnown = treePlaceFor(transaction, devices) === 'beside';
  const created = membershipPolicy.run(() =>
    createCommit(
      state.group,
      {
        adds: adds.map(({ keyPackage }) => keyPackage),
        removes,
        authenticatedData: groundsOf(due),
        ...(due.rebind || agreed !== null
          ? { extensions: extensionsWith(extensions, creatorId, agreed ?? conversation) }
          : {}),
        ...(renewsLeaf ? { leaf: leafOptions } : {}),
        forcePath: renewsLeaf,
        memberCheck,
        policy,
        infoExtensions,
        treePlace,
      },
      env,
    ),
  );
  state.accept();
  await membershipPolicy.savePins(tx, account, env.now());
  const record = await transaction.group();
  const submission = submissionFor(created, transaction, record?.name ?? null, adds, env, {
    treePlace,
    ...(isKnown ? { known: state.group } : {}),
  });
  const leaving = await leavingIds(transaction);
  const complete = {
    ...submission,
    renewsLeaf,
    addedIds: submission.addedIds.filter((userId) => leaving.has(userId) || !state.hasPerson(userId)),
    removedIds: due.leaveStatements.map(({ userId }) => userId),
  };
  transaction.setPending('member', conversation.epoch, created.pending, complete);
  return submissionOf(transaction, conversation.epoch, complete);
}

/** Returns the GroupInfo extensions that say how far this device has read the log. */
export async function logPositionExtensions({ chain }: ConversationTransaction): Promise<Extension[]> {
  const position = await chain.position();
  return position === null ? [] : [logPositionExtension(position)];
}

/**
 * Collects all that is submitted with a new commit.
 * @param name the group's name; null in a direct conversation and where it isn't known
 * @param tree where the tree goes, and the one whose nodes the relay has
 */
export function submissionFor(
  {
    pending,
    commit,
    welcome,
    groupInfo,
  }: Pick<CreatedCommit, 'pending' | 'commit' | 'welcome' | 'groupInfo'>,
  { isGroup, account }: ConversationTransaction,
  name: string | null,
  adds: readonly Claimed[],
  env: Env,
  { treePlace, known }: { readonly treePlace: TreePlace; readonly known?: Pick<Group, 'tree'> },
): Submission {
  const groupId = pending.context.groupId;
  const isBeside = treePlace === 'beside';
  return {
    commit,
    welcome: isBeside ? null : welcome,
    groupInfo,
    welcomeDeviceIds: isBeside ? [] : adds.map(({ deviceId }) => deviceId),
    welcomeParts: isBeside && welcome !== null ? welcomeByPerson(welcome, adds) : [],
    tree: isBeside ? { hash: ratchetTreeRoot(pending), parts: treeParts(pending, known) } : null,
    renewsLeaf: true,
    sealedName: name === null ? null : sealGroupName(groupNameKey(pending), groupId, name, env),
    addedIds: isGroup ? othersAmong(adds, account.userId) : [],
    removedIds: [],
    logPosition: null,
    logSigner: null,
  };
}

/** Parts a Welcome, which is mostly secrets of other people's devices for each of them. */
function welcomeByPerson(welcome: Uint8Array, adds: readonly Claimed[]): Submission['welcomeParts'] {
  const byPerson = new Map<string, Claimed[]>();
  for (const claimed of adds)
    byPerson.set(claimed.userId, [...(byPerson.get(claimed.userId) ?? []), claimed]);
  const people = [...byPerson.values()];
  const refs = people.map((devices) =>
    devices.map(({ keyPackage }) => keyPackageRef(decodeKeyPackage(keyPackage))),
  );
  return splitWelcome(welcome, refs).map((part, at) => ({
    deviceIds: people[at]?.map(({ deviceId }) => deviceId) ?? [],
    welcome: part,
  }));
}

function othersAmong(adds: readonly Claimed[], ownUserId: string): string[] {
  return [...new Set(adds.map(({ userId }) => userId))].filter((userId) => userId !== ownUserId);
}

/** Exports the key of the group's epoch under which the name is sealed. */
export function groupNameKey(group: Group): Uint8Array {
  return exportSecret(group, GROUP_NAME_LABEL, group.context.groupId, 32);
}

/**
 * Selects the claims that may be added, leaving out devices under a former account key of their person.
 * @throws CryptoError `invalid-key-package` for a revoked device
 */
export async function presentClaims(
  transaction: ConversationTransaction,
  claims: readonly Claimed[],
): Promise<readonly Claimed[]> {
  await refuseRevoked(transaction, claims);
  const { account, tx } = transaction;
  const former = new Map<string, readonly Uint8Array[]>();
  for (const userId of new Set(claims.map((claimed) => claimed.userId))) {
    const pin = await readPin(tx, account, userId);
    former.set(userId, pin?.former.map(({ accountKey }) => accountKey) ?? []);
  }
  return claims.filter(({ keyPackage, userId }) => {
    const { accountKey } = certificateOf(decodeKeyPackage(keyPackage).leafNode.credential);
    if (userId === account.userId) return equalBytes(accountKey, account.device.accountKey);
    return former.get(userId)?.every((key) => !equalBytes(key, accountKey)) ?? true;
  });
}

/**
 * Refuses KeyPackages that a revoked device left behind; an honest relay hands none out.
 * @throws CryptoError `invalid-key-package`
 */
async function refuseRevoked(
  { account, tx }: ConversationTransaction,
  claims: readonly Claimed[],
): Promise<void> {
  for (const { userId, deviceId, keyPackage } of claims) {
    const statement = await readStatement(tx, account, userId, deviceId);
    const revocation = statement === null ? null : readRevocation(statement);
    if (revocation === null) continue;
    // By a former account key, whoever has it now, no device of the present one is revoked.
    if (isOfLeaf(revocation, decodeKeyPackage(keyPackage).leafNode.credential)) {
      throw new CryptoError('invalid-key-package', 'of a revoked device');
    }
  }
}

function leavesToRemove(
  group: Group,
  { revoked, superseded, leaveStatements, unauthorized }: DueChanges,
): LeafIndex[] {
  const removed = new Set([...unauthorized, ...superseded, ...revoked.map(({ leafIndex }) => leafIndex)]);
  const gone = new Set(leaveStatements.map(({ userId }) => userId));
  if (gone.size > 0) {
    for (const { leafIndex, credential } of groupView(group).members) {
      const userId = readableCertificate(credential)?.userId;
      if (userId !== undefined && gone.has(userId)) removed.add(leafIndex);
    }
  }
  return [...removed];
}

function groundsOf({ revoked, leaveStatements }: DueChanges): Uint8Array {
  return encodeRemovalGrounds({
    departures: leaveStatements.map(({ statement }) => statement),
    revocations: revoked.map(({ statement }) => statement),
  });
}
