import type { ClaimedKeyPackage, CommitSubmission } from '../crypto/client.ts';
import { AppError } from '../lib/appError.ts';
import { errorCode } from '../lib/errorCode.ts';
import { forEachLimited } from '../lib/parallel.ts';
import { isApiError } from '../net/errors.ts';
import { type GroupProgress, groupProgressAtom } from '../store/groups.ts';
import type { Committer } from './committer.ts';
import { groupConversationId } from './conversationIds.ts';
import type { Deps } from './deps.ts';
import { toAppError } from './failures.ts';
import { creationLock, type GroupList } from './groupList.ts';
import type { Reading } from './reading.ts';
import type { Sync } from './sync.ts';
import { texts } from './texts.ts';

/** How often a commit is made again because others were faster. */
const maxAttempts = 8;
const claimsAtOnce = 4;

export interface GroupActions {
  /** Null closes the open one. */
  open(groupId: string | null): Promise<void>;
  /** @returns the id of the new group, which is the open one then */
  create(name: string): Promise<string>;
  /** Adds people with all their devices, in one commit. */
  add(groupId: string, userIds: readonly string[]): Promise<void>;
  leave(groupId: string): Promise<void>;
  delete(groupId: string): Promise<void>;
  loadDetails(groupId: string): Promise<void>;
}

export interface GroupActionsOptions {
  readonly deps: Deps;
  readonly ownUserId: string;
  readonly list: Pick<GroupList, 'forget' | 'load' | 'onOpened' | 'reconcile'>;
  readonly sync: Pick<Sync, 'catchUp'>;
  readonly committer: Committer;
  readonly reading: Pick<Reading, 'openGroup'>;
}

/** What a person does with groups. Every failure is an AppError with the catalogue's sentence (spec section 8). */
export function createGroupActions(options: GroupActionsOptions): GroupActions {
  const { committer, list, ownUserId, reading, sync } = options;
  const { api, crypto, locks, newId, store } = options.deps;

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

  async function claim(userId: string): Promise<ClaimedKeyPackage[]> {
    const claimed = await api.claimKeyPackages(userId);
    return claimed.map(({ deviceId, keyPackage }) => ({ userId, deviceId, keyPackage }));
  }

  /** Makes the group here and at the relay. Where this is interrupted, the next synchronisation goes on. */
  async function start(groupId: string, name: string): Promise<void> {
    const conversationId = groupConversationId(groupId);
    progress('gathering-keys');
    const keyPackages = await claim(ownUserId);
    progress('sealing');
    const submission = await crypto.startConversation({ conversationId, keyPackages, group: { name } });
    if (submission.sealedName === null) throw new AppError('internal', texts.createGroupFailed);
    progress('submitting');
    try {
      await api.createGroup({ groupId, sealedName: submission.sealedName });
      await committer.submit(submission);
    } catch (error) {
      await abandon(groupId);
      throw error;
    }
  }

  /** Who is told that it failed must not find the group later. Without an answer of the relay it stays to be finished. */
  async function abandon(groupId: string): Promise<void> {
    try {
      await toleratingAbsence(() => api.deleteGroup(groupId));
    } catch {
      return;
    }
    await list.forget(groupId);
  }

  /** Null when another own commit, of a message say, has come in between. */
  async function addition(
    conversationId: string,
    keyPackages: readonly ClaimedKeyPackage[],
  ): Promise<CommitSubmission | null> {
    try {
      return await crypto.addMembers({ conversationId, keyPackages });
    } catch (error) {
      const code = errorCode(error);
      if (code === 'pending') return null;
      // Trying again, as the catalogue's sentence asks for, would change nothing.
      if (code === 'identity-changed') throw new AppError(code, texts.identityChanged, { cause: error });
      throw error;
    }
  }

  async function addAll(conversationId: string, keyPackages: readonly ClaimedKeyPackage[]): Promise<void> {
    const wanted = new Set(keyPackages.map(({ userId }) => userId));
    for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
      await committer.settle(conversationId);
      const { members } = await crypto.conversation(conversationId);
      const present = new Set(members.map(({ userId }) => userId));
      if ([...wanted].every((userId) => present.has(userId))) return;
      progress('sealing');
      const submission = await addition(conversationId, keyPackages);
      if (submission === null) continue;
      progress('submitting');
      const outcome = await committer.submit(submission);
      if (outcome.kind === 'refused') throw outcome.reason;
    }
    throw new AppError('stale-epoch', texts.addMemberFailed);
  }

  /** Null where there is no membership to end: the relay's list is all that names this person. */
  async function leaveStatement(conversationId: string): Promise<string | null> {
    const state = await sync.catchUp(conversationId);
    if (state.status !== 'joined') return null;
    for (let attempt = 1; ; attempt += 1) {
      await committer.settle(conversationId);
      try {
        return await crypto.leaveStatement(conversationId);
      } catch (error) {
        // A device that has never committed in the group has a commit to bring in first.
        if (errorCode(error) !== 'pending' || attempt === maxAttempts) throw error;
      }
    }
  }

  async function toleratingAbsence(task: () => Promise<unknown>): Promise<void> {
    try {
      await task();
    } catch (error) {
      // Already gone, by another device or by the creator: what was asked for has happened.
      if (!isApiError(error, 'not-found')) throw error;
    }
  }

  async function open(groupId: string | null): Promise<void> {
    if (groupId !== null) list.onOpened(groupId);
    await reading.openGroup(groupId);
  }

  return {
    open,

    create: (name) =>
      failingWith(texts.createGroupFailed, async () => {
        const trimmed = name.trim();
        if (trimmed === '') throw new AppError('invalid-request', texts.groupNameMissing);
        const groupId = newId();
        return withProgress(async () => {
          await locks.request(creationLock(groupId), () => start(groupId, trimmed));
          progress('opening');
          await list.load();
          await open(groupId);
          return groupId;
        });
      }),

    add: (groupId, userIds) =>
      failingWith(texts.addMemberFailed, () =>
        withProgress(async () => {
          const conversationId = groupConversationId(groupId);
          progress('gathering-keys');
          await list.reconcile(groupId);
          const claimed: ClaimedKeyPackage[] = [];
          await forEachLimited(userIds, claimsAtOnce, async (userId) => {
            const keyPackages = await claim(userId);
            if (keyPackages.length === 0) throw new AppError('no-device', texts.noDevice);
            claimed.push(...keyPackages);
          });
          await addAll(conversationId, claimed);
          progress('opening');
          await list.reconcile(groupId);
        }),
      ),

    leave: (groupId) =>
      failingWith(texts.leaveGroupFailed, async () => {
        const statement = await leaveStatement(groupConversationId(groupId));
        await toleratingAbsence(() => api.leaveGroup(groupId, statement));
        await list.forget(groupId);
      }),

    delete: (groupId) =>
      failingWith(texts.deleteGroupFailed, async () => {
        await toleratingAbsence(() => api.deleteGroup(groupId));
        await list.forget(groupId);
      }),

    async loadDetails(groupId) {
      try {
        await list.reconcile(groupId);
      } catch (error) {
        throw new AppError(errorCode(error), texts.groupDetailsFailed, { cause: error });
      }
    },
  };
}
