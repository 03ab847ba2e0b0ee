import { useAtomValue, useSetAtom } from 'jotai';
import { useMemo } from 'react';
import { t } from '../i18n/i18n.ts';
import { requiredActionsAtom } from './actions.ts';
import { attemptAtom } from './attempt.ts';
import type { ConversationKey, MessageChange, MessageVersion, MessageView } from './chats.ts';
import { composeAtom } from './composing.ts';
import { ownOrOtherNameAtom, withMentionNames } from './mentions.ts';
import { currentUserAtom } from './session.ts';

/** The ways in which a person takes up a message. None rejects, but `versions`. */
export interface MessageChanges {
  /** The next message answers it. */
  readonly reply: (message: MessageView) => void;
  /** Its text comes into the form, where it can be changed. */
  readonly edit: (message: MessageView) => void;
  /** Gives a reaction, or takes it back where the person has given it. */
  readonly react: (message: MessageView, emoji: string) => void;
  /** Stars it for this person alone, or takes the star back. */
  readonly star: (message: MessageView, isStarred: boolean) => void;
  /** Pins it for everybody, or unpins it. The chat tells. */
  readonly pin: (message: MessageView, isPinned: boolean) => void;
  readonly deleteForEveryone: (message: MessageView) => void;
  readonly deleteHere: (message: MessageView) => void;
  readonly versions: (message: MessageView) => Promise<readonly MessageVersion[]>;
}

/** Returns them for one conversation, the same from one drawing to the next. */
export function useMessageChanges(key: ConversationKey): MessageChanges {
  const actions = useAtomValue(requiredActionsAtom);
  const ownId = useAtomValue(currentUserAtom)?.id;
  const attempt = useSetAtom(attemptAtom);
  const compose = useSetAtom(composeAtom);
  const nameOf = useAtomValue(ownOrOtherNameAtom);
  return useMemo(() => {
    const change = (wanted: MessageChange, failure: string) =>
      void attempt(() => actions.changeMessage(key, wanted), { failure });
    return {
      reply: (replyTo) => compose(key, () => ({ replyTo, edit: null })),
      edit: (message) => {
        const text = message.content.kind === 'text' ? message.content.text : '';
        compose(key, () => ({ edit: { message, text: withMentionNames(text, nameOf) } }));
      },
      react: ({ messageId, reactions = [] }, emoji) => {
        const given = reactions.find((reaction) => reaction.emoji === emoji);
        const isTaken = ownId !== undefined && given?.userIds.includes(ownId) === true;
        change({ kind: 'reaction', of: messageId, emoji, isTaken }, t('chat.changeFailed'));
      },
      star: ({ messageId }, isStarred) =>
        void attempt(() => actions.setStar(key, messageId, isStarred), {
          success: t(isStarred ? 'stars.starred' : 'stars.unstarred'),
          failure: t('stars.failed'),
        }),
      pin: ({ messageId }, isPinned) =>
        void attempt(() => actions.setPinned(key, messageId, isPinned), { failure: t('pinned.failed') }),
      deleteForEveryone: ({ messageId }) =>
        change({ kind: 'deletion', of: messageId }, t('chat.deleteFailed')),
      deleteHere: ({ messageId }) => {
        compose(key, ({ replyTo, edit }) => ({
          replyTo: replyTo?.messageId === messageId ? null : replyTo,
          edit: edit?.message.messageId === messageId ? null : edit,
        }));
        void attempt(() => actions.deleteMessageHere(key, messageId), { failure: t('chat.deleteFailed') });
      },
      versions: ({ messageId }) => actions.messageVersions(key, messageId),
    };
  }, [actions, attempt, compose, key, nameOf, ownId]);
}
