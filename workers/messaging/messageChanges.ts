/** Changes of messages by this person: edits, deletions and reactions, and what is deleted on this device alone. */
import { MIMI_SALT_LENGTH } from '@sinetti/crypto-core/content';
import { ChangeInput, ConversationId, check, Id } from '../api/arguments.ts';
import type { CryptoApi, MessageChange } from '../api/cryptoApi.ts';
import { CryptoApiError } from '../api/errors.ts';
import { inTransaction, type TransactionDeps } from '../conversation/conversationTransaction.ts';
import { MessageViews } from '../conversation/messageViews.ts';
import { countUnread } from '../conversation/views.ts';
import type { Session } from '../session/session.ts';
import { read, type WriteTransaction } from '../storage/db.ts';
import { encodeChangePayload } from '../storage/payload.ts';
import { queue, type RequiredMessage, requireMessage, type Wording } from './queue.ts';

export function createMessageChanges(deps: TransactionDeps, session: Session) {
  const salt = () => deps.env.random(MIMI_SALT_LENGTH);
  return {
    async queueChange(input) {
      const { change, ...queued } = check('queueChange', ChangeInput, input);
      const account = session.accountOnDevice();
      return queue(account, deps, queued, async (views, tx) => {
        const message = await requireMessage(views, change.of);
        if (change.kind === 'reaction') return reactionWording(views, tx, change, message);
        const { contentId: of, known, view } = message;
        if (view.senderId !== account.userId) throw new CryptoApiError('not-author');
        // Held where its message isn't, an edit goes by itself.
        const { timer: expires = 0 } = view;
        const payload = encodeChangePayload(
          change.kind === 'edit'
            ? { kind: 'edit', of, text: change.text, expires }
            : { kind: 'deletion', of },
          salt(),
        );
        return { payloads: [payload], shown: known };
      });
    },

    async messageVersions(id, givenId) {
      const conversationId = check('messageVersions', ConversationId, id);
      const messageId = check('messageVersions', Id, givenId);
      const account = session.account();
      return read(account.db, async (tx) => {
        const views = new MessageViews(tx, account, conversationId);
        const known = await views.find(messageId);
        if (known === null || (await views.viewOf(known)) === null)
          throw new CryptoApiError('unknown-message');
        return views.versions(known);
      });
    },

    async deleteMessageHere(id, givenId) {
      const conversationId = check('deleteMessageHere', ConversationId, id);
      const messageId = check('deleteMessageHere', Id, givenId);
      const account = session.accountOnDevice();
      return inTransaction(account, deps, conversationId, 'relaxed', async (transaction) => {
        const { conversation, tx } = transaction;
        const keeper = transaction.keeper();
        const known = await keeper.views.find(messageId);
        if (known === null || (await keeper.views.viewOf(known)) === null)
          throw new CryptoApiError('unknown-message');
        if ('waiting' in known) throw new CryptoApiError('usage', 'the message waits in the outbox');
        await keeper.erase(known.logged, 'here');
        conversation.unread = await countUnread(tx, account, conversationId, conversation.readSeq);
        return transaction.finish();
      });
    },
  } satisfies Partial<CryptoApi>;

  /** Gives a reaction, or takes all of that emoji back: two devices may have given it. */
  async function reactionWording(
    views: MessageViews,
    tx: WriteTransaction,
    { emoji, isTaken }: Extract<MessageChange, { kind: 'reaction' }>,
    { contentId: of, known: shown, view }: RequiredMessage,
  ): Promise<Wording> {
    const payload = encodeChangePayload({ kind: 'reaction', of, emoji }, salt());
    const given = await views.ownReactions(view.senderId, of, emoji);
    if (!isTaken) return { payloads: given.length > 0 ? [] : [payload], shown };
    const payloads: string[] = [];
    for (const one of given) {
      const contentId = views.contentIdOf(one);
      // Nobody has it yet.
      if ('waiting' in one && one.waiting.record.ciphertext === null)
        await tx.objectStore('outbox').delete(one.waiting.messageId);
      else if (contentId !== null)
        payloads.push(encodeChangePayload({ kind: 'deletion', of: contentId }, salt()));
    }
    return { payloads, shown };
  }
}
