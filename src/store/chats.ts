import { atom } from 'jotai';
import type { ConversationState, MessageView } from '../crypto/client.ts';
import { mutesAtom } from './mutes.ts';
import { sessionAtom } from './sessionAtom.ts';

export type {
  ConversationState,
  MessageChange,
  MessageContent,
  MessageEvidence,
  MessageVersion,
  MessageView,
  Quote,
  Reaction,
  SeenEntry,
  UndecryptableReason,
  UnsentChange,
  ViewComparison,
  Words,
} from '../crypto/client.ts';

/** A chat's name on screen: the other person's user id, or `group-{id}` (spec section 4). */
export type ConversationKey = string;

const groupPrefix = 'group-';

export function groupKeyOf(groupId: string): ConversationKey {
  return `${groupPrefix}${groupId}`;
}

/** The group's id in a key, or null for a direct chat. */
export function groupIdOfKey(key: ConversationKey): string | null {
  return key.startsWith(groupPrefix) ? key.slice(groupPrefix.length) : null;
}

/** One chat on screen. */
export interface Chat {
  readonly state: ConversationState | null;
  /** In the log's order; those still in the outbox by time, after those of equal time. No message id twice. */
  readonly messages: readonly MessageView[];
  readonly loading: boolean;
  /** True while older messages exist that are not in `messages`. */
  readonly hasOlder: boolean;
}

export const emptyChat: Chat = { state: null, messages: [], loading: false, hasOlder: false };

/** By {@link ConversationKey}. */
export const chatsAtom = sessionAtom<Readonly<Record<ConversationKey, Chat>>>({});

/** The open conversation; null while none is. */
export const activeConversationAtom = sessionAtom<ConversationKey | null>(null);

/** User id of the other person in the open direct chat; null while none is open. */
export const activeChatAtom = atom((get) => {
  const key = get(activeConversationAtom);
  return key === null || groupIdOfKey(key) !== null ? null : key;
});

/** Id of the open group; null while none is open. */
export const activeGroupAtom = atom((get) => {
  const key = get(activeConversationAtom);
  return key === null ? null : groupIdOfKey(key);
});

/** Unread direct messages of other people, the open chat and muted ones left out (spec section 4). */
export const unreadTotalAtom = atom((get) => {
  const active = get(activeChatAtom);
  const mutes = get(mutesAtom);
  return Object.entries(get(chatsAtom)).reduce(
    (sum, [key, chat]) =>
      key === active || groupIdOfKey(key) !== null || key in mutes ? sum : sum + (chat.state?.unread ?? 0),
    0,
  );
});

/** A message to which something outside of its chat leads, until the chat has taken it up. */
export const soughtAtom = sessionAtom<{ readonly key: ConversationKey; readonly messageId: string } | null>(
  null,
);

/** The place of the reader in a chat: the message at the upper edge, and the pixels of it that were above. */
export interface ReadingPlace {
  readonly messageId: string;
  readonly offset: number;
  /** Pixels of each row that was drawn, by its key. */
  readonly heights: ReadonlyMap<string | number | bigint, number>;
}

/** The reading places in chats that were left elsewhere than at their newest message. */
export const readingPlacesAtom = sessionAtom<Readonly<Record<ConversationKey, ReadingPlace | null>>>({});
