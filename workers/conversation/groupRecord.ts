/** The group record: a device's knowledge of a group beside the MLS state. */
import { CryptoError, equalBytes, type Group, groupView, type ProcessedCommit } from '@sinetti/crypto-core';
import { decodeRemovalGrounds, openGroupName, readLeaveStatement } from '@sinetti/crypto-core/account';
import { CryptoApiError } from '../api/errors.ts';
import { limits } from '../codec/limits.ts';
import { certificateOf, readableCertificate } from '../identity/certificates.ts';
import { readRevocation, revocationsOf } from '../identity/revocations.ts';
import { type GroupRecord, isNameDue, type MembersRecord } from '../storage/records.ts';
import type { ConversationTransaction } from './conversationTransaction.ts';
import type { MembershipPolicy } from './membershipPolicy.ts';
import type { MlsGroup } from './mlsGroup.ts';
import { groupNameKey } from './ownCommits.ts';
import { creatorOf } from './rules/groupRules.ts';

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const noGrounds: ReturnType<typeof decodeRemovalGrounds> = { departures: [], revocations: [] };

export function newGroupRecord(creatorId: string, name: string | null): GroupRecord {
  return {
    creatorId,
    name,
    namelessDevices: [],
    departures: [],
    uninvitedIds: [],
    withoutDeviceIds: [],
    unvouched: [],
    vouchedFor: false,
    distrustedKeys: [],
  };
}

/**
 * Records the creator of a group that is being joined, and the leaves that the creator's devices have to
 * remove.
 */
export async function rememberGroup(
  transaction: ConversationTransaction,
  group: Group,
  { distrustedKeys, isVouchedFor }: Pick<MembershipPolicy, 'distrustedKeys' | 'isVouchedFor'>,
): Promise<GroupRecord | null> {
  if (!transaction.isGroup) return null;
  const known = (await transaction.group()) ?? newGroupRecord(creatorOf(group.context.extensions), null);
  const strangers = distrustedPeople(group, distrustedKeys);
  const uninvitedIds = [...new Set([...known.uninvitedIds, ...strangers])].slice(-limits.devicesPerStart);
  const record = {
    ...known,
    uninvitedIds,
    distrustedKeys: [...distrustedKeys],
    vouchedFor: isVouchedFor(),
  };
  transaction.putGroup(record);
  return record;
}

/** Returns who has leaves with invalid certificates only: each could replace its own by a valid one. */
function distrustedPeople(group: Group, distrustedKeys: readonly Uint8Array[]): Set<string> {
  const trusted = new Set<string>();
  const distrusted = new Set<string>();
  for (const { credential, signatureKey } of groupView(group).members) {
    const userId = readableCertificate(credential)?.userId;
    if (userId === undefined) continue;
    const isDistrusted = distrustedKeys.some((key) => equalBytes(key, signatureKey));
    (isDistrusted ? distrusted : trusted).add(userId);
  }
  for (const userId of trusted) distrusted.delete(userId);
  return distrusted;
}

/**
 * Judges the people in the tree of a group that was joined again. All are accepted where the creator's devices vouch for it.
 * Else the creator's own devices go on refusing whom they refused, because the others rely on them to remove unauthorized
 * members; and people whom this device had not known there are unvouched for, since it has not seen who added them.
 * @param before the members as this device had known them; null where it knew none
 */
export async function acceptTreeMembers(
  transaction: ConversationTransaction,
  before: MembersRecord | null,
  state: MlsGroup,
): Promise<void> {
  const known = await transaction.group();
  if (known === null) return;
  const { account, tx } = transaction;
  const strangers = known.vouchedFor || before === null ? [] : strangersTo(before, state, known);
  if (strangers.length + known.uninvitedIds.length + known.unvouched.length === 0) return;
  const isCreator = known.creatorId === account.userId;
  const hasOtherDevice = [...(before ?? []), ...state.members()].some(
    ({ deviceIds, userId }) =>
      userId === account.userId && deviceIds.some((deviceId) => deviceId !== account.device.deviceId),
  );
  // Only the creator's devices add people, and there is no other one that could have done so.
  const areUninvited =
    isCreator && !hasOtherDevice && (await revocationsOf(tx, account, account.userId)).length === 0;
  const uninvitedIds = isCreator && !known.vouchedFor ? known.uninvitedIds : [];
  const unvouched = known.vouchedFor ? [] : known.unvouched.filter(({ userId }) => state.hasPerson(userId));
  transaction.putGroup({
    ...known,
    uninvitedIds: [...uninvitedIds, ...(areUninvited ? strangers : [])].slice(-limits.devicesPerStart),
    unvouched: [
      ...unvouched,
      ...(areUninvited ? [] : strangers.map((userId) => ({ userId, isKept: false }))),
    ].slice(-limits.devicesPerStart),
  });
}

/** Returns whom a tree has, of people that a device had not known there, has not refused, and has not been in doubt of before. */
function strangersTo(
  before: MembersRecord,
  state: MlsGroup,
  { creatorId, uninvitedIds, unvouched, withoutDeviceIds }: GroupRecord,
): string[] {
  const expected = new Set([
    creatorId,
    ...before.map(({ userId }) => userId),
    ...withoutDeviceIds,
    ...uninvitedIds,
    ...unvouched.map(({ userId }) => userId),
  ]);
  return state
    .members()
    .map(({ userId }) => userId)
    .filter((userId) => !expected.has(userId));
}

/**
 * Tracks the devices that can't open the name at the relay: those that joined by external commit, until a
 * device that knows the name commits.
 */
export async function trackNamelessDevices(
  transaction: ConversationTransaction,
  { external, group: next, sender }: Pick<ProcessedCommit, 'external' | 'group' | 'sender'>,
): Promise<void> {
  const known = await transaction.group();
  if (known === null || (!external && known.namelessDevices.length === 0)) return;
  const committer = groupView(next).members.find(({ leafIndex }) => leafIndex === sender);
  if (committer === undefined) return;
  const { deviceId } = certificateOf(committer.credential);
  if (external) {
    const devices = [...known.namelessDevices.filter((id) => id !== deviceId), deviceId];
    transaction.putGroup({ ...known, namelessDevices: devices.slice(-limits.devicesPerStart) });
  } else if (!known.namelessDevices.includes(deviceId)) {
    transaction.putGroup({ ...known, namelessDevices: [] });
  }
}

/** Notes that an own commit has taken effect, which brought the name to the relay where it is known here. */
export async function clearNamelessDevices(transaction: ConversationTransaction): Promise<void> {
  const known = await transaction.group();
  if (known === null || !isNameDue(known)) return;
  transaction.putGroup({ ...known, namelessDevices: [] });
}

/**
 * Returns a group's name, trimmed and well-formed.
 * @throws CryptoApiError `usage` unless it has 1 to 100 characters
 */
export function checkGroupName(name: string): string {
  // Lone surrogates become U+FFFD, since no UTF-8 exists for them.
  const trimmed = decoder.decode(encoder.encode(name)).trim();
  const characters = Array.from(trimmed).length;
  if (characters === 0 || characters > limits.groupName)
    throw new CryptoApiError('usage', 'group name length');
  return trimmed;
}

/**
 * Opens the name that the relay has, if it was sealed in this epoch; null if it doesn't open, or isn't a
 * name.
 */
export function tryOpenName(group: Group, sealedName: Uint8Array): string | null {
  try {
    return checkGroupName(openGroupName(groupNameKey(group), group.context.groupId, sealedName));
  } catch (error) {
    if (error instanceof CryptoError || error instanceof CryptoApiError) return null;
    throw error;
  }
}

/** Forgets that the rules once refused people who are now added as the rules allow. */
export async function clearUnauthorizedAdds(
  transaction: ConversationTransaction,
  userIds: readonly string[],
): Promise<void> {
  const group = await transaction.group();
  if (group === null || !group.uninvitedIds.some((userId) => userIds.includes(userId))) return;
  const uninvitedIds = group.uninvitedIds.filter((userId) => !userIds.includes(userId));
  transaction.putGroup({ ...group, uninvitedIds });
}

/**
 * Takes another device of the creator for the word on people: those whom it has added aren't refused any more, and those whom it
 * leaves in the tree are vouched for. That people add their own devices proves nothing.
 */
export async function trustCreator(
  transaction: ConversationTransaction,
  { adds, external, group: next, sender }: Pick<ProcessedCommit, 'adds' | 'external' | 'group' | 'sender'>,
): Promise<void> {
  const group = await transaction.group();
  if (group === null || group.uninvitedIds.length + group.unvouched.length === 0) return;
  const committer = groupView(next).members.find(({ leafIndex }) => leafIndex === sender);
  if (committer === undefined || certificateOf(committer.credential).userId !== group.creatorId) return;
  await clearUnauthorizedAdds(
    transaction,
    adds.map(({ credential }) => certificateOf(credential).userId),
  );
  if (!external && group.unvouched.length > 0)
    transaction.putGroup({ ...((await transaction.group()) ?? group), unvouched: [] });
}

/** Keeps whom the rules refused, for the creator's devices to take out. */
export async function rememberUnauthorizedAdds(
  transaction: ConversationTransaction,
  userIds: ReadonlySet<string>,
): Promise<void> {
  const group = await transaction.group();
  if (group === null || userIds.size === 0) return;
  const uninvitedIds = [...new Set([...group.uninvitedIds, ...userIds])].slice(-limits.devicesPerStart);
  transaction.putGroup({ ...group, uninvitedIds });
}

/**
 * Keeps who has no device in the group any more since theirs were revoked, as far as a commit has changed that. Whoever left
 * is not among them, nor is anybody whom the creator has not added. Nobody's word is awaited on people who are gone.
 * @param before the members before it, and what was known of the group then
 * @param grounds that the commit gives for its removals; null for an own one, whose grounds are known here
 */
export async function rememberWithoutDevice(
  transaction: ConversationTransaction,
  before: { readonly members: MembersRecord | null; readonly group: GroupRecord | null },
  state: MlsGroup,
  grounds: Uint8Array | null,
): Promise<void> {
  const group = await transaction.group();
  if (group === null) return;
  const keys = await transaction.tx.objectStore('revocations').getAllKeys();
  // The rules have verified both.
  const { departures, revocations } = grounds === null ? noGrounds : decodeRemovalGrounds(grounds);
  const stated = revocations.map(readRevocation);
  const isRevoked = (userId: string, deviceId: string) =>
    keys.some(([ofUser, ofDevice]) => ofUser === userId && ofDevice === deviceId) ||
    stated.some((revocation) => revocation?.userId === userId && revocation.deviceId === deviceId);
  const others = new Set([
    ...(before.group?.departures ?? []).map(({ userId }) => userId),
    ...(before.group?.uninvitedIds ?? []),
    ...departures.map((statement) => readLeaveStatement(statement).userId),
  ]);
  const lost = (before.members ?? [])
    .filter(({ deviceIds, userId }) => !others.has(userId) && deviceIds.every((id) => isRevoked(userId, id)))
    .map(({ userId }) => userId);
  const withoutDeviceIds = [...new Set([...group.withoutDeviceIds, ...lost])]
    .filter((userId) => !state.hasPerson(userId))
    .slice(-limits.devicesPerStart);
  const unvouched = group.unvouched.filter(({ userId }) => state.hasPerson(userId));
  const isSame =
    withoutDeviceIds.join() === group.withoutDeviceIds.join() && unvouched.length === group.unvouched.length;
  if (!isSame) transaction.putGroup({ ...group, withoutDeviceIds, unvouched });
}
