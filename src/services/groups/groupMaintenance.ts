import type { ConversationState } from '../../crypto/client.ts';
import type { Timer } from '../../lib/clock.ts';
import type { GroupSummary } from '../../net/api.ts';
import { isApiError } from '../../net/errors.ts';
import type { CommitSubmitter } from '../conversations/commitSubmitter.ts';
import { groupConversationId } from '../core/conversationIds.ts';
import type { Deps } from '../core/deps.ts';
import type { Background } from '../core/failures.ts';
import { timings } from '../core/timings.ts';
import type { AddingTries } from './addAgain.ts';

export interface GroupMaintenance {
  /** Once at a time for a group and a purpose; not for a group that has gone in the meantime. */
  later(purpose: string, groupId: string, ms: number, task: () => Promise<unknown>): void;
  /**
   * Has what some member has to do for the group done soon: by this one, if nobody is faster.
   * @param withoutKeys members by the relay's list whom the keys don't hold
   */
  tidySoon(groupId: string, state: ConversationState, withoutKeys?: readonly string[]): void;
  stop(): void;
}

export interface GroupMaintenanceOptions {
  readonly deps: Pick<Deps, 'api' | 'clock' | 'crypto' | 'random' | 'store'>;
  readonly ownUserId: string;
  readonly commitSubmitter: Pick<CommitSubmitter, 'settle' | 'submit'>;
  readonly isKnown: (groupId: string) => boolean;
  readonly hasEnded: (groupId: string) => boolean;
  /** Returns the relay's last summary of a group; null before there is one. */
  readonly summaryOf: (groupId: string) => GroupSummary | null;
  /** Reads the relay's list again. */
  readonly refresh: () => Promise<void>;
  readonly background: Background;
}

/**
 * Does for a group what every present member could, and one is enough: removes members who have left, seals the name
 * for those who came from outside. The creator's device also removes whom they have not added, which the others wait for, and adds members again who had to replace their last one. The creator goes first, so that the others find it done, and nobody waits for the
 * next message.
 */
export function createGroupMaintenance(options: GroupMaintenanceOptions): GroupMaintenance {
  const { background, commitSubmitter, isKnown, ownUserId } = options;
  const { api, clock, crypto, random } = options.deps;
  const timers = new Map<string, Timer>();
  const tries: AddingTries = new Map();
  let stopped = false;

  function later(purpose: string, groupId: string, ms: number, task: () => Promise<unknown>): void {
    const name = `${purpose} ${groupId}`;
    if (stopped || timers.has(name)) return;
    const timer = clock.after(ms, () => {
      timers.delete(name);
      if (isKnown(groupId)) background(task);
    });
    timers.set(name, timer);
  }

  async function removeDeparted(groupId: string): Promise<void> {
    if (options.hasEnded(groupId)) return;
    const conversationId = groupConversationId(groupId);
    const { group } = await crypto.conversation(conversationId);
    if (group?.removalDue) await commitSubmitter.settle(conversationId);
  }

  /** Few groups ever need it. */
  async function addAgain(groupId: string, withoutKeys: readonly string[]): Promise<void> {
    const { addMembersAgain } = await import('./addAgain.ts');
    await addMembersAgain(options, tries, groupId, withoutKeys);
  }

  async function sealName(groupId: string): Promise<void> {
    if (options.hasEnded(groupId)) return;
    const sealed = await crypto.sealGroupName(groupConversationId(groupId));
    if (sealed === null || options.summaryOf(groupId)?.name_epoch === sealed.epoch) return;
    try {
      await api.putGroupName(groupId, sealed);
    } catch (error) {
      // A commit has ended the epoch, and brought the name; or the group is gone.
      if (!isApiError(error, 'stale-epoch', 'not-found')) throw error;
    }
    // The name that the relay has now counts: another member may have been faster.
    await options.refresh();
  }

  return {
    later,

    tidySoon(groupId, { group, status }, withoutKeys = []) {
      if (group === null || status !== 'joined') return;
      const spread = group.creatorId === ownUserId ? timings.tidyingByCreator : timings.tidyingByOthers;
      const soon = () => spread * (0.5 + random() / 2);
      if (group.removalDue) later('remove', groupId, soon(), () => removeDeparted(groupId));
      if (group.creatorId === ownUserId && withoutKeys.some((id) => group.withoutDeviceIds.includes(id)))
        later('add', groupId, soon(), () => addAgain(groupId, withoutKeys));
      if (group.nameDue) later('name', groupId, soon(), () => sealName(groupId));
    },

    stop() {
      stopped = true;
      for (const timer of timers.values()) timer.cancel();
      timers.clear();
    },
  };
}
