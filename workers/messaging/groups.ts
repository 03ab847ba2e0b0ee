/** Groups: who is added, who leaves, and what the group is called (PROTOCOL section 4). */
import { groupView, leafRef, sealGroupName, signLeaveStatement } from '@sinetti/crypto-core';
import {
  AddMembersInput,
  ConversationId,
  check,
  Departed,
  GroupNameInput,
  Statement,
} from '../api/arguments.ts';
import type { CommitSubmission, CryptoApi } from '../api/cryptoApi.ts';
import { CryptoApiError } from '../api/errors.ts';
import { toBase64Url } from '../codec/base64url.ts';
import { parseConversationId, requireGroup } from '../conversation/conversationId.ts';
import { type ConversationStep, inStep, type StepDeps } from '../conversation/conversationTransaction.ts';
import { isNameDue, tryOpenName } from '../conversation/groupRecord.ts';
import { isOwnDeparture, leavesOf, verifiedDepartures } from '../conversation/leaveStatements.ts';
import { type GroupState, takeCachedGroup } from '../conversation/mlsGroup.ts';
import {
  type Claimed,
  checkClaim,
  commitAsMember,
  dueChanges,
  groupNameKey,
  isDue,
  leavingIds,
  presentClaims,
  waitingCommit,
} from '../conversation/ownCommits.ts';
import { conversationLock } from '../session/locks.ts';
import type { Session } from '../session/session.ts';
import { type WriteTransaction, withinConversation, write } from '../storage/db.ts';

type GroupsApi = Pick<
  CryptoApi,
  | 'addMembers'
  | 'nextCommit'
  | 'discardCommit'
  | 'leaveStatement'
  | 'setDeparted'
  | 'hasLeft'
  | 'setGroupName'
  | 'sealGroupName'
  | 'forgetConversation'
>;

export function createGroups(deps: StepDeps, session: Session): GroupsApi {
  const { env } = deps;
  return {
    async addMembers(input) {
      const { conversationId, keyPackages } = check('addMembers', AddMembersInput, input);
      const person = session.personWithDevice();
      parseConversationId(conversationId, person.userId);
      for (const claimed of keyPackages) checkClaim(claimed);
      return inStep(person, deps, conversationId, 'strict', async (step) => {
        const state = await memberState(step);
        const claims = await presentClaims(step, keyPackages);
        const waiting = await waitingCommit(step);
        if (waiting !== null) {
          if (welcomesExactly(waiting, claims)) return waiting;
          throw new CryptoApiError('pending');
        }
        const leaving = await leavingIds(step);
        const adds = claims.filter(
          ({ userId, deviceId }) => leaving.has(userId) || !state.hasDevice(userId, deviceId),
        );
        if (adds.length === 0) throw new CryptoApiError('usage', 'nobody to add');
        return commitAsMember(step, state, adds, env);
      });
    },

    async nextCommit(id) {
      const conversationId = check('nextCommit', ConversationId, id);
      const person = session.personWithDevice();
      parseConversationId(conversationId, person.userId);
      return inStep(person, deps, conversationId, 'strict', async (step) => {
        const waiting = await waitingCommit(step);
        if (waiting !== null) return waiting;
        const state = step.head.membership === 'member' ? await step.state() : null;
        if (state === null || !isDue(await dueChanges(step, state))) return null;
        return commitAsMember(step, state, [], env);
      });
    },

    async discardCommit(id) {
      const conversationId = check('discardCommit', ConversationId, id);
      const person = session.personWithDevice();
      parseConversationId(conversationId, person.userId);
      return inStep(person, deps, conversationId, 'relaxed', async (step) => {
        step.dropPending();
        return step.finish();
      });
    },

    async leaveStatement(id) {
      const conversationId = check('leaveStatement', ConversationId, id);
      const person = session.personWithDevice();
      requireGroup(conversationId, person.userId);
      const statement = await inStep(person, deps, conversationId, 'strict', async (step) => {
        const state = await memberState(step);
        // A commit gives this leaf another key, and the statement is about the leaf.
        if (step.head.pending !== 'none') return null;
        const { groupId, epoch, ownLeaf } = groupView(state.group);
        const ref = leafRef(state.group, ownLeaf);
        if (ref === null) {
          await commitAsMember(step, state, [], env);
          return null;
        }
        const { deviceId, signatureKey } = person.device;
        const { userId } = person;
        return signLeaveStatement(
          { groupId, epoch, userId, deviceId, leafRef: ref },
          signatureKey.privateKey,
        );
      });
      if (statement === null) throw new CryptoApiError('pending');
      return toBase64Url(statement);
    },

    async setDeparted(id, input) {
      const conversationId = check('setDeparted', ConversationId, id);
      const departed = check('setDeparted', Departed, input);
      const person = session.personWithDevice();
      requireGroup(conversationId, person.userId);
      return inStep(person, deps, conversationId, 'relaxed', async (step) => {
        const state = step.head.membership === 'member' ? await step.state() : null;
        const record = await step.group();
        if (state !== null && record !== null) {
          const known = new Set(record.departures.map(({ userId }) => userId));
          // Nobody commits their own removal: the others do that.
          const news = departed.filter(({ userId }) => !known.has(userId) && userId !== person.userId);
          const departures = [...record.departures, ...verifiedDepartures(news, leavesOf(state.group))];
          if (departures.length > known.size) step.putGroup({ ...record, departures });
        }
        return step.finish();
      });
    },

    async hasLeft(id, input) {
      const conversationId = check('hasLeft', ConversationId, id);
      const statement = check('hasLeft', Statement, input);
      const person = session.personWithDevice();
      requireGroup(conversationId, person.userId);
      return inStep(person, deps, conversationId, 'relaxed', async (step) => {
        const state = step.head.membership === 'member' ? await step.state() : null;
        return state !== null && isOwnDeparture(statement, leavesOf(state.group), person.userId);
      });
    },

    async setGroupName(input) {
      const { conversationId, sealedName, epoch } = check('setGroupName', GroupNameInput, input);
      const person = session.personWithDevice();
      requireGroup(conversationId, person.userId);
      return inStep(person, deps, conversationId, 'relaxed', async (step) => {
        const state = step.head.membership === 'member' ? await step.state() : null;
        const record = await step.group();
        const isNews = record !== null && (record.name === null || isNameDue(record));
        if (state !== null && isNews && epoch === step.head.epoch) {
          const name = tryOpenName(state.group, sealedName);
          // A name that is known stays: nobody has the right to change it.
          if (name !== null && (record.name === null || record.name === name)) {
            step.putGroup({ ...record, name, namelessDevices: [] });
          }
        }
        return step.finish();
      });
    },

    async sealGroupName(id) {
      const conversationId = check('sealGroupName', ConversationId, id);
      const person = session.personWithDevice();
      requireGroup(conversationId, person.userId);
      return inStep(person, deps, conversationId, 'relaxed', async (step) => {
        const state = step.head.membership === 'member' ? await step.state() : null;
        const record = await step.group();
        const name = record !== null && isNameDue(record) ? record.name : null;
        if (state === null || name === null) return null;
        const { group } = state;
        const sealedName = sealGroupName(groupNameKey(group), group.context.groupId, name, env);
        return { epoch: step.head.epoch, sealedName: toBase64Url(sealedName) };
      });
    },

    async forgetConversation(id) {
      const conversationId = check('forgetConversation', ConversationId, id);
      const person = session.person();
      parseConversationId(conversationId, person.userId);
      await deps.locks.request(conversationLock(person.userId, conversationId), async () => {
        takeCachedGroup(person, conversationId);
        await write(person.db, 'relaxed', (tx) => forget(tx, conversationId));
      });
    },
  };
}

/** @throws CryptoApiError `usage` for a device that is outside */
async function memberState(step: ConversationStep): Promise<GroupState> {
  const state = step.head.membership === 'member' ? await step.state() : null;
  if (state === null) throw new CryptoApiError('usage', 'not a member');
  return state;
}

function welcomesExactly({ welcomes }: CommitSubmission, keyPackages: readonly Claimed[]): boolean {
  const waiting = new Set(welcomes.flatMap(({ deviceIds }) => deviceIds));
  return waiting.size === keyPackages.length && keyPackages.every(({ deviceId }) => waiting.has(deviceId));
}

async function forget(tx: WriteTransaction, conversationId: string): Promise<void> {
  const within = withinConversation(conversationId);
  const outbox = tx.objectStore('outbox');
  for (const messageId of await outbox.index('conversation').getAllKeys(within)) {
    await outbox.delete(messageId);
  }
  for (const store of ['heads', 'members', 'epochs', 'groups', 'pending', 'names', 'copies'] as const) {
    await tx.objectStore(store).delete(conversationId);
  }
  await tx.objectStore('ratchets').delete(within);
  await tx.objectStore('messages').delete(within);
  await tx.objectStore('events').delete(within);
}
