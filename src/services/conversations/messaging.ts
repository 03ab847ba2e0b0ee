import type {
  MessageChange,
  MessageVersion,
  MessageView,
  QueuedMessage,
  Words,
} from '../../crypto/client.ts';
import { t } from '../../i18n/i18n.ts';
import { AppError } from '../../lib/appError.ts';
import { timestamp } from '../../lib/clock.ts';
import { errorCode } from '../../lib/errorCode.ts';
import { ApiError } from '../../net/errors.ts';
import type { ConversationKey } from '../../store/chats.ts';
import { forgetInGalleryAtom } from '../../store/gallery.ts';
import { connectionBannerAtom } from '../../store/session.ts';
import { forgetStarAtom } from '../../store/stars.ts';
import { showToastAtom } from '../../store/toasts.ts';
import { conversationOf, keyOf } from '../core/conversationIds.ts';
import type { Deps, SessionDeps } from '../core/deps.ts';
import { type Background, ended } from '../core/failures.ts';
import { timings } from '../core/timings.ts';
import type { Agreement } from './agreeOn.ts';
import type { Chats } from './chats.ts';
import type { CommitSubmitter } from './commitSubmitter.ts';
import { type Outbox, sendQueued } from './outbox.ts';
import { sendErrorText } from './sendErrors.ts';

export interface Messaging {
  send(key: ConversationKey, text: string, inReplyTo?: string): Promise<void>;
  forward(key: ConversationKey, words: Words): Promise<void>;
  change(key: ConversationKey, change: MessageChange): Promise<void>;
  retry(key: ConversationKey, messageId: string): Promise<void>;
  discard(messageId: string): Promise<void>;
  deleteHere(key: ConversationKey, messageId: string): Promise<void>;
  versions(key: ConversationKey, messageId: string): Promise<readonly MessageVersion[]>;
  /** Takes the person's word on a conversation whose log, or members, are in doubt, and lets go what waited for it. */
  settleDoubt(key: ConversationKey, how: 'sendAnyway' | 'removeUnvouched'): Promise<void>;
  agree(key: ConversationKey, agreement: Agreement): Promise<void>;
}

export interface MessagingOptions {
  readonly deps: SessionDeps;
  readonly ownUserId: string;
  readonly chats: Chats;
  readonly outbox: Outbox;
  readonly commitSubmitter: Pick<CommitSubmitter, 'submit'>;
  readonly hasToken: () => boolean;
  /** An own message with files is about to be deleted for everybody, by the message of this id. */
  readonly onDeletingFiles: (deletionId: string, message: MessageView) => Promise<void>;
  /** Ends the session and goes to the login page after a while, so that the sentence can be read first. */
  readonly leaveForLogin: (afterMs: number) => void;
  readonly background: Background;
}

/** Shows why messages could not be sent, as the catalogue says. */
export function createSendFailureReport(
  options: Pick<MessagingOptions, 'leaveForLogin'> & { readonly deps: Pick<Deps, 'store'> },
) {
  return (error: unknown): void => {
    options.deps.store.set(showToastAtom, 'error', sendErrorText(error));
    if (error instanceof ApiError && error.status === 401) {
      options.leaveForLogin(timings.redirectUnauthenticated);
    }
  };
}

export function createMessaging(options: MessagingOptions): Messaging {
  const { background, chats, outbox, ownUserId } = options;
  const { clock, crypto, newId, sessionEvents, store } = options.deps;

  /** The sentence goes to the caller, whose toast it is. */
  function requireToken(): void {
    if (options.hasToken()) return;
    store.set(connectionBannerAtom, true);
    options.leaveForLogin(timings.redirectNotSignedIn);
    throw new AppError('unauthenticated', t('errors.sendNotSignedIn'));
  }

  interface NewMessage {
    readonly conversationId: string;
    readonly messageId: string;
    readonly sentAt: string;
  }

  /** Has something kept and sent, and shows it, or what it changes. */
  async function queue(
    key: ConversationKey,
    keep: (message: NewMessage) => Promise<QueuedMessage>,
  ): Promise<void> {
    requireToken();
    const conversationId = conversationOf(key, ownUserId);
    if (conversationId === null) throw new AppError('not-found', t('errors.sendNotFound'));
    let queued: QueuedMessage;
    try {
      queued = await keep({ conversationId, messageId: newId(), sentAt: timestamp(clock) });
    } catch (error) {
      // The worker's only reason to refuse the arguments themselves: everything else about them is ours.
      const tooLong = errorCode(error) === 'usage';
      const sentence = tooLong
        ? t('errors.sendFailedBecause', { detail: t('errors.messageTooLong') })
        : sendErrorText(error);
      throw new AppError(errorCode(error), sentence, { cause: error });
    }
    sendQueued(options, queued);
  }

  /** The relay is to delete the files of an own message with it; if that can't be noted, the message goes without them. */
  async function noteFiles(key: ConversationKey, deletionId: string, messageId: string): Promise<void> {
    const message = chats.get(key).messages.find((one) => one.messageId === messageId);
    if (message?.content.kind === 'files' && message.senderId === ownUserId)
      await ended(background, () => options.onDeletingFiles(deletionId, message));
  }

  /** Shows a message without the change of it that was discarded. */
  async function showWithout(conversationId: string, changeId: string): Promise<void> {
    const key = keyOf(conversationId, ownUserId);
    const changed = (key === null ? [] : chats.get(key).messages).find((message) =>
      message.unsentChanges?.some(({ messageId }) => messageId === changeId),
    );
    if (changed === undefined) return;
    const { messageId, seq } = changed;
    const now =
      seq === null
        ? (await crypto.outbox(conversationId)).filter((message) => message.messageId === messageId)
        : await crypto.messages(conversationId, { before: seq + 1, limit: 1 });
    chats.addMessages(conversationId, now);
  }

  return {
    async send(key, text, inReplyTo) {
      const trimmed = text.trim();
      if (trimmed === '') return;
      await queue(key, (message) =>
        crypto.queueMessage({ ...message, text: trimmed, ...(inReplyTo === undefined ? {} : { inReplyTo }) }),
      );
    },

    async forward(key, { isMarkdown = false, text }) {
      const words = { text, isMarkdown, isForwarded: true };
      await queue(key, (message) => crypto.queueMessage({ ...message, ...words }));
    },

    async change(key, change) {
      const trimmed = change.kind === 'edit' ? { ...change, text: change.text.trim() } : change;
      await queue(key, async (message) => {
        if (change.kind === 'deletion') await noteFiles(key, message.messageId, change.of);
        return crypto.queueChange({ ...message, change: trimmed });
      });
    },

    async retry(key, messageId) {
      requireToken();
      const conversationId = conversationOf(key, ownUserId);
      if (conversationId === null) return;
      const message = (await crypto.outbox(conversationId)).find((one) => one.messageId === messageId);
      if (message === undefined) return;
      const { failure: _failure, ...waiting } = message;
      chats.addMessages(conversationId, [{ ...waiting, status: 'sending' }]);
      background(() => outbox.flush(conversationId, messageId));
    },

    async discard(messageId) {
      const state = await crypto.discardMessage(messageId);
      chats.removeMessage(messageId);
      store.set(forgetInGalleryAtom, messageId);
      if (state === null) return;
      chats.setState(state);
      await showWithout(state.conversationId, messageId);
    },

    async deleteHere(key, messageId) {
      const conversationId = conversationOf(key, ownUserId);
      if (conversationId === null) return;
      const state = await crypto.deleteMessageHere(conversationId, messageId);
      chats.removeMessage(messageId);
      store.set(forgetStarAtom, messageId);
      store.set(forgetInGalleryAtom, messageId);
      chats.setState(state);
    },

    async versions(key, messageId) {
      const conversationId = conversationOf(key, ownUserId);
      return conversationId === null ? [] : crypto.messageVersions(conversationId, messageId);
    },

    async settleDoubt(key, how) {
      const conversationId = conversationOf(key, ownUserId);
      if (conversationId === null) return;
      sessionEvents.emit('conversationsChanged', { states: [await crypto[how](conversationId)] });
    },

    async agree(key, agreement) {
      const conversationId = conversationOf(key, ownUserId);
      if (conversationId === null) return;
      const { agreeOn } = await import('./agreeOn.ts');
      await agreeOn(crypto, options.commitSubmitter, conversationId, agreement);
    },
  };
}
