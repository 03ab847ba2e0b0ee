/** Messages that are pinned for everybody in a conversation (PROTOCOL section 4). */
import { MAX_PINNED_MESSAGES } from '@sinetti/crypto-core/content';
import { ConversationId, check, Id, IsPinned } from '../api/arguments.ts';
import type { CryptoApi } from '../api/cryptoApi.ts';
import { CryptoApiError } from '../api/errors.ts';
import type { TransactionDeps } from '../conversation/conversationTransaction.ts';
import { MessageViews } from '../conversation/messageViews.ts';
import { readPinned } from '../conversation/pinned.ts';
import type { Session } from '../session/session.ts';
import { agreeOn } from './agreeing.ts';
import { requireMessage } from './queue.ts';

export function createPinning(deps: TransactionDeps, session: Session) {
  return {
    async setPinned(id, givenId, given) {
      const conversationId = check('setPinned', ConversationId, id);
      const messageId = check('setPinned', Id, givenId);
      const isPinned = check('setPinned', IsPinned, given);
      return agreeOn(session, deps, conversationId, async ({ account, conversation, tx }) => {
        const views = new MessageViews(tx, account, conversationId);
        const { contentId, known } = await requireMessage(views, messageId);
        if ('waiting' in known) throw new CryptoApiError('usage', 'the message waits in the outbox');
        const { pinned } = conversation;
        if (pinned.includes(contentId) === isPinned) return null;
        if (!isPinned) return { pinned: pinned.filter((one) => one !== contentId) };
        const { goneIds } = await readPinned(views, pinned);
        const replaced = pinned.length < MAX_PINNED_MESSAGES ? undefined : (goneIds[0] ?? pinned[0]);
        return { pinned: [...pinned.filter((one) => one !== replaced), contentId] };
      });
    },
  } satisfies Partial<CryptoApi>;
}
