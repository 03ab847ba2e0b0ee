import type { ConversationState, MessageView } from '../crypto/client.ts';
import { type Chat, chatsAtom, emptyChat } from '../store/chats.ts';
import { peerOf } from './conversationIds.ts';
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
  get(userId: string): Chat;
  change(userId: string, change: (chat: Chat) => Partial<Chat>): void;
  setState(state: ConversationState): void;
  /** Adds messages to chats that have been loaded; the others read them from the worker when they are opened. */
  addMessages(conversationId: string, messages: readonly MessageView[]): void;
  /** Whether the messages of a chat are kept. */
  setLoaded(userId: string, isLoaded: boolean): void;
  isLoaded(userId: string): boolean;
  removeMessage(messageId: string): void;
}

/** The chats on screen. Only this module writes their atom. */
export function createChats(store: Store, ownUserId: string): Chats {
  const loaded = new Set<string>();

  function get(userId: string): Chat {
    return store.get(chatsAtom)[userId] ?? emptyChat;
  }

  function change(userId: string, changeChat: (chat: Chat) => Partial<Chat>): void {
    const chat = get(userId);
    store.set(chatsAtom, { ...store.get(chatsAtom), [userId]: { ...chat, ...changeChat(chat) } });
  }

  return {
    get,
    change,
    setState(state) {
      const userId = peerOf(state.conversationId, ownUserId);
      if (userId !== null) change(userId, () => ({ state }));
    },
    addMessages(conversationId, messages) {
      const userId = peerOf(conversationId, ownUserId);
      if (userId === null || messages.length === 0 || !loaded.has(userId)) return;
      change(userId, (chat) => ({ messages: mergeMessages(chat.messages, messages) }));
    },
    setLoaded(userId, isLoaded) {
      if (isLoaded) loaded.add(userId);
      else loaded.delete(userId);
    },
    isLoaded: (userId) => loaded.has(userId),
    removeMessage(messageId) {
      for (const [userId, chat] of Object.entries(store.get(chatsAtom))) {
        if (!chat.messages.some((message) => message.messageId === messageId)) continue;
        change(userId, () => ({
          messages: chat.messages.filter((message) => message.messageId !== messageId),
        }));
      }
    },
  };
}
