import { atom } from 'jotai';
import type { ConversationState, MessageView } from '../crypto/client.ts';

export type {
  ConversationState,
  MessageContent,
  MessageView,
  UndecryptableReason,
} from '../crypto/client.ts';

/** One direct chat on screen, by the other person's user id. */
export interface Chat {
  readonly state: ConversationState | null;
  /** Ascending by time; those still in the outbox after those of equal time. No message id twice. */
  readonly messages: readonly MessageView[];
  readonly loading: boolean;
  /** Whether older messages exist that are not in `messages`. */
  readonly hasOlder: boolean;
}

export const emptyChat: Chat = { state: null, messages: [], loading: false, hasOlder: false };

export const chatsAtom = atom<Readonly<Record<string, Chat>>>({});

/** User id of the open chat. */
export const activeChatAtom = atom<string | null>(null);

/** Unread messages of other people, the open chat left out (spec section 4). */
export const unreadTotalAtom = atom((get) => {
  const active = get(activeChatAtom);
  return Object.entries(get(chatsAtom)).reduce(
    (sum, [userId, chat]) => (userId === active ? sum : sum + (chat.state?.unread ?? 0)),
    0,
  );
});
