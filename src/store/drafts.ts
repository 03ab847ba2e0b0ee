import { atom } from 'jotai';
import { requiredActionsAtom } from './actions.ts';
import { attemptAtom } from './attempt.ts';
import type { ConversationKey } from './chats.ts';
import { composeAtom, composingAtom } from './composing.ts';
import { withMentionLinksAtom } from './mentions.ts';
import { sessionAtom } from './sessionAtom.ts';

/** Unsent text by {@link ConversationKey}. The worker keeps it, sealed: services/conversations/drafts.ts. */
export const draftsAtom = sessionAtom<Readonly<Record<ConversationKey, string>>>({});

/**
 * Sends a conversation's draft, trimmed, as an answer where it is one, and empties it; a blank one stays. `failure` as in
 * {@link attemptAtom}.
 */
export const sendDraftAtom = atom(null, async (get, set, key: ConversationKey, failure: string) => {
  const text = (get(draftsAtom)[key] ?? '').trim();
  if (text === '') return;
  const replyTo = get(composingAtom)[key]?.replyTo ?? null;
  const answered = replyTo === null ? [] : ([replyTo.messageId] as const);
  set(draftsAtom, (drafts) => ({ ...drafts, [key]: '' }));
  if (replyTo !== null) set(composeAtom, key, () => ({ replyTo: null }));
  const queued = await set(
    attemptAtom,
    () => get(requiredActionsAtom).sendMessage(key, get(withMentionLinksAtom)(key, text), ...answered),
    {
      failure,
    },
  );
  // Nothing was queued: the text goes back, unless the person has started another.
  if (queued || get(draftsAtom)[key]) return;
  set(draftsAtom, (drafts) => ({ ...drafts, [key]: text }));
  if (replyTo !== null) set(composeAtom, key, (before) => ({ replyTo: before.replyTo ?? replyTo }));
});
