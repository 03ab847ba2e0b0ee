import { atom, useAtomValue } from 'jotai';
import { useEffect } from 'react';
import { requiredActionsAtom } from './actions.ts';
import type { ConversationKey, MessageView } from './chats.ts';
import { sessionAtom } from './sessionAtom.ts';

/** A starred message, and the conversation that it is in. */
export interface StarredMessage {
  readonly key: ConversationKey;
  readonly message: MessageView;
}

/** The messages that the person has starred and that are here, the one starred last first; null before they have been loaded. */
export const starsAtom = sessionAtom<readonly StarredMessage[] | null>(null);

/** Message ids of those. */
export const starredIdsAtom = atom(
  (get): ReadonlySet<string> => new Set(get(starsAtom)?.map(({ message }) => message.messageId)),
);

/** Takes a message off the list that is gone here. */
export const forgetStarAtom = atom(null, (get, set, messageId: string) => {
  if (get(starredIdsAtom).has(messageId))
    set(starsAtom, (stars) => stars?.filter(({ message }) => message.messageId !== messageId) ?? null);
});

/** Has them loaded as a part appears that shows them. A failure shows none. */
export function useStars(): readonly StarredMessage[] {
  const actions = useAtomValue(requiredActionsAtom);
  const stars = useAtomValue(starsAtom);
  const isLoaded = stars !== null;
  useEffect(() => {
    if (!isLoaded) void actions.loadStars().catch(() => undefined);
  }, [actions, isLoaded]);
  return stars ?? none;
}

const none: readonly StarredMessage[] = [];
