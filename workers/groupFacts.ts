/** What a device knows of a group of people beside its tree. */
import { CryptoError, type Group, openGroupName } from '@sinetti/crypto-core';
import { groupNameKey } from './commits.ts';
import { CryptoApiError } from './errors.ts';
import { limits } from './limits.ts';
import { creatorOf } from './rules/groupRules.ts';
import type { ConversationStep } from './steps.ts';
import type { GroupRecord } from './vault/records.ts';

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export function newGroupRecord(creatorId: string, name: string | null): GroupRecord {
  return { creatorId, name, nameMissingIn: null, departures: [], uninvitedIds: [] };
}

/**
 * Keeps what joining a group told: who made it, and that whoever vouched for its tree is to be believed about who is
 * in it.
 */
export async function rememberGroup(step: ConversationStep, group: Group): Promise<GroupRecord | null> {
  if (!step.isGroup) return null;
  const creatorId = creatorOf(group.context.extensions);
  const known = (await step.group()) ?? newGroupRecord(creatorId, null);
  // The creator's own devices still have to remove whom nobody invited; all others are in only if nobody is left.
  const uninvitedIds = creatorId === step.person.userId ? known.uninvitedIds : [];
  const record = { ...known, uninvitedIds, departures: [] };
  step.putGroup(record);
  return record;
}

/** @returns the name, trimmed and well-formed @throws CryptoApiError `usage` unless it has 1 to 100 characters */
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
