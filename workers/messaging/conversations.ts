/** Starting and joining conversations, and what is known of them (PROTOCOL section 4). */
import {
  type Credential,
  CryptoError,
  createCommit,
  createGroup,
  decodeKeyPackageBundle,
  equalBytes,
  type Group,
  groupBindingExtension,
  isLastResort,
  joinByWelcome,
  joinExternal,
  toHex,
  welcomeKeyPackageRefs,
} from '@sinetti/crypto-core';
import {
  After,
  Before,
  ConversationId,
  check,
  ExternalInput,
  Limit,
  Reader,
  Seq,
  StartInput,
  WelcomeInput,
} from '../api/arguments.ts';
import type { CryptoApi } from '../api/cryptoApi.ts';
import { CryptoApiError } from '../api/errors.ts';
import { type Conversation, groupIdOf, parseConversationId } from '../conversation/conversationId.ts';
import { type ConversationStep, inStep, type StepDeps } from '../conversation/conversationTransaction.ts';
import { believeTree, checkGroupName, newGroupRecord, rememberGroup } from '../conversation/groupRecord.ts';
import { GroupState } from '../conversation/mlsGroup.ts';
import {
  type Claimed,
  checkClaim,
  presentClaims,
  submissionFor,
  submissionOf,
  waitingCommit,
} from '../conversation/ownCommits.ts';
import {
  allConversations,
  conversationState,
  countUnread,
  newestMessages,
  oldestMessages,
} from '../conversation/views.ts';
import type { Person, Session } from '../session/session.ts';
import { read, withinConversation } from '../storage/db.ts';
import { readHead } from '../storage/records.ts';

type ConversationsApi = Pick<
  CryptoApi,
  | 'conversations'
  | 'conversation'
  | 'startConversation'
  | 'joinByWelcome'
  | 'joinByExternalCommit'
  | 'messages'
  | 'messageCount'
  | 'setReadPosition'
>;

/** The suite of new conversations; others are joined in whichever suite they have. */
const SUITE = 0x004d;

export function createConversations(deps: StepDeps, session: Session): ConversationsApi {
  const { env } = deps;
  return {
    async conversations() {
      const person = session.person();
      return read(person.db, (tx) => allConversations(tx, person));
    },

    async conversation(id) {
      const conversationId = check('conversation', ConversationId, id);
      const person = session.person();
      return read(person.db, async (tx) =>
        conversationState(tx, person, conversationId, await readHead(tx, person.sealer, conversationId)),
      );
    },

    async startConversation(input) {
      const { conversationId, keyPackages, group: made } = check('startConversation', StartInput, input);
      const person = session.personWithDevice();
      const name = startableAs(parseConversationId(conversationId, person.userId), person, keyPackages, made);
      for (const claimed of keyPackages) checkClaim(claimed);
      return inStep(person, deps, conversationId, 'strict', async (step) => {
        if (step.head.membership !== 'none') throw new CryptoApiError('usage', 'already started');
        const claims = await presentClaims(step, keyPackages);
        if (name === null && claims.every(({ userId }) => userId === person.userId)) {
          throw new CryptoApiError('usage', 'the other person has no device to add');
        }
        const waiting = step.head.pending === 'start' ? await waitingCommit(step) : null;
        if (waiting !== null) return waiting;
        if (name !== null) step.putGroup(newGroupRecord(person.userId, name));
        const membership = await step.membership();
        const { memberCheck, policy } = membership;
        const { device } = person;
        const group = createGroup(
          {
            suite: SUITE,
            groupId: groupIdOf(conversationId),
            credential: { type: 'basic', identity: device.certificate },
            signatureKey: device.signatureKey,
            extensions: name === null ? [] : [groupBindingExtension({ creatorId: person.userId })],
          },
          env,
        );
        const adds = claims.map(({ keyPackage }) => keyPackage);
        const created = membership.run(() =>
          createCommit(group, { adds, forcePath: true, memberCheck, policy }, env),
        );
        await membership.savePins(step.tx, person, env.now());
        const submission = submissionFor(created, step, name, claims, env);
        step.setPending('start', 0, created.pending, submission);
        return submissionOf(conversationId, 0, submission);
      });
    },

    async joinByWelcome(input) {
      const { conversationId, epoch, seq, welcome } = check('joinByWelcome', WelcomeInput, input);
      const person = session.personWithDevice();
      parseConversationId(conversationId, person.userId);
      return inStep(person, deps, conversationId, 'strict', async (step) => {
        const { head } = step;
        if (isNews(step, epoch, seq)) {
          const group = await openWelcome(step, welcome);
          checkGroup(group, conversationId, epoch);
          step.enterEpoch(GroupState.fresh(group));
          await (await step.membership()).savePins(step.tx, person, env.now());
          await rememberGroup(step, group, await step.membership());
          await believeTree(step);
          head.returning = step.isGroup && head.lastSeq > 0;
          if (head.returning) head.joinedBefore ??= head.joinedAt;
          head.lastSeq = seq;
          head.joinedSeq = seq;
          head.joinedAt = null;
          head.committedAt = null;
          head.sentSinceCommit = 0;
          // An external commit that is under way can still be accepted: then it counts.
          if (head.pending !== 'external' || head.pendingEpoch < epoch) step.dropPending();
        }
        return step.finish();
      });
    },

    async joinByExternalCommit(input) {
      const { conversationId, epoch, groupInfo } = check('joinByExternalCommit', ExternalInput, input);
      const person = session.personWithDevice();
      parseConversationId(conversationId, person.userId);
      return inStep(person, deps, conversationId, 'strict', async (step) => {
        if (step.head.membership === 'member') throw new CryptoApiError('usage', 'already a member');
        const membership = await step.membership();
        const { rejoinCheck: memberCheck } = membership;
        const { certificate, signatureKey } = person.device;
        const credential: Credential = { type: 'basic', identity: certificate };
        const joinPolicy = membership.joinPolicy('external');
        const joined = membership.run(() =>
          joinExternal(groupInfo, { credential, signatureKey, memberCheck, joinPolicy, resync: true }, env),
        );
        checkGroup(joined.pending, conversationId, epoch + 1);
        await membership.savePins(step.tx, person, env.now());
        const known = await rememberGroup(step, joined.pending, membership);
        const created = { ...joined, welcome: null };
        const submission = submissionFor(created, step, known?.name ?? null, [], env);
        step.setPending('external', epoch, joined.pending, submission);
        return submissionOf(conversationId, epoch, submission);
      });
    },

    async messages(id, page) {
      const conversationId = check('messages', ConversationId, id);
      const limit = check('messages', Limit, page.limit);
      const person = session.person();
      if (page.after !== undefined) {
        const after = check('messages', After, page.after);
        return read(person.db, (tx) => oldestMessages(tx, person, conversationId, after, limit));
      }
      const before = page.before === undefined ? undefined : check('messages', Before, page.before);
      return read(person.db, (tx) => newestMessages(tx, person, conversationId, before, limit));
    },

    async messageCount(id) {
      const conversationId = check('messageCount', ConversationId, id);
      const person = session.person();
      return read(person.db, (tx) => tx.objectStore('messages').count(withinConversation(conversationId)));
    },

    async setReadPosition(id, reader, position) {
      const conversationId = check('setReadPosition', ConversationId, id);
      const whose = check('setReadPosition', Reader, reader);
      const seq = check('setReadPosition', Seq, position);
      const person = session.personWithDevice();
      return inStep(person, deps, conversationId, 'relaxed', async (step) => {
        const { head, tx } = step;
        if (whose === 'peer') head.peerReadSeq = Math.max(head.peerReadSeq, seq);
        else if (seq > head.readSeq) {
          head.readSeq = seq;
          head.unread = await countUnread(tx, person, conversationId, seq);
        }
        return step.finish();
      });
    },
  };

  /** Joins with the key package that the Welcome is for; a single-use one is gone with the step. */
  async function openWelcome(step: ConversationStep, welcome: Uint8Array): Promise<Group> {
    const { person, tx } = step;
    const membership = await step.membership();
    const { memberCheck } = membership;
    const joinPolicy = membership.joinPolicy('welcome');
    const store = tx.objectStore('keyPackages');
    const invited = new Set(welcomeKeyPackageRefs(welcome).map(toHex));
    for (const ref of await store.getAllKeys()) {
      const sealed = invited.has(ref) ? await store.get(ref) : undefined;
      if (sealed === undefined) continue;
      const bundle = decodeKeyPackageBundle(person.sealer.openBytes('keyPackages', ref, sealed));
      const group = membership.run(() =>
        joinByWelcome(welcome, bundle, person.device.signatureKey, { memberCheck, joinPolicy }),
      );
      if (!isLastResort(bundle.keyPackage)) await store.delete(ref);
      return group;
    }
    throw new CryptoApiError('missing-key', 'no key package of this Welcome');
  }
}

/**
 * Whether this person may start that conversation, with those.
 * @returns the name of a group, null for a direct conversation
 * @throws CryptoApiError `usage`
 */
function startableAs(
  conversation: Conversation,
  { userId: own }: Person,
  keyPackages: readonly Claimed[],
  made: { name: string } | null,
): string | null {
  if (conversation.kind === 'group') {
    if (made === null) throw new CryptoApiError('usage', 'a group needs a name');
    return checkGroupName(made.name);
  }
  const { participants } = conversation;
  if (!participants.every((id) => id === own || keyPackages.some(({ userId }) => userId === id))) {
    throw new CryptoApiError('usage', 'the other person has no device to add');
  }
  return null;
}

/**
 * Whether a Welcome lets this device in. Not one that was processed before the mailbox lost it, or that came too late to
 * matter. A commit may remove a device and add it again: then the Welcome is to the entry that was processed last.
 */
function isNews({ head, isGroup }: ConversationStep, toEpoch: number, seq: number): boolean {
  const { epoch, lastSeq, membership } = head;
  if (membership === 'none') return seq >= lastSeq;
  return seq > lastSeq && (membership === 'forked' || (isGroup && toEpoch > epoch));
}

/** @throws CryptoError `wrong-group`, `wrong-epoch` */
function checkGroup({ context }: Group, conversationId: string, epoch: number): void {
  if (!equalBytes(context.groupId, groupIdOf(conversationId))) throw new CryptoError('wrong-group');
  if (context.epoch !== BigInt(epoch)) throw new CryptoError('wrong-epoch');
}
