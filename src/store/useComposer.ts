import { useAtom, useAtomValue, useSetAtom } from 'jotai';
import { useRef } from 'react';
import type { MessageId } from '../i18n/catalogue.ts';
import { t } from '../i18n/i18n.ts';
import { requiredActionsAtom } from './actions.ts';
import type { ConversationKey, MessageView } from './chats.ts';
import { composeAtom, composingAtom, notComposing, saveEditAtom } from './composing.ts';
import { draftsAtom, sendDraftAtom } from './drafts.ts';
import type { MessageChanges } from './useMessageChanges.ts';

/** The message that is answered, or edited, by what stands in the form. */
export interface ComposerContext {
  readonly kind: 'reply' | 'edit';
  readonly message: MessageView;
}

interface ComposerInput {
  readonly ownId: string | undefined;
  /** Said of a failure to send that brings no sentence of its own. */
  readonly failure: MessageId;
  readonly edit: MessageChanges['edit'];
}

/** Returns the form of a conversation as the properties of its component. */
export function useComposer(
  key: ConversationKey,
  messages: readonly MessageView[],
  { ownId, failure, edit }: ComposerInput,
) {
  const actions = useAtomValue(requiredActionsAtom);
  const sendDraft = useSetAtom(sendDraftAtom);
  const saveEdit = useSetAtom(saveEditAtom);
  const compose = useSetAtom(composeAtom);
  const [drafts, setDrafts] = useAtom(draftsAtom);
  const composing = useAtomValue(composingAtom)[key] ?? notComposing;
  const input = useRef<HTMLTextAreaElement>(null);

  /** As it is now; null once it was deleted for everybody. */
  function present(message: MessageView | undefined): MessageView | null {
    if (message === undefined) return null;
    const now = messages.findLast(({ messageId }) => messageId === message.messageId) ?? message;
    return now.content.kind === 'deleted' ? null : now;
  }

  const edited = present(composing.edit?.message);
  const answered = present(composing.replyTo ?? undefined);
  const editText = edited === null ? null : (composing.edit?.text ?? '');
  const context: ComposerContext | null =
    edited !== null ? { kind: 'edit', message: edited } : answered && { kind: 'reply', message: answered };

  function editLast(): void {
    const last = messages.findLast((message) => message.senderId === ownId && isEditable(message));
    if (last !== undefined) edit(last);
  }

  return {
    input,
    ownId,
    context,
    draft: editText ?? drafts[key] ?? '',
    onDraftChange: (text: string) => {
      actions.tellTyping(key, text.trim() !== '');
      if (edited === null) setDrafts((before) => ({ ...before, [key]: text }));
      else compose(key, (before) => ({ edit: before.edit && { ...before.edit, text } }));
    },
    onSend: () => {
      if (edited !== null) {
        void saveEdit(key, t('chat.changeFailed'));
        return;
      }
      // The original was deleted meanwhile: this goes as a message of its own.
      if (answered === null) compose(key, () => ({ replyTo: null }));
      void sendDraft(key, t(failure));
    },
    onCancel: () => compose(key, () => (edited === null ? { replyTo: null } : { edit: null })),
    onEditLast: editLast,
  };
}

/** Returns whether an own message has a text that may be replaced. One that failed is sent again or discarded. */
export function isEditable({ content, isForwarded, status }: MessageView): boolean {
  // The words are somebody's, and would still be said to be passed on.
  return content.kind === 'text' && status !== 'failed' && isForwarded !== true;
}
