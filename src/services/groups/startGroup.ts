import { t } from '../../i18n/i18n.ts';
import { AppError } from '../../lib/appError.ts';
import type { GroupProgress } from '../../store/groups.ts';
import { claimFor } from '../core/claims.ts';
import { groupConversationId } from '../core/conversationIds.ts';
import type { GroupActionsOptions } from './groupActions.ts';

export interface StartOptions
  extends Pick<GroupActionsOptions, 'commitSubmitter' | 'deps' | 'list' | 'ownUserId'> {
  readonly progress: (step: GroupProgress) => void;
  /** Deletes the group at the relay; it may not be there. */
  readonly deletingAtRelay: () => Promise<void>;
}

/** Makes a group here and at the relay. Where this is interrupted, the next synchronisation goes on. */
export async function startGroup(
  { commitSubmitter, deletingAtRelay, deps, list, ownUserId, progress }: StartOptions,
  groupId: string,
  name: string,
): Promise<void> {
  const { api, crypto } = deps;
  progress({ step: 'gathering-keys', done: 0, total: 1 });
  const conversationId = groupConversationId(groupId);
  const keyPackages = await claimFor(deps, conversationId, [ownUserId]);
  progress({ step: 'sealing' });
  const submission = await crypto.startConversation({
    conversationId,
    keyPackages,
    group: { name },
  });
  if (submission.sealedName === null) throw new AppError('internal', t('errors.createGroupFailed'));
  progress({ step: 'submitting' });
  try {
    await api.createGroup({ groupId, sealedName: submission.sealedName });
    await commitSubmitter.submit(submission);
  } catch (error) {
    await abandon();
    throw error;
  }

  /** Erases a group whose creation failed, so that the person does not find it later. Without an answer of the relay it stays to be finished. */
  async function abandon(): Promise<void> {
    try {
      await deletingAtRelay();
    } catch {
      return;
    }
    await list.forget(groupId);
  }
}
