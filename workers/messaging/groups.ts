/** Adding members, leaving and naming groups, and forgetting conversations (PROTOCOL section 4). */
import { groupView, leafRef } from '@sinetti/crypto-core';
import {
  LEAF_REF_LABEL,
  sealGroupName,
  signGroupEnding,
  signLeaveStatement,
} from '@sinetti/crypto-core/account';
import {
  AddMembersInput,
  ConversationId,
  check,
  GroupEnding,
  GroupNameInput,
  keyPackageSuites,
  LeaveStatement,
  LeaveStatements,
  RelayNonce,
} from '../api/arguments.ts';
import type { CommitSubmission, CryptoApi } from '../api/cryptoApi.ts';
import { CryptoApiError } from '../api/errors.ts';
import { toBase64Url } from '../codec/base64url.ts';
import { limits } from '../codec/limits.ts';
import { parseConversationId, requireGroup } from '../conversation/conversationId.ts';
import {
  type ConversationTransaction,
  inTransaction,
  type TransactionDeps,
} from '../conversation/conversationTransaction.ts';
import { tryOpenName } from '../conversation/groupRecord.ts';
import { isOwnStatement, treeOf, validStatements } from '../conversation/leaveStatements.ts';
import { type MlsGroup, takeCachedGroup } from '../conversation/mlsGroup.ts';
import {
  type Claimed,
  commitAsMember,
  dueChanges,
  groupNameKey,
  isDue,
  leavingIds,
  pendingSubmission,
  presentClaims,
} from '../conversation/ownCommits.ts';
import { checkClaim } from '../identity/certificates.ts';
import { conversationLock } from '../session/locks.ts';
import type { Session } from '../session/session.ts';
import { type WriteTransaction, withinConversation, write } from '../storage/db.ts';
import { awaitedIds, isNameDue } from '../storage/records.ts';

export function createGroups(deps: TransactionDeps, session: Session) {
  const { env } = deps;
  return {
    async keyPackageSuites(id) {
      const conversationId = check('keyPackageSuites', ConversationId, id);
      const account = session.accountOnDevice();
      parseConversationId(conversationId, account.userId);
      return inTransaction(account, deps, conversationId, 'relaxed', async (transaction) => {
        const state = transaction.conversation.membership === 'member' ? await transaction.state() : null;
        return keyPackageSuites.filter((suite) => state === null || suite === state.group.suite.id);
      });
    },

    async addMembers(input) {
      const { conversationId, keyPackages } = check('addMembers', AddMembersInput, input);
      const account = session.accountOnDevice();
      parseConversationId(conversationId, account.userId);
      for (const claimed of keyPackages) checkClaim(claimed);
      return inTransaction(account, deps, conversationId, 'strict', async (transaction) => {
        const state = await memberState(transaction);
        const claims = await presentClaims(transaction, keyPackages);
        // A commit of the creator's vouches for whom it leaves in the tree.
        if (await isCreatorAsked(transaction))
          throw new CryptoApiError('policy', 'people to be judged first');
        const pending = await pendingSubmission(transaction);
        if (pending !== null) {
          if (welcomesExactly(pending, claims)) return pending;
          throw new CryptoApiError('pending');
        }
        const leaving = await leavingIds(transaction);
        const adds = claims.filter(
          ({ userId, deviceId }) => leaving.has(userId) || !state.hasDevice(userId, deviceId),
        );
        if (adds.length === 0) throw new CryptoApiError('usage', 'nobody to add');
        return commitAsMember(transaction, state, adds, env);
      });
    },

    async nextCommit(id) {
      const conversationId = check('nextCommit', ConversationId, id);
      const account = session.accountOnDevice();
      parseConversationId(conversationId, account.userId);
      return inTransaction(account, deps, conversationId, 'strict', async (transaction) => {
        const { membership, refusal } = transaction.conversation;
        // Another commit has taken the epoch, and waits for the person's word.
        if (membership === 'member' && (refusal !== null || (await isCreatorAsked(transaction)))) return null;
        const pending = await pendingSubmission(transaction);
        if (pending !== null) return pending;
        const state = transaction.conversation.membership === 'member' ? await transaction.state() : null;
        if (state === null || !isDue(await dueChanges(transaction, state))) return null;
        return commitAsMember(transaction, state, [], env);
      });
    },

    async discardCommit(id) {
      const conversationId = check('discardCommit', ConversationId, id);
      const account = session.accountOnDevice();
      parseConversationId(conversationId, account.userId);
      return inTransaction(account, deps, conversationId, 'relaxed', async (transaction) => {
        transaction.dropPending();
        return transaction.finish();
      });
    },

    async leaveStatement(id) {
      const conversationId = check('leaveStatement', ConversationId, id);
      const account = session.accountOnDevice();
      requireGroup(conversationId, account.userId);
      const statement = await inTransaction(account, deps, conversationId, 'strict', async (transaction) => {
        const state = await memberState(transaction);
        // A commit renews this leaf, and the statement is about the present one.
        if (transaction.conversation.pending !== 'none') return null;
        const { groupId, epoch, ownLeaf } = groupView(state.group);
        const ref = leafRef(state.group, ownLeaf, LEAF_REF_LABEL);
        if (ref === null) {
          await commitAsMember(transaction, state, [], env);
          return null;
        }
        const { deviceId, signatureKey } = account.device;
        const { userId } = account;
        return signLeaveStatement(
          { groupId, epoch, userId, deviceId, leafRef: ref },
          signatureKey.privateKey,
        );
      });
      if (statement === null) throw new CryptoApiError('pending');
      return toBase64Url(statement);
    },

    async groupEnding(id, given, givenNonce) {
      const conversationId = check('groupEnding', ConversationId, id);
      const ending = check('groupEnding', GroupEnding, given);
      const nonce = check('groupEnding', RelayNonce, givenNonce);
      const account = session.accountOnDevice();
      requireGroup(conversationId, account.userId);
      return inTransaction(account, deps, conversationId, 'relaxed', async (transaction) => {
        const creatorId = (await transaction.group())?.creatorId;
        const allowed = creatorId === account.userId ? 'delete' : 'leave';
        if (creatorId !== undefined && ending !== allowed) {
          throw new CryptoApiError('policy', `not this person's to ${ending}`);
        }
        const { deviceId, signatureKey } = account.device;
        const { userId } = account;
        return toBase64Url(
          signGroupEnding(signatureKey.privateKey, { ending, conversationId, userId, deviceId, nonce }),
        );
      });
    },

    async setLeaveStatements(id, input) {
      const conversationId = check('setLeaveStatements', ConversationId, id);
      const statements = check('setLeaveStatements', LeaveStatements, input);
      const account = session.accountOnDevice();
      requireGroup(conversationId, account.userId);
      return inTransaction(account, deps, conversationId, 'relaxed', async (transaction) => {
        const state = transaction.conversation.membership === 'member' ? await transaction.state() : null;
        const record = await transaction.group();
        if (state !== null && record !== null) {
          const known = new Set(record.departures.map(({ userId }) => userId));
          // MLS lets nobody commit their own removal, so the others do that.
          const unseen = statements.filter(({ userId }) => !known.has(userId) && userId !== account.userId);
          const departures = [...record.departures, ...validStatements(unseen, treeOf(state.group))];
          if (departures.length > known.size) transaction.putGroup({ ...record, departures });
        }
        return transaction.finish();
      });
    },

    async hasLeft(id, input) {
      const conversationId = check('hasLeft', ConversationId, id);
      const statement = check('hasLeft', LeaveStatement, input);
      const account = session.accountOnDevice();
      requireGroup(conversationId, account.userId);
      return inTransaction(account, deps, conversationId, 'relaxed', async (transaction) => {
        const state = transaction.conversation.membership === 'member' ? await transaction.state() : null;
        return state !== null && isOwnStatement(statement, treeOf(state.group), account.userId);
      });
    },

    async setGroupName(input) {
      const { conversationId, sealedName, epoch } = check('setGroupName', GroupNameInput, input);
      const account = session.accountOnDevice();
      requireGroup(conversationId, account.userId);
      return inTransaction(account, deps, conversationId, 'relaxed', async (transaction) => {
        const state = transaction.conversation.membership === 'member' ? await transaction.state() : null;
        const record = await transaction.group();
        const isNameWanted = record !== null && (record.name === null || isNameDue(record));
        if (state !== null && isNameWanted && epoch === transaction.conversation.epoch) {
          const name = tryOpenName(state.group, sealedName);
          // A known name stays, since nobody has the right to change it.
          if (name !== null && (record.name === null || record.name === name)) {
            transaction.putGroup({ ...record, name, namelessDevices: [] });
          }
        }
        return transaction.finish();
      });
    },

    async removeUnvouched(id) {
      const conversationId = check('removeUnvouched', ConversationId, id);
      const account = session.accountOnDevice();
      requireGroup(conversationId, account.userId);
      return inTransaction(account, deps, conversationId, 'relaxed', async (transaction) => {
        const record = await transaction.group();
        if (record === null || record.creatorId !== account.userId)
          throw new CryptoApiError('policy', 'not the creator');
        const uninvitedIds = [...new Set([...record.uninvitedIds, ...awaitedIds(record)])];
        transaction.putGroup({
          ...record,
          uninvitedIds: uninvitedIds.slice(-limits.devicesPerStart),
          unvouched: [],
        });
        return transaction.finish();
      });
    },

    async sealGroupName(id) {
      const conversationId = check('sealGroupName', ConversationId, id);
      const account = session.accountOnDevice();
      requireGroup(conversationId, account.userId);
      return inTransaction(account, deps, conversationId, 'relaxed', async (transaction) => {
        const state = transaction.conversation.membership === 'member' ? await transaction.state() : null;
        const record = await transaction.group();
        const name = record !== null && isNameDue(record) ? record.name : null;
        if (state === null || name === null) return null;
        const { group } = state;
        const sealedName = sealGroupName(groupNameKey(group), group.context.groupId, name, env);
        return { epoch: transaction.conversation.epoch, sealedName: toBase64Url(sealedName) };
      });
    },

    async forgetConversation(id) {
      const conversationId = check('forgetConversation', ConversationId, id);
      const account = session.account();
      parseConversationId(conversationId, account.userId);
      await deps.locks.request(conversationLock(account.userId, conversationId), async () => {
        takeCachedGroup(account, conversationId)?.state.end();
        await write(account.db, 'relaxed', (tx) => forget(tx, conversationId));
      });
    },
  } satisfies Partial<CryptoApi>;
}

/** Returns whether this person created the group, and is to say of people in it whether they have added them. */
async function isCreatorAsked(transaction: ConversationTransaction): Promise<boolean> {
  const group = await transaction.group();
  return group !== null && group.creatorId === transaction.account.userId && awaitedIds(group).length > 0;
}

/** Loads the group of a member. @throws CryptoApiError `usage` for a device that is outside */
async function memberState(transaction: ConversationTransaction): Promise<MlsGroup> {
  const state = transaction.conversation.membership === 'member' ? await transaction.state() : null;
  if (state === null) throw new CryptoApiError('usage', 'not a member');
  return state;
}

function welcomesExactly({ welcomes }: CommitSubmission, keyPackages: readonly Claimed[]): boolean {
  const pending = new Set(welcomes.flatMap(({ deviceIds }) => deviceIds));
  return pending.size === keyPackages.length && keyPackages.every(({ deviceId }) => pending.has(deviceId));
}

async function forget(tx: WriteTransaction, conversationId: string): Promise<void> {
  const within = withinConversation(conversationId);
  const outbox = tx.objectStore('outbox');
  for (const messageId of await outbox.index('conversation').getAllKeys(within)) {
    await outbox.delete(messageId);
  }
  for (const store of [
    'heads',
    'members',
    'epochs',
    'groups',
    'pending',
    'names',
    'copies',
    'chains',
    'receipts',
  ] as const) {
    await tx.objectStore(store).delete(conversationId);
  }
  await tx.objectStore('ratchets').delete(within);
  await tx.objectStore('messages').delete(within);
  await tx.objectStore('events').delete(within);
  await tx.objectStore('chain').delete(within);
}
