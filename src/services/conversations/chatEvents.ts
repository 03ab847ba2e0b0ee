import type { ConversationEvent } from '../../crypto/client.ts';
import { chatEventsAtom } from '../../store/chatEvents.ts';
import { keyOf } from '../core/conversationIds.ts';
import type { Deps } from '../core/deps.ts';

export interface ChatEvents {
  /** Reads what this browser keeps, once; from then on the chat's events are on screen. */
  load(conversationId: string): Promise<void>;
  /** Adds to a chat that was loaded; the others read them when they are opened. */
  add(conversationId: string, events: readonly ConversationEvent[]): void;
  forget(conversationId: string): void;
}

/** What happened in the chats on screen beside messages. Only this module writes its atom. */
export function createChatEvents(
  { crypto, store }: Pick<Deps, 'crypto' | 'store'>,
  ownUserId: string,
): ChatEvents {
  const loaded = new Set<string>();

  function add(conversationId: string, events: readonly ConversationEvent[]): void {
    const key = keyOf(conversationId, ownUserId);
    if (key === null || events.length === 0 || !loaded.has(conversationId)) return;
    const present = store.get(chatEventsAtom);
    // An event may come with its entry while the kept ones are being read.
    const bySeq = new Map([...(present[key] ?? []), ...events].map((event) => [event.seq, event]));
    const ascending = [...bySeq.values()].sort((one, other) => one.seq - other.seq);
    store.set(chatEventsAtom, { ...present, [key]: ascending });
  }

  return {
    add,

    async load(conversationId) {
      if (loaded.has(conversationId)) return;
      loaded.add(conversationId);
      try {
        add(conversationId, await crypto.events(conversationId));
      } catch (error) {
        loaded.delete(conversationId);
        throw error;
      }
    },

    forget(conversationId) {
      loaded.delete(conversationId);
      const key = keyOf(conversationId, ownUserId);
      if (key === null) return;
      const { [key]: _forgotten, ...others } = store.get(chatEventsAtom);
      store.set(chatEventsAtom, others);
    },
  };
}
