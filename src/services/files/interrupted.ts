import { t } from '../../i18n/i18n.ts';
import { composeAtom } from '../../store/composing.ts';
import { draftsAtom } from '../../store/drafts.ts';
import { showToastAtom } from '../../store/toasts.ts';
import type { Drafts } from '../conversations/drafts.ts';
import { keyOf } from '../core/conversationIds.ts';
import type { SessionDeps } from '../core/deps.ts';
import type { PendingMessage } from './pendingMessages.ts';

interface InterruptedOptions {
  readonly deps: Pick<SessionDeps, 'crypto' | 'store'>;
  readonly drafts: Pick<Drafts, 'keep'>;
  readonly ownUserId: string;
}

/** Messages that are looked through for the one that was answered. */
const newest = 1000;

/**
 * Gives a message back whose page was left before its files were sealed, and with that the files: its caption becomes the draft of
 * the chat, before one that is there, and an answer stays one. The draft is on the disk then. @throws CryptoApiError `storage`
 */
export async function restoreInterrupted(
  { deps: { crypto, store }, drafts, ownUserId }: InterruptedOptions,
  { conversationId, inReplyTo, text, unsealed: count = 1 }: PendingMessage,
): Promise<void> {
  const key = keyOf(conversationId, ownUserId);
  if (key === null) return;
  const answered =
    inReplyTo === undefined
      ? undefined
      : (await crypto.messages(conversationId, { limit: newest })).find(
          ({ messageId }) => messageId === inReplyTo,
        );
  const before = store.get(draftsAtom)[key] ?? '';
  // It was given back before, and the page was left before that was noted.
  const isBack = before === text || before.startsWith(`${text}\n`);
  const draft = isBack ? before : [text, before].filter((part) => part !== '').join('\n');
  if (draft !== before) store.set(draftsAtom, (all) => ({ ...all, [key]: draft }));
  if (answered !== undefined)
    store.set(composeAtom, key, ({ replyTo }) => ({ replyTo: replyTo ?? answered }));
  store.set(showToastAtom, 'info', t('files.chooseAgain', { count }));
  // Before the message is forgotten: the page may be left once more.
  await drafts.keep();
}
