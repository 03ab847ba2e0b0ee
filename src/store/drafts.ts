import { atom } from 'jotai';
import { requiredActionsAtom } from './actions.ts';
import { attemptAtom } from './attempt.ts';
import type { ConversationKey } from './chats.ts';
import { sessionAtom } from './sessionAtom.ts';

/** Unsent text by {@link ConversationKey}. The worker keeps it, sealed: services/conversations/drafts.ts. */
export const draftsAtom = sessionAtom<Readonly<Record<ConversationKey, string>>>({});

/** Sends a conversation's draft, trimmed, and empties it; a blank one stays. `failure` as in {@link attemptAtom}. */
export const sendDraftAtom = atom(null, async (get, set, key: ConversationKey, failure: string) => {
  const text = (get(draftsAtom)[key] ?? '').trim();
  if (text === '') return;
  set(draftsAtom, (drafts) => ({ ...drafts, [key]: '' }));
  const queued = await set(attemptAtom, () => get(requiredActionsAtom).sendMessage(key, text), { failure });
  // Nothing was queued: the text goes back, unless the person has started another.
  if (!queued) set(draftsAtom, (drafts) => (drafts[key] ? drafts : { ...drafts, [key]: text }));
});
