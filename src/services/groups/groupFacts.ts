import type { ConversationState, CryptoApi } from '../../crypto/client.ts';
import type { FailureCode } from '../../lib/errorCode.ts';
import type { GroupDetails, GroupSummary } from '../../net/api.ts';
import type { Group, GroupMember, MembershipMismatch } from '../../store/groups.ts';
import { groupConversationId } from '../core/conversationIds.ts';

/** The facts of a group beside its keys: what the relay says, and what came of comparing the two. */
export interface KnownGroup {
  readonly id: string;
  /** Null while only this browser's records name the group: offline, say. */
  readonly summary: GroupSummary | null;
  /** The relay has said that it has no such group for this person. */
  readonly ended: boolean;
  /** With `ended`: because this person left it, which the keys have confirmed. */
  readonly left: boolean;
  /** The relay's list of members, id to name; null until it was read. */
  readonly listed: ReadonlyMap<string, string> | null;
  readonly mismatch: MembershipMismatch | null;
  readonly refusal: FailureCode | null;
}

/**
 * Returns the members in the group's keys who have not left: their leaves go with the next commit, before anything is
 * sent.
 */
export function presentMembers(
  state: ConversationState | null,
): readonly ConversationState['members'][number][] {
  if (state === null || state.status === 'outside') return [];
  const departed = new Set(state.group?.leavingIds);
  return state.members.filter(({ userId }) => !departed.has(userId));
}

/** Returns whether this browser has something of a group that it would be a loss to erase unasked. */
export function isWorthKeeping(state: ConversationState | null): boolean {
  if (state === null || state.status === 'starting') return false;
  return state.lastMessage !== null || (state.status !== 'outside' && state.group !== null);
}

const collator = new Intl.Collator();

function compareText(one: string, other: string): number {
  return collator.compare(one, other) || (one < other ? -1 : 1);
}

/** Sorts people whom the relay doesn't name last. */
function byName(one: GroupMember, other: GroupMember): number {
  if (one.username === null || other.username === null) {
    return (
      Number(one.username === null) - Number(other.username === null) || compareText(one.userId, other.userId)
    );
  }
  return compareText(one.username, other.username);
}

function membersOf(
  facts: KnownGroup,
  state: ConversationState | null,
  names: ReadonlyMap<string, string>,
): GroupMember[] {
  return presentMembers(state)
    .map(({ deviceIds, userId }) => ({
      userId,
      // Before the list was read, the names from last time; after it, who is not on it has none.
      username: (facts.listed ?? names).get(userId) ?? null,
      devices: deviceIds.length,
    }))
    .sort(byName);
}

/** A group as it is shown: by its keys where this device has them, by the relay's word where not. */
export function groupOnScreen(
  facts: KnownGroup,
  state: ConversationState | null,
  names: ReadonlyMap<string, string>,
): Group {
  const { ended, id, left, mismatch, refusal, summary } = facts;
  const members = membersOf(facts, state, names);
  return {
    id,
    name: state?.group?.name ?? null,
    creatorId: state?.group?.creatorId ?? summary?.creator_id ?? null,
    members,
    memberCount: members.length || (summary?.member_count ?? 0),
    createdAt: summary?.created_at ?? null,
    mismatch,
    refusal,
    ended,
    left,
  };
}

/** By name; those whose name is not known here last, oldest first. */
export function inOrder(groups: readonly Group[]): Group[] {
  return [...groups].sort((one, other) => {
    if (one.name === null || other.name === null) {
      return (
        Number(one.name === null) - Number(other.name === null) ||
        compareText(one.createdAt ?? '', other.createdAt ?? '')
      );
    }
    return compareText(one.name, other.name);
  });
}

/** Returns the differences between the relay's list and the keys; null where they agree. */
export function mismatchOf(
  details: Pick<GroupDetails, 'members'>,
  state: ConversationState,
): MembershipMismatch | null {
  const listed = new Set(details.members.map(({ user }) => user.id));
  const inKeys = new Set(presentMembers(state).map(({ userId }) => userId));
  const unlisted = [...inKeys].filter((userId) => !listed.has(userId));
  const withoutKeys = [...listed].filter((userId) => !inKeys.has(userId));
  return unlisted.length === 0 && withoutKeys.length === 0 ? null : { unlisted, withoutKeys };
}

/** Returns whether the name isn't known here, or members who came from outside can't open it yet. */
export function isNameWanted({ group, status }: ConversationState): boolean {
  return status === 'joined' && group !== null && (group.name === null || group.nameDue);
}

export function sameIds(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  return one.size === other.size && [...one].every((id) => other.has(id));
}

/**
 * Returns whether one summary of the relay differs from another that isn't younger: every commit brings a name of its
 * epoch.
 */
export function isNewer(one: GroupSummary, other: GroupSummary | null): boolean {
  if (other === null || one.name_epoch !== other.name_epoch)
    return one.name_epoch > (other?.name_epoch ?? -1);
  return one.member_count !== other.member_count;
}

/** Leaves out groups without a first commit: they are there for no browser but the one that is starting them. */
export async function withoutUnbegun(
  crypto: Pick<CryptoApi, 'conversation'>,
  summaries: readonly GroupSummary[],
): Promise<GroupSummary[]> {
  const begun: GroupSummary[] = [];
  for (const summary of summaries) {
    const { id, name_epoch } = summary;
    const hasKeys = async () => (await crypto.conversation(groupConversationId(id))).status !== 'outside';
    if (name_epoch > 0 || (await hasKeys())) begun.push(summary);
  }
  return begun;
}
