/** What a device knows of a group of people beside its tree. */
import {
  CryptoError,
  type Group,
  groupView,
  openGroupName,
  type ProcessedCommit,
} from '@sinetti/crypto-core';
import { CryptoApiError } from '../api/errors.ts';
import { limits } from '../codec/limits.ts';
import { certificateOf } from '../identity/certificates.ts';
import type { GroupRecord } from '../storage/records.ts';
import type { ConversationTransaction } from './conversationTransaction.ts';
import type { MembershipPolicy } from './membershipPolicy.ts';
import { groupNameKey } from './ownCommits.ts';
import { creatorOf } from './rules/groupRules.ts';

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export function newGroupRecord(creatorId: string, name: string | null): GroupRecord {
  return {
    creatorId,
    name,
    namelessDevices: [],
    departures: [],
    uninvitedIds: [],
    vouchedFor: false,
    distrustedKeys: [],
  };
}

/**
 * Keeps who made a group that is about to be joined, and which of its leaves its creator's device has to take
 * out.
 */
export async function rememberGroup(
  transaction: ConversationTransaction,
  group: Group,
  { distrustedKeys, isVouchedFor }: Pick<MembershipPolicy, 'distrustedKeys' | 'isVouchedFor'>,
): Promise<GroupRecord | null> {
  if (!transaction.isGroup) return null;
  const known = (await transaction.group()) ?? newGroupRecord(creatorOf(group.context.extensions), null);
  const record = { ...known, distrustedKeys: [...distrustedKeys], vouchedFor: isVouchedFor() };
  transaction.putGroup(record);
  return record;
}

/**
 * In a group again: whoever vouched for its tree is believed about who is in it. The creator's own devices
 * believe only each other.
 */
export async function acceptTreeMembers(transaction: ConversationTransaction): Promise<void> {
  const known = await transaction.group();
  if (known === null || known.uninvitedIds.length === 0) return;
  if (known.creatorId === transaction.account.userId && !known.vouchedFor) return;
  transaction.putGroup({ ...known, uninvitedIds: [] });
}

/**
 * Follows whether the relay has the name under a key of the epoch: who comes from outside doesn't know it
 * yet.
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

/** Whether a device has come that can't open the name as the relay last had it. */
export function isNameDue({ name, namelessDevices }: Pick<GroupRecord, 'name' | 'namelessDevices'>): boolean {
  return name !== null && namelessDevices.length > 0;
}

/** An own commit is in force: it brought the name, where that is known here. */
export async function clearNamelessDevices(transaction: ConversationTransaction): Promise<void> {
  const known = await transaction.group();
  if (known === null || !isNameDue(known)) return;
  transaction.putGroup({ ...known, namelessDevices: [] });
}

/**
 * @returns the name, trimmed and well-formed
 * @throws CryptoApiError `usage` unless it has 1 to 100 characters
 */
export function checkGroupName(name: string): string {
  // Lone surrogates become U+FFFD: no UTF-8 exists for them.
  const trimmed = decoder.decode(encoder.encode(name)).trim();
  const characters = Array.from(trimmed).length;
  if (characters === 0 || characters > limits.groupName)
    throw new CryptoApiError('usage', 'group name length');
  return trimmed;
}

/** The name as the relay has it, if it was sealed in this epoch; null if it doesn't open, or isn't a name. */
export function tryOpenName(group: Group, sealedName: Uint8Array): string | null {
  try {
    return checkGroupName(openGroupName(groupNameKey(group), group.context.groupId, sealedName));
  } catch (error) {
    if (error instanceof CryptoError || error instanceof CryptoApiError) return null;
    throw error;
  }
}
