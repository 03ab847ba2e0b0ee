import { atom } from 'jotai';
import { requiredActionsAtom } from './actions.ts';
import { attemptAtom } from './attempt.ts';
import type { ConversationKey, MessageView } from './chats.ts';
import { withMentionLinksAtom } from './mentions.ts';
import { sessionAtom } from './sessionAtom.ts';

/** Beside the draft of a conversation: the message that it answers, and the one that is edited in its place. */
export interface Composing {
  readonly replyTo: MessageView | null;
  readonly edit: { readonly message: MessageView; readonly text: string } | null;
}

export const notComposing: Composing = { replyTo: null, edit: null };

const allAtom = sessionAtom<Readonly<Record<ConversationKey, Composing>>>({});

/** By {@link ConversationKey}. It stays for the session, so that leaving a chat loses nothing. */
export const composingAtom = atom((get) => get(allAtom));

export const composeAtom = atom(
  null,
  (_get, set, key: ConversationKey, change: (before: Composing) => Partial<Composing>) =>
    set(allAtom, (all) => {
      const before = all[key] ?? notComposing;
      return { ...all, [key]: { ...before, ...change(before) } };
    }),
);

/** Sends the edited text in the place of the message's, unless it is the same. `failure` as in {@link attemptAtom}. */
export const saveEditAtom = atom(null, async (get, set, key: ConversationKey, failure: string) => {
  const edit = get(composingAtom)[key]?.edit ?? null;
  const text = get(withMentionLinksAtom)(key, edit?.text.trim() ?? '');
  if (edit === null || text === '') return;
  set(composeAtom, key, () => ({ edit: null }));
  const { content, messageId } = edit.message;
  if (content.kind === 'text' && content.text.trim() === text) return;
  const queued = await set(
    attemptAtom,
    () => get(requiredActionsAtom).changeMessage(key, { kind: 'edit', of: messageId, text }),
    { failure },
  );
  if (!queued) set(composeAtom, key, (before) => ({ edit: before.edit ?? edit }));
});
