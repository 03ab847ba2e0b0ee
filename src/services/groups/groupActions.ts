import type { ClaimedKeyPackage, CommitSubmission } from '../../crypto/client.ts';
import { t } from '../../i18n/i18n.ts';
import { AppError } from '../../lib/appError.ts';
import { errorCode } from '../../lib/errorCode.ts';
import { forEachLimited } from '../../lib/parallel.ts';
import { limits } from '../../net/contract.ts';
import { isApiError } from '../../net/errors.ts';
import { type GroupProgress, groupProgressAtom } from '../../store/groups.ts';
import type { CommitSubmitter } from '../conversations/commitSubmitter.ts';
import type { OpenConversation } from '../conversations/openConversation.ts';
import type { Sync } from '../conversations/sync.ts';
import { groupConversationId } from '../core/conversationIds.ts';
import type { SessionDeps } from '../core/deps.ts';
import { toAppError } from '../core/failures.ts';
import { creationLock } from './groupEndings.ts';
import type { GroupList } from './groupList.ts';

/** The number of times a commit is made, because others may be faster. */
const maxAttempts = 8;
const claimsAtOnce = 2;
/**
 * The most that one commit brings in: as many people as the relay takes at once, as many devices as its sizes allow.
 */
const peoplePerCommit = limits.membersPerAdd;
const devicesPerCommit = 500;

export interface GroupActions {
  /** Null closes the open one. */
  open(groupId: string | null): Promise<void>;
  /** @returns the id of the new group, which is the open one then */
  create(name: string): Promise<string>;
  /**
   * Adds people with all their devices, by as few commits as it takes.
   * @returns who has no device yet, and so could not be added
   */
  add(groupId: string, userIds: readonly string[]): Promise<readonly string[]>;
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
  const { commitSubmitter, list, ownUserId, openConversation, sync } = options;
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

  async function claim(userId: string): Promise<ClaimedKeyPackage[]> {
    const claimed = await api.claimKeyPackages(userId);
    return claimed.map(({ deviceId, keyPackage }) => ({ userId, deviceId, keyPackage }));
  }

  /** The KeyPackages of each person, in the order given; those who have none by their ids. */
  async function gatherKeys(userIds: readonly string[]) {
    const byPerson = new Map<string, ClaimedKeyPackage[]>(userIds.map((userId) => [userId, []]));
    let done = 0;
    await forEachLimited(partsOf(userIds, limits.peoplePerClaim), claimsAtOnce, async (part) => {
      for (const { deviceId, keyPackage, userId } of await api.claimKeyPackagesOfMany(part)) {
        byPerson.get(userId)?.push({ userId, deviceId, keyPackage });
      }
      done += part.length;
      progress({ step: 'gathering-keys', done, total: userIds.length });
    });
    const people = [...byPerson];
    return {
      claimed: people.map(([, keyPackages]) => keyPackages).filter(({ length }) => length > 0),
      withoutDevice: people.filter(([, { length }]) => length === 0).map(([userId]) => userId),
    };
  }

  /** Makes the group here and at the relay. Where this is interrupted, the next synchronisation goes on. */
  async function start(groupId: string, name: string): Promise<void> {
    const conversationId = groupConversationId(groupId);
    progress({ step: 'gathering-keys', done: 0, total: 1 });
    const keyPackages = await claim(ownUserId);
    progress({ step: 'sealing' });
    const submission = await crypto.startConversation({ conversationId, keyPackages, group: { name } });
    if (submission.sealedName === null) throw new AppError('internal', t('errors.createGroupFailed'));
    progress({ step: 'submitting' });
    try {
      await api.createGroup({ groupId, sealedName: submission.sealedName });
      await commitSubmitter.submit(submission);
    } catch (error) {
      await abandon(groupId);
      throw error;
    }
  }

  /**
   * Erases a group whose creation failed, so that the person does not find it later. Without an answer of the relay it
   * stays to be finished.
   */
  async function abandon(groupId: string): Promise<void> {
    try {
      await toleratingAbsence(() => deleteAtRelay(groupId));
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
      if (code === 'identity-changed')
        throw new AppError(code, t('errors.identityChanged'), { cause: error });
      throw error;
    }
  }

  async function addAll(conversationId: string, keyPackages: readonly ClaimedKeyPackage[]): Promise<void> {
    const wanted = new Set(keyPackages.map(({ userId }) => userId));
    for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
      await commitSubmitter.settle(conversationId);
      const { members } = await crypto.conversation(conversationId);
      const present = new Set(members.map(({ userId }) => userId));
      if ([...wanted].every((userId) => present.has(userId))) return;
      progress({ step: 'sealing' });
      const submission = await addition(conversationId, keyPackages);
      if (submission === null) continue;
      progress({ step: 'submitting' });
      const outcome = await commitSubmitter.submit(submission);
      if (outcome.kind === 'refused') throw outcome.reason;
    }
    throw new AppError('stale-epoch', t('errors.addMemberFailed'));
  }

  /** Null where there is no membership to end: the relay's list is all that names this person. */
  async function leaveStatement(conversationId: string): Promise<string | null> {
    const state = await sync.catchUp(conversationId);
    if (state.status !== 'joined') return null;
    for (let attempt = 1; ; attempt += 1) {
      await commitSubmitter.settle(conversationId);
      try {
        return await crypto.leaveStatement(conversationId);
      } catch (error) {
        // A device that has never committed in the group has a commit to bring in first.
        if (errorCode(error) !== 'pending' || attempt === maxAttempts) throw error;
      }
    }
  }

  async function deleteAtRelay(groupId: string): Promise<void> {
    await api.deleteGroup(groupId, await crypto.groupEnding(groupConversationId(groupId), 'delete'));
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
          await locks.request(creationLock(groupId), () => start(groupId, trimmed));
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
          await list.reconcile(groupId);
          const { claimed, withoutDevice } = await gatherKeys(userIds);
          if (claimed.length === 0) throw new AppError('no-device', t('errors.noDevice'));
          for (const part of commitSized(claimed)) await addAll(groupConversationId(groupId), part);
          progress({ step: 'opening' });
          await list.reconcile(groupId, await lastSeqOf(groupId));
          return withoutDevice;
        }),
      ),

    leave: (groupId) =>
      failingWith(t('errors.leaveGroupFailed'), async () => {
        const statement = await leaveStatement(groupConversationId(groupId));
        const signature = await crypto.groupEnding(groupConversationId(groupId), 'leave');
        await giveUp(groupId, () => api.leaveGroup(groupId, signature, statement));
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

function partsOf<T>(items: readonly T[], size: number): T[][] {
  const count = Math.ceil(items.length / size);
  return Array.from({ length: count }, (_, part) => items.slice(part * size, (part + 1) * size));
}

/** @param people the KeyPackages of each */
function commitSized(people: readonly (readonly ClaimedKeyPackage[])[]): ClaimedKeyPackage[][] {
  const parts: { people: number; keyPackages: ClaimedKeyPackage[] }[] = [];
  for (const keyPackages of people) {
    const part = parts.at(-1);
    const isFull =
      part === undefined ||
      part.people === peoplePerCommit ||
      part.keyPackages.length + keyPackages.length > devicesPerCommit;
    if (isFull) parts.push({ people: 1, keyPackages: [...keyPackages] });
    else {
      part.people += 1;
      part.keyPackages.push(...keyPackages);
    }
  }
  return parts.map(({ keyPackages }) => keyPackages);
}
