/** Signs that somebody is writing, which are sealed under a key of the epoch, take no ratchet step and are kept nowhere (PROTOCOL section 10). */
import { CryptoError } from '@sinetti/crypto-core';
import { openTyping, sealTyping, TYPING_LABEL } from '@sinetti/crypto-core/content';
import { ConversationId, check, GivenTyping, IsWriting } from '../api/arguments.ts';
import type { CryptoApi } from '../api/cryptoApi.ts';
import { fromBase64Url, toBase64Url } from '../codec/base64url.ts';
import { limits } from '../codec/limits.ts';
import { groupIdOf, parseConversationId } from '../conversation/conversationId.ts';
import {
  type ConversationTransaction,
  inTransaction,
  type TransactionDeps,
} from '../conversation/conversationTransaction.ts';
import { withExportedKey } from '../conversation/exportedKey.ts';
import { areClocksClose } from '../conversation/messageView.ts';
import type { MlsGroup } from '../conversation/mlsGroup.ts';
import { readStatement } from '../identity/revocations.ts';
import type { Session } from '../session/session.ts';
import { stateForAll } from './queue.ts';

export function createTyping(deps: TransactionDeps, session: Session) {
  /** The time of the newest sign of each device in each conversation, so that none counts twice. */
  const newest = new Map<string, number>();

  function isNew(key: string, at: number): boolean {
    // A relay can't bring back older ones as new.
    if (!areClocksClose(at, deps.env.now()) || at <= (newest.get(key) ?? 0)) return false;
    newest.delete(key);
    newest.set(key, at);
    const [oldest] = newest.keys();
    if (newest.size > limits.typingDevices && oldest !== undefined) newest.delete(oldest);
    return true;
  }

  return {
    async sealTyping(id, writing) {
      const conversationId = check('sealTyping', ConversationId, id);
      const isWriting = check('sealTyping', IsWriting, writing);
      const account = session.accountOnDevice();
      const { kind } = parseConversationId(conversationId, account.userId);
      if (kind === 'self') return null;
      return inTransaction(account, deps, conversationId, 'relaxed', async (transaction) => {
        // Nobody learns that a message is being written which they don’t get.
        const state = (await lookedAt(transaction)) && (await stateForAll(transaction));
        if (state === null) return null;
        const { epoch } = transaction.conversation;
        const { userId, device } = account;
        const place = { groupId: groupIdOf(conversationId), epoch, userId, deviceId: device.deviceId };
        const typing = { isWriting, at: deps.env.now() };
        const sealed = withExportedKey(state.group, TYPING_LABEL, (key) =>
          sealTyping(key, place, typing, deps.env),
        );
        return { epoch, content: toBase64Url(sealed) };
      });
    },

    async openTyping(id, given) {
      const conversationId = check('openTyping', ConversationId, id);
      const { content, deviceId, epoch, userId } = check('openTyping', GivenTyping, given);
      const account = session.accountOnDevice();
      parseConversationId(conversationId, account.userId);
      const sealed = fromBase64Url(content);
      if (sealed === null || userId === account.userId) return null;
      return inTransaction(account, deps, conversationId, 'relaxed', async (transaction) => {
        const state = await lookedAt(transaction);
        const isPossible = transaction.conversation.epoch === epoch && state?.hasDevice(userId, deviceId);
        if (state === null || isPossible !== true) return null;
        if ((await readStatement(transaction.tx, account, userId, deviceId)) !== null) return null;
        const place = { groupId: groupIdOf(conversationId), epoch, userId, deviceId };
        try {
          const { at, isWriting } = withExportedKey(state.group, TYPING_LABEL, (key) =>
            openTyping(key, place, sealed),
          );
          return isNew(`${conversationId}/${userId}/${deviceId}`, at) ? isWriting : null;
        } catch (error) {
          if (error instanceof CryptoError) return null;
          throw error;
        }
      });
    },
  } satisfies Partial<CryptoApi>;
}

/** The group of a member, for a transaction that writes nothing. */
async function lookedAt(transaction: ConversationTransaction): Promise<MlsGroup | null> {
  const isMember = transaction.conversation.membership === 'member';
  const state = isMember ? await transaction.state() : null;
  // A group that can't be read is left, which is written.
  if (state !== null || !isMember) transaction.leaveUnchanged();
  return state;
}
