/** Starting and joining conversations, and what is known of them (PROTOCOL section 4). */
import {
  createCommit,
  createGroup,
  type Credential,
  CryptoError,
  decodeKeyPackage,
  decodeKeyPackageBundle,
  equalBytes,
  type Group,
  isLastResort,
  joinByWelcome,
  joinExternal,
} from '@sinetti/crypto-core';
import type { CommitSubmission, CryptoApi } from './api.ts';
import {
  Before,
  check,
  ConversationId,
  ExternalInput,
  Limit,
  Reader,
  Seq,
  StartInput,
  WelcomeInput,
} from './arguments.ts';
import { toBase64Url } from './base64url.ts';
import { CryptoApiError } from './errors.ts';
import { certificateOf, GroupState } from './groupState.ts';
import { allConversations, conversationState, countUnread, messagePage } from './history.ts';
import { groupIdOf, participantsOf } from './membership.ts';
import type { Session } from './session.ts';
import { type ConversationStep, inStep, type StepDeps } from './steps.ts';
import { read } from './vault/db.ts';
import { type PendingRecord, readHead } from './vault/records.ts';

type ConversationsApi = Pick<
  CryptoApi,
  | 'conversations'
  | 'conversation'
  | 'startConversation'
  | 'joinByWelcome'
  | 'joinByExternalCommit'
  | 'messages'
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
      const { conversationId, keyPackages } = check('startConversation', StartInput, input);
      const person = session.personWithDevice();
      const participants = participantsOf(conversationId, person.userId);
      if (
        !participants.every((id) => id === person.userId || keyPackages.some(({ userId }) => userId === id))
      ) {
        throw new CryptoApiError('usage', 'the other person has no device to add');
      }
      for (const claimed of keyPackages) checkClaim(claimed);
      return inStep(person, deps, conversationId, 'strict', async (step) => {
        if (step.head.membership !== 'none') throw new CryptoApiError('usage', 'already started');
        const waiting = step.head.pending === 'start' ? await step.pending() : null;
        if (waiting !== null) return submissionOf(conversationId, 0, waiting);
        const membership = await step.membership();
        const { memberCheck, policy } = membership;
        const { device } = person;
        const group = createGroup(
          {
            suite: SUITE,
            groupId: groupIdOf(conversationId),
            credential: { type: 'basic', identity: device.certificate },
            signatureKey: device.signatureKey,
          },
          env,
        );
        const adds = keyPackages.map(({ keyPackage }) => keyPackage);
        const created = membership.run(() =>
          createCommit(group, { adds, forcePath: true, memberCheck, policy }, env),
        );
        await membership.savePins(step.tx, person, env.now());
        const { pending, ...rest } = created;
        const submission = { ...rest, welcomeDeviceIds: keyPackages.map(({ deviceId }) => deviceId) };
        step.setPending('start', 0, pending, submission);
        return submissionOf(conversationId, 0, submission);
      });
    },

    async joinByWelcome(input) {
      const { conversationId, epoch, seq, welcome } = check('joinByWelcome', WelcomeInput, input);
      const person = session.personWithDevice();
      participantsOf(conversationId, person.userId);
      return inStep(person, deps, conversationId, 'strict', async (step) => {
        const { head } = step;
        // A Welcome that was processed before the mailbox lost it, or one that came too late to matter.
        if (head.membership !== 'member' && seq > head.lastSeq) {
          const group = await openWelcome(step, welcome);
          checkGroup(group, conversationId, epoch);
          step.enterEpoch(GroupState.fresh(group));
          await (await step.membership()).savePins(step.tx, person, env.now());
          head.lastSeq = seq;
          head.joinedSeq = seq;
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
      participantsOf(conversationId, person.userId);
      return inStep(person, deps, conversationId, 'strict', async (step) => {
        if (step.head.membership === 'member') throw new CryptoApiError('usage', 'already a member');
        const membership = await step.membership();
        const { memberCheck } = membership;
        const { certificate, signatureKey } = person.device;
        const credential: Credential = { type: 'basic', identity: certificate };
        const {
          pending,
          commit,
          groupInfo: nextGroupInfo,
        } = membership.run(() =>
          joinExternal(groupInfo, { credential, signatureKey, memberCheck, resync: true }, env),
        );
        checkGroup(pending, conversationId, epoch + 1);
        await membership.savePins(step.tx, person, env.now());
        const submission = { commit, welcome: null, welcomeDeviceIds: [], groupInfo: nextGroupInfo };
        step.setPending('external', epoch, pending, submission);
        return submissionOf(conversationId, epoch, submission);
      });
    },

    async messages(id, page) {
      const conversationId = check('messages', ConversationId, id);
      const limit = check('messages', Limit, page.limit);
      const before = page.before === undefined ? undefined : check('messages', Before, page.before);
      const person = session.person();
      return read(person.db, (tx) => messagePage(tx, person, conversationId, before, limit));
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
    const store = tx.objectStore('keyPackages');
    for (const ref of await store.getAllKeys()) {
      const sealed = await store.get(ref);
      if (sealed === undefined) continue;
      const bundle = decodeKeyPackageBundle(person.sealer.openBytes('keyPackages', ref, sealed));
      try {
        const group = membership.run(() =>
          joinByWelcome(welcome, bundle, person.device.signatureKey, { memberCheck }),
        );
        if (!isLastResort(bundle.keyPackage)) await store.delete(ref);
        return group;
      } catch (error) {
        if (!(error instanceof CryptoError && error.code === 'missing-key')) throw error;
      }
    }
    throw new CryptoApiError('missing-key', 'no key package of this Welcome');
  }
}

/** What the relay is given for a commit that is kept as pending. */
export function submissionOf(
  conversationId: string,
  epoch: number,
  pending: Pick<PendingRecord, 'commit' | 'welcome' | 'welcomeDeviceIds' | 'groupInfo'>,
): CommitSubmission {
  const { commit, welcome, welcomeDeviceIds, groupInfo } = pending;
  return {
    conversationId,
    epoch,
    commit: toBase64Url(commit),
    welcomes: welcome === null ? [] : [{ deviceIds: welcomeDeviceIds, welcome: toBase64Url(welcome) }],
    groupInfo: toBase64Url(groupInfo),
    sealedName: null,
    addedIds: [],
    removedIds: [],
  };
}

/**
 * The relay hands out key packages by user and device: they have to be those devices'.
 * @throws CryptoError `invalid-key-package`
 */
function checkClaim(claimed: { userId: string; deviceId: string; keyPackage: Uint8Array }): void {
  const { credential } = decodeKeyPackage(claimed.keyPackage).leafNode;
  const { userId, deviceId } = certificateOf(credential);
  if (userId !== claimed.userId || deviceId !== claimed.deviceId) {
    throw new CryptoError('invalid-key-package', 'of another device than the relay says');
  }
}

/** @throws CryptoError `wrong-group`, `wrong-epoch` */
function checkGroup({ context }: Group, conversationId: string, epoch: number): void {
  if (!equalBytes(context.groupId, groupIdOf(conversationId))) throw new CryptoError('wrong-group');
  if (context.epoch !== BigInt(epoch)) throw new CryptoError('wrong-epoch');
}
