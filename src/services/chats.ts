import type { ConversationState, MessageView } from '../crypto/client.ts';
import { type Chat, chatsAtom, type ConversationKey, emptyChat } from '../store/chats.ts';
import { keyOf } from './conversationIds.ts';
import type { Store } from './deps.ts';

function byTime(one: MessageView, other: MessageView): number {
  return (
    Date.parse(one.timestamp) - Date.parse(other.timestamp) ||
    // Those without a position wait in the outbox and come after those of equal time (spec section 2).
    (one.seq ?? Number.POSITIVE_INFINITY) - (other.seq ?? Number.POSITIVE_INFINITY) ||
    (one.messageId < other.messageId ? -1 : 1)
  );
}

/** Adds messages to a list: no id twice, ascending, and what the log has returned is never undone by an older view. */
export function mergeMessages(
  present: readonly MessageView[],
  added: readonly MessageView[],
): readonly MessageView[] {
  if (added.length === 0) return present;
  const byId = new Map(present.map((message) => [message.messageId, message]));
  for (const message of added) {
    const known = byId.get(message.messageId);
    if (known === undefined || message.seq !== null || known.seq === null)
      byId.set(message.messageId, message);
  }
  return [...byId.values()].sort(byTime);
}

export interface Chats {
  get(key: ConversationKey): Chat;
  change(key: ConversationKey, change: (chat: Chat) => Partial<Chat>): void;
  setState(state: ConversationState): void;
  /** Adds messages to chats that have been loaded; the others read them from the worker when they are opened. */
  addMessages(conversationId: string, messages: readonly MessageView[]): void;
  /** Whether the messages of a chat are kept. */
  setLoaded(key: ConversationKey, isLoaded: boolean): void;
  isLoaded(key: ConversationKey): boolean;
  removeMessage(messageId: string): void;
  /** Forgets a chat: of a group that was left or deleted. */
  remove(key: ConversationKey): void;
}

/** The chats on screen. Only this module writes their atom. */
export function createChats(store: Store, ownUserId: string): Chats {
  const loaded = new Set<string>();

  function get(key: ConversationKey): Chat {
    return store.get(chatsAtom)[key] ?? emptyChat;
  }

  function change(key: ConversationKey, changeChat: (chat: Chat) => Partial<Chat>): void {
    const chat = get(key);
    store.set(chatsAtom, { ...store.get(chatsAtom), [key]: { ...chat, ...changeChat(chat) } });
  }

  return {
    get,
    change,
    setState(state) {
      const key = keyOf(state.conversationId, ownUserId);
      if (key !== null) change(key, () => ({ state }));
    },
    addMessages(conversationId, messages) {
      const key = keyOf(conversationId, ownUserId);
      if (key === null || messages.length === 0 || !loaded.has(key)) return;
      change(key, (chat) => ({ messages: mergeMessages(chat.messages, messages) }));
    },
    setLoaded(key, isLoaded) {
      if (isLoaded) loaded.add(key);
      else loaded.delete(key);
    },
    isLoaded: (key) => loaded.has(key),
    removeMessage(messageId) {
      for (const [key, chat] of Object.entries(store.get(chatsAtom))) {
        if (!chat.messages.some((message) => message.messageId === messageId)) continue;
        change(key, () => ({
          messages: chat.messages.filter((message) => message.messageId !== messageId),
        }));
      }
    },
    remove(key) {
      loaded.delete(key);
      const { [key]: _removed, ...others } = store.get(chatsAtom);
      store.set(chatsAtom, others);
    },
  };
}
