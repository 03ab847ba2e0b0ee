import { randomUUID } from 'node:crypto';
import type { SentMessage } from '../../contract/index.ts';
import type { DeviceSession } from '../auth/session.ts';
import type { Db } from '../db/tables.ts';
import { requireSignedCommit } from '../devices/deviceSignatures.ts';
import { ApiError, quotaReached } from '../errors.ts';
import { dayOf, personQuotas } from '../personQuotas.ts';
import type { Hub } from '../realtime/hub.ts';
import { insertConversation, takeSeqAndEndEpoch } from '../repositories/conversations.ts';
import { deviceOwners, lockDevice, startOf } from '../repositories/devices.ts';
import { type EntryRow, insertEntry } from '../repositories/entries.ts';
import { renameGroup } from '../repositories/groups.ts';
import { markLeavesRemoved } from '../repositories/leaveStatements.ts';
import { groupInfoBytes, otherGroupInfoBytes, storing, welcomeBytesOf } from '../repositories/quotas.ts';
import { insertWelcome } from '../repositories/welcomes.ts';
import { publishEntry } from './events.ts';
import type { NewCommit } from './newEntries.ts';
import { type Audience, requireAudience } from './permissions.ts';
import { anotherStart, enoughToday, messagesFull, receipt, staleEpoch } from './send.ts';
import { groupInfosFull, inHex, nameTree, roomOfDevices } from './trees.ts';

/** A commit that has been stored, and the people to deliver it to. */
export interface StoredCommit {
  readonly entry: EntryRow;
  readonly audience: Audience;
  /** The owners of the devices that it has a Welcome for. */
  readonly welcomedIds: readonly string[];
}

interface CommitDependencies {
  readonly db: Db;
  readonly hub: Hub;
  readonly clock: () => number;
}

/** See Messaging.commit. */
export async function commit(
  { db, hub, clock }: CommitDependencies,
  sender: DeviceSession,
  conversationId: string,
  newCommit: NewCommit,
): Promise<SentMessage> {
  await requireSignedCommit(db, sender, conversationId, newCommit);
  const stored = await db.transaction().execute(async (tx) => {
    const audience = await requireAudience(tx, conversationId, sender.userId);
    return storeCommit(tx, sender, audience, newCommit, clock());
  });
  const { groupId } = stored.audience;
  const userIds = hearersOf(stored.audience);
  // The list first, as where people are added: until then a group is its creator's browser's alone.
  if (groupId !== null && newCommit.epoch === 0) hub.publishToUsers(userIds, { type: 'groups' });
  publishCommit(hub, stored);
  return receipt(stored.entry);
}

/**
 * Appends a commit if it ends the current epoch, with everything that comes of it.
 * @param tx a transaction that the caller has checked the sender's right in
 * @throws ApiError another-start, stale-epoch (with the current epoch), missing-tree, invalid-request
 */
export async function storeCommit(
  tx: Db,
  sender: DeviceSession,
  audience: Audience,
  newCommit: NewCommit,
  now: number,
): Promise<StoredCommit> {
  const { conversationId, groupId } = audience;
  await requireStart(tx, sender.deviceId, newCommit.start ?? null);
  const welcomedIds = await requireDevices(tx, audience, newCommit);
  if (groupId === null && newCommit.sealedName !== undefined) {
    throw new ApiError('invalid-request', 'sealedName: a direct conversation has no name.');
  }
  if (groupId === null && newCommit.treeHash !== undefined) {
    throw new ApiError('invalid-request', 'treeHash: the tree of a direct conversation is in its GroupInfo.');
  }
  if (groupId === null && newCommit.removed !== undefined) {
    throw new ApiError('invalid-request', 'removed: nobody leaves a direct conversation.');
  }

  await requireRoom(tx, sender.userId, audience, newCommit, now);
  const seq = await takeCommitSeq(tx, audience, newCommit, now);
  if (seq === null) throw await staleEpoch(tx, conversationId);
  const entry: EntryRow = {
    conversationId,
    seq,
    id: randomUUID(),
    kind: 'commit',
    epoch: newCommit.epoch,
    senderId: sender.userId,
    senderDeviceId: sender.deviceId,
    content: Buffer.from(newCommit.commit, 'base64url'),
    createdAt: now,
  };
  await insertEntry(tx, entry);
  const epoch = newCommit.epoch + 1;
  const { treeHash = null } = newCommit;
  if (groupId !== null) await nameTree(tx, conversationId, treeHash, now);
  if (groupId !== null && newCommit.sealedName !== undefined) {
    await renameGroup(tx, groupId, { sealedName: Buffer.from(newCommit.sealedName, 'base64url'), epoch });
  }
  await markLeavesRemoved(tx, conversationId, newCommit.removed ?? [], now);
  for (const { deviceIds, welcome } of newCommit.welcomes) {
    const content = Buffer.from(welcome, 'base64url');
    const named = treeHash === null ? null : inHex(treeHash);
    const to = { conversationId, epoch, seq, deviceIds, senderId: sender.userId };
    await insertWelcome(tx, { ...to, content, treeHash: named }, now);
  }
  return { entry, audience, welcomedIds };
}

/** @throws ApiError quota, where what comes with the commit would be more than is kept for one person */
async function requireRoom(
  tx: Db,
  userId: string,
  { conversationId, groupId }: Audience,
  { commit, groupInfo, welcomes }: NewCommit,
  now: number,
): Promise<void> {
  const [stored] = await storing(tx, { userId, bytes: sizeOf(commit), entries: 1, day: dayOf(now) });
  if (stored !== undefined && stored.bytes > personQuotas.storedBytesPerUser) throw messagesFull();
  if (stored !== undefined && stored.entries > personQuotas.entriesADay) throw enoughToday();
  const waiting = welcomes.reduce((sum, { welcome }) => sum + sizeOf(welcome), 0);
  if (waiting > 0 && waiting + (await welcomeBytesOf(tx, userId)) > personQuotas.welcomeBytesPerUser) {
    throw quotaReached(
      'welcomes',
      'Too many invitations of yours wait at the server. There is room again as browsers fetch them.',
    );
  }
  if (groupId === null) return;
  const size = sizeOf(groupInfo);
  if (size + (await otherGroupInfoBytes(tx, conversationId)) > personQuotas.groupInfoBytesPerUser) {
    // Else a member of enough groups could have nobody removed from any.
    if (size <= (await groupInfoBytes(tx, conversationId))) return;
    if (size <= (await roomOfDevices(tx, conversationId))) return;
    throw groupInfosFull();
  }
}

/** Bytes of what base64url stands for. */
const sizeOf = (text: string) => Buffer.byteLength(text, 'base64url');

/** Refuses what a copy of the device's data commits, until it has registered its own start. */
async function requireStart(tx: Db, deviceId: string, named: string | null): Promise<void> {
  await lockDevice(tx, deviceId);
  const start = await startOf(tx, deviceId);
  if (start !== null && start.tag !== named) throw anotherStart();
}

export function publishCommit(hub: Hub, { entry, audience, welcomedIds }: StoredCommit): void {
  const { groupId, heldIds } = audience;
  const userIds = hearersOf(audience);
  if (welcomedIds.length > 0) {
    // The Welcome first: a device that it lets in can't process the commit.
    const recipientIds = groupId === null ? userIds : hearersOf({ heldIds, userIds: welcomedIds });
    hub.publishToUsers(recipientIds, { type: 'welcome', conversationId: entry.conversationId });
  }
  publishEntry(hub, entry, { groupId, userIds });
}

/** Ids of the people who are told. */
export function hearersOf({ heldIds, userIds }: Pick<Audience, 'heldIds' | 'userIds'>): readonly string[] {
  return heldIds.length === 0 ? userIds : userIds.filter((id) => !heldIds.includes(id));
}

/** The position of a commit; null if it doesn't end the current epoch. A direct conversation starts with its first one. */
async function takeCommitSeq(
  tx: Db,
  { conversationId, groupId, userIds }: Audience,
  newCommit: NewCommit,
  now: number,
): Promise<number | null> {
  const groupInfo = Buffer.from(newCommit.groupInfo, 'base64url');
  if (groupId === null && newCommit.epoch === 0) {
    const started = await insertConversation(tx, { id: conversationId, userIds, groupInfo, now });
    return started ? 1 : null;
  }
  return takeSeqAndEndEpoch(tx, conversationId, newCommit.epoch, groupInfo);
}

/**
 * A Welcome for a device that is none of theirs would wait in a stranger's mailbox, or in nobody's.
 * @returns the ids of those whose devices are welcomed
 */
async function requireDevices(db: Db, { userIds }: Audience, newCommit: NewCommit): Promise<string[]> {
  const welcomed = newCommit.welcomes.flatMap(({ deviceIds }) => deviceIds);
  if (welcomed.length === 0) return [];
  const owners = await deviceOwners(db, welcomed);
  const participants = new Set(userIds);
  const areTheirs = welcomed.every((id) => participants.has(owners.get(id) ?? ''));
  if (!areTheirs || owners.size !== welcomed.length) {
    throw new ApiError(
      'invalid-request',
      'welcomes: every device must belong to a participant and be listed once.',
    );
  }
  return [...new Set(owners.values())];
}
