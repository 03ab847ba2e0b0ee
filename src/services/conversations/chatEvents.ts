import type { ConversationEvent } from '../../crypto/client.ts';
import { chatEventsAtom } from '../../store/chatEvents.ts';
import { groupConversationId, keyOf } from '../core/conversationIds.ts';
import type { SessionDeps } from '../core/deps.ts';

export interface ChatEvents {
  /** Reads what this browser keeps, once; from then on the chat's events are on screen. */
  load(conversationId: string): Promise<void>;
}

/** Shows the events in the chats on screen that are no messages. Only this module writes their atom. */
export function createChatEvents(
  { crypto, sessionEvents, store }: Pick<SessionDeps, 'crypto' | 'sessionEvents' | 'store'>,
  ownUserId: string,
): ChatEvents {
  const loaded = new Set<string>();

  /** Adds to a chat that was loaded; the others read them when they are opened. */
  function add(conversationId: string, events: readonly ConversationEvent[]): void {
    const key = keyOf(conversationId, ownUserId);
    if (key === null || events.length === 0 || !loaded.has(conversationId)) return;
    const present = store.get(chatEventsAtom);
    // An event may come with its entry while the kept ones are being read.
    const bySeq = new Map([...(present[key] ?? []), ...events].map((event) => [event.seq, event]));
    const ascending = [...bySeq.values()].sort((one, other) => one.seq - other.seq);
    store.set(chatEventsAtom, { ...present, [key]: ascending });
  }

  function forget(conversationId: string): void {
    loaded.delete(conversationId);
    const key = keyOf(conversationId, ownUserId);
    if (key === null) return;
    const { [key]: _forgotten, ...others } = store.get(chatEventsAtom);
    store.set(chatEventsAtom, others);
  }

  sessionEvents.on('entriesProcessed', ({ events, state }) => add(state.conversationId, events));
  sessionEvents.on('receiptsTaken', ({ events, state }) => add(state.conversationId, events));
  sessionEvents.on('groupForgotten', ({ groupId }) => forget(groupConversationId(groupId)));

  return {
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
  };
}
