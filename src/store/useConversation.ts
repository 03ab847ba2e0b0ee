import { useAtom, useAtomValue, useSetAtom } from 'jotai';
import { useCallback } from 'react';
import type { MessageId } from '../i18n/catalogue.ts';
import { t } from '../i18n/i18n.ts';
import { requiredActionsAtom } from './actions.ts';
import { attemptAtom } from './attempt.ts';
import {
  type Chat,
  type ConversationKey,
  type MessageView,
  type ReadingPlace,
  readingPlacesAtom,
  soughtAtom,
} from './chats.ts';
import { currentUserAtom } from './session.ts';
import { starredIdsAtom, useStars } from './stars.ts';
import { showToastAtom } from './toasts.ts';
import { useComposer } from './useComposer.ts';
import { useMessageChanges } from './useMessageChanges.ts';

const none: readonly MessageView[] = [];

/** Said of a failure that brings no sentence of its own. */
export interface ConversationFailures {
  readonly retry: MessageId;
  readonly discard: MessageId;
  readonly loadOlder: MessageId;
  readonly send: MessageId;
}

/**
 * Returns the parts that a chat with one person and a group have in common: a list of messages and a form to write more,
 * each as the properties of its component. Callbacks that every row is given stay the same from one drawing to the next.
 */
export function useConversation(key: ConversationKey, chat: Chat, failures: ConversationFailures) {
  const actions = useAtomValue(requiredActionsAtom);
  const ownId = useAtomValue(currentUserAtom)?.id;
  const attempt = useSetAtom(attemptAtom);
  const showToast = useSetAtom(showToastAtom);
  const [places, setPlaces] = useAtom(readingPlacesAtom);
  const changes = useMessageChanges(key);
  const [sought, setSought] = useAtom(soughtAtom);
  const starred = useAtomValue(starredIdsAtom);
  useStars();
  const composer = useComposer(key, chat.messages, { ownId, failure: failures.send, edit: changes.edit });

  const onRetry = useCallback(
    (messageId: string) =>
      void attempt(() => actions.retryMessage(key, messageId), { failure: t(failures.retry) }),
    [actions, attempt, failures, key],
  );
  const onDiscard = useCallback(
    (messageId: string) =>
      void attempt(() => actions.discardMessage(messageId), { failure: t(failures.discard) }),
    [actions, attempt, failures],
  );
  const onCopy = useCallback(
    (text: string) =>
      void attempt(() => navigator.clipboard.writeText(text), {
        success: t('chat.copied'),
        failure: t('chat.copyFailed'),
      }),
    [attempt],
  );

  const onOriginalMissing = () => showToast('info', t('chat.originalMissing'));

  const unread = chat.state?.unread ?? 0;
  const list = {
    messages: chat.messages,
    pinned: chat.state?.pinned ?? none,
    isPinnedFull: chat.state?.isPinnedFull === true,
    ownId,
    // A device that has yet to enter the conversation can't know how far its person has read.
    readSeq: chat.state?.status === 'outside' ? undefined : chat.state?.readSeq,
    unread,
    loading: chat.loading,
    hasOlder: chat.hasOlder,
    onLoadOlder: () => attempt(() => actions.loadOlderMessages(key), { failure: t(failures.loadOlder) }),
    onRetry,
    onDiscard,
    onCopy,
    changes,
    composer: composer.input,
    onOriginalMissing,
    starred,
    sought: sought?.key === key ? sought.messageId : null,
    onSought: () => setSought(null),
    // Unread messages stand at the end.
    place: unread > 0 ? null : (places[key] ?? null),
    onLeave: (left: ReadingPlace | null) => setPlaces((before) => ({ ...before, [key]: left })),
  };
  return { list, composer };
}
