/** Starting, joining and reading conversations (PROTOCOL section 4). */
import {
  type Credential,
  CryptoError,
  createCommit,
  createGroup,
  decodeKeyPackageBundle,
  type Extension,
  endGroup,
  equalBytes,
  type Group,
  isLastResort,
  type JoinPolicy,
  joinByWelcome,
  joinExternal,
  toHex,
  welcomeKeyPackageRefs,
} from '@sinetti/crypto-core';
import { fromOutsideExtension, groupBindingExtension } from '@sinetti/crypto-core/account';
import { findLogPosition, type LogPosition, logPositionExtension } from '@sinetti/crypto-core/content';
import {
  After,
  Before,
  ConversationId,
  check,
  ExternalInput,
  Limit,
  ReadWhere,
  Seq,
  StartInput,
  WelcomeInput,
} from '../api/arguments.ts';
import type { CryptoApi } from '../api/cryptoApi.ts';
import { CryptoApiError } from '../api/errors.ts';
import { toBase64Url } from '../codec/base64url.ts';
import type { SignedPosition } from '../conversation/chainRecord.ts';
import { type Conversation, groupIdOf, parseConversationId } from '../conversation/conversationId.ts';
import {
  type ConversationTransaction,
  inTransaction,
  type TransactionDeps,
} from '../conversation/conversationTransaction.ts';
import {
  acceptTreeMembers,
  checkGroupName,
  newGroupRecord,
  rememberGroup,
} from '../conversation/groupRecord.ts';
import { MlsGroup } from '../conversation/mlsGroup.ts';
import {
  type Claimed,
  logPositionExtensions,
  pendingSubmission,
  presentClaims,
  submissionFor,
  submissionOf,
} from '../conversation/ownCommits.ts';
import { treeParts, treePlaceFor } from '../conversation/treeNodes.ts';
import {
  allConversations,
  countMessages,
  countUnread,
  newestMessages,
  oldestMessages,
  storedState,
} from '../conversation/views.ts';
import { certificateOf, checkClaim } from '../identity/certificates.ts';
import { leafOptions } from '../identity/leafOptions.ts';
import { suiteOfStart } from '../identity/suites.ts';
import type { Session, UnlockedAccount } from '../session/session.ts';
import { read } from '../storage/db.ts';
import { tellReading } from './ownStateMessage.ts';
import { startSaying } from './sharedKeysMessage.ts';

export function createConversations(deps: TransactionDeps, session: Session) {
  const { env } = deps;
  return {
    async conversations() {
      const account = session.account();
      return read(account.db, (tx) => allConversations(tx, account));
    },

    async conversation(id) {
      const conversationId = check('conversation', ConversationId, id);
      const account = session.account();
      return read(account.db, (tx) => storedState(tx, account, conversationId));
    },

    async startConversation(input) {
      const { conversationId, keyPackages, group: newGroup } = check('startConversation', StartInput, input);
      const account = session.accountOnDevice();
      const name = checkStart(
        parseConversationId(conversationId, account.userId),
        account,
        keyPackages,
        newGroup,
      );
      for (const claimed of keyPackages) checkClaim(claimed);
      return inTransaction(account, deps, conversationId, 'strict', async (transaction) => {
        if (transaction.conversation.membership !== 'none')
          throw new CryptoApiError('usage', 'already started');
        const claims = await presentClaims(transaction, keyPackages);
        const wanted = claims.filter(({ userId }) => userId !== account.userId);
        // Notes are written in one browser, too.
        if (name === null && wanted.length === 0 && !transaction.isSelf)
          throw new CryptoApiError('usage', 'no device to add');
        const pending =
          transaction.conversation.pending === 'start' ? await pendingSubmission(transaction) : null;
        if (pending !== null) return pending;
        if (name !== null) transaction.putGroup(newGroupRecord(account.userId, name));
        const membershipPolicy = await transaction.membershipPolicy();
        const { memberCheck, policy } = membershipPolicy;
        const { device } = account;
        const adds = claims.map(({ keyPackage }) => keyPackage);
        const group = createGroup(
          {
            suite: suiteOfStart(adds),
            groupId: groupIdOf(conversationId),
            credential: { type: 'basic', identity: device.certificate },
            signatureKey: device.signatureKey,
            leaf: leafOptions,
            extensions: name === null ? [] : [groupBindingExtension({ creatorId: account.userId })],
          },
          env,
        );
        const infoExtensions = await logPositionExtensions(transaction);
        const treePlace = treePlaceFor(transaction, 1 + adds.length);
        const args = { adds, forcePath: true, memberCheck, policy, infoExtensions, treePlace };
        const created = membershipPolicy.run(() => createCommit(group, args, env));
        endGroup(group);
        await membershipPolicy.savePins(transaction.tx, account, env.now());
        const submission = submissionFor(created, transaction, name, claims, env, { treePlace });
        transaction.setPending('start', 0, created.pending, submission);
        return submissionOf(transaction, 0, submission);
      });
    },

    async joinByWelcome(input) {
      const { conversationId, epoch, seq, tree, welcome } = check('joinByWelcome', WelcomeInput, input);
      const account = session.accountOnDevice();
      parseConversationId(conversationId, account.userId);
      return inTransaction(account, deps, conversationId, 'strict', async (transaction) => {
        const { conversation } = transaction;
        if (letsDeviceIn(transaction, epoch, seq)) {
          const { group, logPosition } = await openWelcome(transaction, welcome, tree);
          checkGroup(group, conversationId, epoch);
          await startSaying(transaction);
          const state = MlsGroup.fresh(group);
          transaction.enterEpoch(state);
          await transaction.chain.linking.join(logPosition, seq);
          await (await transaction.membershipPolicy()).savePins(transaction.tx, account, env.now());
          await rememberGroup(transaction, group, await transaction.membershipPolicy());
          await acceptTreeMembers(transaction, null, state);
          conversation.returning = transaction.isGroup && conversation.lastSeq > 0;
          if (conversation.returning) conversation.joinedBefore ??= conversation.joinedAt;
          conversation.lastSeq = seq;
          conversation.joinedSeq = seq;
          conversation.joinedAt = null;
          conversation.committedAt = null;
          conversation.sentSinceCommit = 0;
          // A pending external commit of this epoch or a later one can still be accepted, so it stays.
          if (conversation.pending !== 'external' || conversation.pendingEpoch < epoch)
            transaction.dropPending();
        }
        return transaction.finish();
      });
    },

    async joinByExternalCommit(input) {
      const { conversationId, epoch, groupInfo, tree } = check('joinByExternalCommit', ExternalInput, input);
      const treePlace = tree === null ? 'inside' : 'beside';
      const account = session.accountOnDevice();
      parseConversationId(conversationId, account.userId);
      return inTransaction(account, deps, conversationId, 'strict', async (transaction) => {
        if (transaction.conversation.membership === 'member')
          throw new CryptoApiError('usage', 'already a member');
        const membershipPolicy = await transaction.membershipPolicy();
        const { rejoinCheck: memberCheck } = membershipPolicy;
        const { certificate, signatureKey } = account.device;
        const credential: Credential = { type: 'basic', identity: certificate };
        const { joinPolicy, logPosition } = readingLogPosition(membershipPolicy.joinPolicy('external'));
        const ownPosition =
          transaction.conversation.membership === 'forked' && (await transaction.chain.position());
        // A device that comes new has read no more than who let it in.
        const infoExtensions = () => {
          const position = ownPosition || logPosition();
          return [
            ...(position === null ? [] : [logPositionExtension(position)]),
            ...(transaction.isGroup ? [fromOutsideExtension()] : []),
          ];
        };
        const joined = membershipPolicy.run(() =>
          joinExternal(
            groupInfo,
            {
              credential,
              signatureKey,
              leaf: leafOptions,
              memberCheck,
              joinPolicy,
              resync: true,
              infoExtensions,
              treePlace,
              ...(tree === null ? {} : { ratchetTree: tree }),
            },
            env,
          ),
        );
        checkGroup(joined.pending, conversationId, epoch + 1);
        await membershipPolicy.savePins(transaction.tx, account, env.now());
        const known = await rememberGroup(transaction, joined.pending, membershipPolicy);
        const created = { ...joined, welcome: null };
        const submission = {
          ...submissionFor(created, transaction, known?.name ?? null, [], env, {
            treePlace,
            known: joined.joined,
          }),
          logPosition: logPosition(),
          logSigner: logPosition()?.signer ?? null,
        };
        transaction.setPending('external', epoch, joined.pending, submission);
        return submissionOf(transaction, epoch, submission);
      });
    },

    async pendingTree(id) {
      const conversationId = check('pendingTree', ConversationId, id);
      const account = session.accountOnDevice();
      return inTransaction(account, deps, conversationId, 'relaxed', async (transaction) => {
        const pending = await transaction.pending();
        if (pending === null || pending.tree === null) return [];
        const state = MlsGroup.restore(pending.group, new Map());
        const parts = treeParts(state.group).map(toBase64Url);
        state.end();
        return parts;
      });
    },

    async messages(id, page) {
      const conversationId = check('messages', ConversationId, id);
      const limit = check('messages', Limit, page.limit);
      const account = session.account();
      if (page.after !== undefined) {
        const after = check('messages', After, page.after);
        return read(account.db, (tx) => oldestMessages(tx, account, conversationId, after, limit));
      }
      const before = page.before === undefined ? undefined : check('messages', Before, page.before);
      return read(account.db, (tx) => newestMessages(tx, account, conversationId, before, limit));
    },

    async messageCount(id) {
      const conversationId = check('messageCount', ConversationId, id);
      const account = session.account();
      return read(account.db, (tx) => countMessages(tx, account, conversationId));
    },

    async setReadPosition(id, place, position) {
      const conversationId = check('setReadPosition', ConversationId, id);
      const where = check('setReadPosition', ReadWhere, place);
      const seq = check('setReadPosition', Seq, position);
      const account = session.accountOnDevice();
      return inTransaction(account, deps, conversationId, 'relaxed', async (transaction) => {
        const { conversation, tx } = transaction;
        if (where === 'here') {
          conversation.readHere = Math.max(conversation.readHere, seq);
          const at = account.now();
          if (await transaction.keeper().startClocks(seq, at, 'here'))
            await tellReading(tx, account, { conversationId, seq, at });
        }
        if (seq > conversation.readSeq) {
          conversation.readSeq = seq;
          conversation.unread = await countUnread(tx, account, conversationId, seq);
        }
        return transaction.finish();
      });
    },
  } satisfies Partial<CryptoApi>;

  /**
   * Joins with the KeyPackage that the Welcome is for; a single-use one is deleted in the same transaction.
   */
  async function openWelcome(
    transaction: ConversationTransaction,
    welcome: Uint8Array,
    tree: Uint8Array | null,
  ): Promise<{ group: Group; logPosition: SignedPosition | null }> {
    const { account, tx } = transaction;
    const membershipPolicy = await transaction.membershipPolicy();
    const { joinCheck: memberCheck } = membershipPolicy;
    const reader = readingLogPosition(membershipPolicy.joinPolicy('welcome'));
    const store = tx.objectStore('keyPackages');
    const invited = new Set(welcomeKeyPackageRefs(welcome).map(toHex));
    for (const ref of await store.getAllKeys()) {
      const sealed = invited.has(ref) ? await store.get(ref) : undefined;
      if (sealed === undefined) continue;
      const bundle = decodeKeyPackageBundle(account.sealer.openBytes('keyPackages', ref, sealed));
      const group = membershipPolicy.run(() =>
        joinByWelcome(welcome, bundle, account.device.signatureKey, {
          memberCheck,
          joinPolicy: reader.joinPolicy,
          ...(tree === null ? {} : { ratchetTree: tree }),
        }),
      );
      if (!isLastResort(bundle.keyPackage)) await store.delete(ref);
      return { group, logPosition: reader.logPosition() };
    }
    throw new CryptoApiError('missing-key', 'no key package of this Welcome');
  }
}

/** Wraps the rules for joining so that they also read how far the signer of the GroupInfo had read the log. */
function readingLogPosition(rules: JoinPolicy) {
  let position: SignedPosition | null = null;
  const joinPolicy: JoinPolicy = (join) => {
    rules(join);
    const said = logPositionIn(join.infoExtensions);
    const { deviceId, userId } = certificateOf(join.signer.credential);
    position = said === null ? null : { ...said, signer: { userId, deviceId } };
  };
  return { joinPolicy, logPosition: () => position };
}

/** A position in a form of later, or none, makes the group no worse: the first header is compared with then. */
function logPositionIn(extensions: readonly Extension[]): LogPosition | null {
  try {
    return findLogPosition(extensions);
  } catch (error) {
    if (error instanceof CryptoError) return null;
    throw error;
  }
}

/**
 * Checks that this person can start the conversation with the given KeyPackages.
 * @returns the name of a group, null for any other conversation
 * @throws CryptoApiError `usage`
 */
function checkStart(
  conversation: Conversation,
  { userId: own }: UnlockedAccount,
  keyPackages: readonly Claimed[],
  newGroup: { name: string } | null,
): string | null {
  if (conversation.kind === 'group') {
    if (newGroup === null) throw new CryptoApiError('usage', 'a group needs a name');
    return checkGroupName(newGroup.name);
  }
  if (conversation.kind === 'self') {
    if (!keyPackages.every(({ userId }) => userId === own)) {
      throw new CryptoApiError('usage', "another person's device");
    }
    return null;
  }
  const { participants } = conversation;
  if (!participants.every((id) => id === own || keyPackages.some(({ userId }) => userId === id))) {
    throw new CryptoApiError('usage', 'the other person has no device to add');
  }
  return null;
}

/**
 * Returns whether a Welcome lets this device in. It doesn't if it was processed before, or came too late to
 * matter. A commit may remove a device and add it again: then the Welcome is to the entry that was processed
 * last.
 */
function letsDeviceIn(
  { conversation, isGroup }: ConversationTransaction,
  toEpoch: number,
  seq: number,
): boolean {
  const { epoch, lastSeq, membership } = conversation;
  if (membership === 'none') return seq >= lastSeq;
  return seq > lastSeq && (membership === 'forked' || (isGroup && toEpoch > epoch));
}

/** Checks that a joined group is the expected one. @throws CryptoError `wrong-group`, `wrong-epoch` */
function checkGroup({ context }: Group, conversationId: string, epoch: number): void {
  if (!equalBytes(context.groupId, groupIdOf(conversationId))) throw new CryptoError('wrong-group');
  if (context.epoch !== BigInt(epoch)) throw new CryptoError('wrong-epoch');
}
