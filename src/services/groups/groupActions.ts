import { t } from '../../i18n/i18n.ts';
import { AppError } from '../../lib/appError.ts';
import { errorCode } from '../../lib/errorCode.ts';
import { isApiError } from '../../net/errors.ts';
import type { AddedMembers } from '../../store/actions.ts';
import { type GroupProgress, groupProgressAtom } from '../../store/groups.ts';
import type { CommitSubmitter } from '../conversations/commitSubmitter.ts';
import type { OpenConversation } from '../conversations/openConversation.ts';
import type { Sync } from '../conversations/sync.ts';
import { groupConversationId } from '../core/conversationIds.ts';
import type { SessionDeps } from '../core/deps.ts';
import { toAppError } from '../core/failures.ts';
import { creationLock } from './groupEndings.ts';
import type { GroupList } from './groupList.ts';

export interface GroupActions {
  /** Null closes the open one. */
  open(groupId: string | null): Promise<void>;
  /** @returns the id of the new group, which is the open one then */
  create(name: string): Promise<string>;
  /** See AppActions.addGroupMembers. */
  add(groupId: string, userIds: readonly string[]): Promise<AddedMembers>;
  leave(groupId: string): Promise<void>;
  delete(groupId: string): Promise<void>;
  /** Takes a group that has ended out of this browser. */
  remove(groupId: string): Promise<void>;
  loadDetails(groupId: string): Promise<void>;
}

export interface GroupActionsOptions {
  readonly deps: SessionDeps;
  readonly ownUserId: string;
  readonly list: Pick<GroupList, 'forget' | 'giveUp' | 'onOpened' | 'reconcile'>;
  readonly sync: Pick<Sync, 'catchUp'>;
  readonly commitSubmitter: CommitSubmitter;
  readonly openConversation: Pick<OpenConversation, 'openGroup'>;
}

/** The actions of a person on groups. Every failure is an AppError with the catalogue's sentence (spec section 8). */
export function createGroupActions(options: GroupActionsOptions): GroupActions {
  const { commitSubmitter, list, openConversation } = options;
  const { api, crypto, locks, newId, sessionEvents, store } = options.deps;

  function progress(step: GroupProgress | null): void {
    store.set(groupProgressAtom, step);
  }

  async function withProgress<T>(task: () => Promise<T>): Promise<T> {
    try {
      return await task();
    } finally {
      progress(null);
    }
  }

  async function failingWith<T>(sentence: string, task: () => Promise<T>): Promise<T> {
    try {
      return await task();
    } catch (error) {
      throw toAppError(error, sentence);
    }
  }

  async function signEnding(groupId: string, ending: 'delete' | 'leave') {
    const { nonce } = await api.createProofNonce();
    return { nonce, signature: await crypto.groupEnding(groupConversationId(groupId), ending, nonce) };
  }

  async function deleteAtRelay(groupId: string): Promise<void> {
    await api.deleteGroup(groupId, await signEnding(groupId, 'delete'));
  }

  async function toleratingAbsence(task: () => Promise<unknown>): Promise<void> {
    try {
      await task();
    } catch (error) {
      // Already gone, by another device or by the creator: what was asked for has happened.
      if (!isApiError(error, 'not-found')) throw error;
    }
  }

  async function giveUp(groupId: string, tell: () => Promise<unknown>): Promise<void> {
    await list.giveUp(groupId, () => toleratingAbsence(tell));
    sessionEvents.emit('groupGivenUp', { groupId });
  }

  async function lastSeqOf(groupId: string): Promise<number> {
    return (await crypto.conversation(groupConversationId(groupId))).lastSeq;
  }

  async function open(groupId: string | null): Promise<void> {
    if (groupId !== null) list.onOpened(groupId);
    await openConversation.openGroup(groupId);
  }

  return {
    open,

    create: (name) =>
      failingWith(t('errors.createGroupFailed'), async () => {
        const trimmed = name.trim();
        if (trimmed === '') throw new AppError('invalid-request', t('errors.groupNameMissing'));
        const groupId = newId();
        return withProgress(async () => {
          const { startGroup } = await import('./startGroup.ts');
          const deletingAtRelay = () => toleratingAbsence(() => deleteAtRelay(groupId));
          await locks.request(creationLock(groupId), () =>
            startGroup({ ...options, progress, deletingAtRelay }, groupId, trimmed),
          );
          progress({ step: 'opening' });
          // It is there, whatever becomes of this: the relay's list names it with the next occasion.
          await list.reconcile(groupId, await lastSeqOf(groupId)).catch(() => undefined);
          await open(groupId);
          return groupId;
        });
      }),

    add: (groupId, userIds) =>
      failingWith(t('errors.addMemberFailed'), () =>
        withProgress(async () => {
          progress({ step: 'gathering-keys', done: 0, total: userIds.length });
          const { addMembers } = await import('./addMembers.ts');
          await list.reconcile(groupId);
          const added = await addMembers({ deps: options.deps, commitSubmitter, progress }, groupId, userIds);
          progress({ step: 'opening' });
          await list.reconcile(groupId, await lastSeqOf(groupId));
          return added;
        }),
      ),

    leave: (groupId) =>
      failingWith(t('errors.leaveGroupFailed'), async () => {
        const { leaveStatement } = await import('./leaveStatement.ts');
        const statement = await leaveStatement(options, groupConversationId(groupId));
        const signed = await signEnding(groupId, 'leave');
        const ending = statement === null ? signed : { ...signed, statement };
        await giveUp(groupId, () => api.leaveGroup(groupId, ending));
      }),

    delete: (groupId) =>
      failingWith(t('errors.deleteGroupFailed'), () => giveUp(groupId, () => deleteAtRelay(groupId))),

    remove: (groupId) => list.forget(groupId),

    async loadDetails(groupId) {
      try {
        await list.reconcile(groupId);
      } catch (error) {
        throw new AppError(errorCode(error), t('errors.groupDetailsFailed'), { cause: error });
      }
    },
  };
}
