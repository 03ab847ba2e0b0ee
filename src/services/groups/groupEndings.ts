import { groupConversationId } from '../core/conversationIds.ts';
import type { Deps } from '../core/deps.ts';
import { timings } from '../core/timings.ts';
import { isWorthKeeping, type KnownGroup } from './groupFacts.ts';
import type { GroupMaintenance } from './groupMaintenance.ts';

/** Held by a tab that creates a group: until it is done, the relay and this browser know different things of it. */
export function creationLock(groupId: string): string {
  return `sinetti:create:${groupId}`;
}

export interface GroupEndings {
  /** Resolves when this browser, in whichever tab, is not creating the group. */
  created(groupId: string): Promise<void>;
  /** The relay's list, asked for from now on, decides about groups that it didn't name or that the relay denies. */
  doubt(groupIds: readonly string[]): Promise<void>;
  isDoubted(groupId: string): boolean;
  /** The relay's list has it no more, whether that is shown already or is still to be looked at. */
  isEnding(groupId: string): boolean;
  /** The relay has it after all, or nobody wants to know any more. */
  delete(groupId: string): void;
  /** The relay's list has it no more. */
  end(groupId: string): Promise<void>;
}

export interface GroupEndingsOptions {
  readonly deps: Pick<Deps, 'api' | 'crypto' | 'locks'>;
  readonly ownUserId: string;
  readonly maintenance: Pick<GroupMaintenance, 'later'>;
  readonly factsOf: (groupId: string) => KnownGroup | undefined;
  readonly hasForgotten: (groupId: string) => boolean;
  readonly forget: (groupId: string) => Promise<void>;
  readonly onEnded: (groupId: string, left: boolean) => void;
  /** Reads the relay's list again. */
  readonly refresh: () => Promise<void>;
}

/**
 * Ends groups in this browser. The relay's list says so by not having it, where it had it before it was asked: then
 * nothing more is asked of that group.
 */
export function createGroupEndings(options: GroupEndingsOptions): GroupEndings {
  const { maintenance, factsOf, ownUserId } = options;
  const { api, crypto, locks } = options.deps;
  const doubted = new Set<string>();
  const ending = new Set<string>();

  const hasEnded = (groupId: string) => factsOf(groupId)?.ended === true;

  function created(groupId: string): Promise<void> {
    return locks.request(creationLock(groupId), () => Promise.resolve());
  }

  async function forgetUnlessKept(groupId: string): Promise<boolean> {
    if (isWorthKeeping(await crypto.conversation(groupConversationId(groupId)))) return false;
    await options.forget(groupId);
    return true;
  }

  /** Returns whether another device of this person has left the group, by a leave statement that verifies. */
  async function hasLeft(groupId: string): Promise<boolean> {
    // The creator can't leave a group, only delete it.
    if (factsOf(groupId)?.summary?.creator_id === ownUserId) return false;
    const { statement } = await api.getLeaveStatement(groupId);
    return statement !== null && (await crypto.hasLeft(groupConversationId(groupId), statement));
  }

  return {
    created,

    async doubt(groupIds) {
      for (const groupId of groupIds) {
        await created(groupId);
        if (!hasEnded(groupId)) doubted.add(groupId);
      }
      await options.refresh();
    },

    isDoubted: (groupId) => doubted.has(groupId),

    isEnding: (groupId) => ending.has(groupId),

    delete(groupId) {
      doubted.delete(groupId);
      ending.delete(groupId);
    },

    /** A relay's word erases nothing, and who has left on another device may still want to read: what there is stays. */
    async end(groupId) {
      ending.add(groupId);
      const isDone = () => hasEnded(groupId) || options.hasForgotten(groupId);
      if ((await forgetUnlessKept(groupId)) || isDone()) return;
      const left = await hasLeft(groupId);
      if (isDone()) return;
      options.onEnded(groupId, left);
      maintenance.later('ended', groupId, timings.endedCheck, async () => {
        if (hasEnded(groupId)) await forgetUnlessKept(groupId);
      });
    },
  };
}
