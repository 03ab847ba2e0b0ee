import { presenceAtom } from '../store/connection.ts';
import type { Store } from './deps.ts';

/** The event by which the parts of the page hear of presence and new messages (spec section 7). */
export const wsMessageEvent = 'ws-message';

export type WsMessage =
  | { readonly type: 'presence'; readonly userId: string; readonly online: boolean }
  | { readonly type: 'online_users'; readonly userIds: readonly string[] }
  /** New messages of the chat with this person. */
  | { readonly type: 'message'; readonly userId: string };

export function dispatchWsMessage(events: EventTarget, detail: WsMessage): void {
  events.dispatchEvent(new CustomEvent<WsMessage>(wsMessageEvent, { detail }));
}

/** The detail of the event, or null: whatever runs in the page may dispatch one. */
function wsMessageOf(event: Event): WsMessage | null {
  const detail: unknown = event instanceof CustomEvent ? event.detail : null;
  if (typeof detail !== 'object' || detail === null || !('type' in detail)) return null;
  if (detail.type === 'presence' && 'userId' in detail && 'online' in detail) {
    const { userId, online } = detail;
    return typeof userId === 'string' && typeof online === 'boolean'
      ? { type: 'presence', userId, online }
      : null;
  }
  if (detail.type === 'online_users' && 'userIds' in detail) {
    const userIds: unknown = detail.userIds;
    if (!Array.isArray(userIds) || !userIds.every((id): id is string => typeof id === 'string')) return null;
    return { type: 'online_users', userIds };
  }
  return null;
}

/**
 * Keeps the map of who is online in step with the events.
 * @returns a function that ends it and forgets everybody
 */
export function trackPresence(store: Store, events: EventTarget): () => void {
  function onMessage(event: Event): void {
    const message = wsMessageOf(event);
    if (message?.type === 'presence') {
      store.set(presenceAtom, { ...store.get(presenceAtom), [message.userId]: message.online });
    } else if (message?.type === 'online_users') {
      store.set(presenceAtom, Object.fromEntries(message.userIds.map((userId) => [userId, true])));
    }
  }
  events.addEventListener(wsMessageEvent, onMessage);
  return () => {
    events.removeEventListener(wsMessageEvent, onMessage);
    store.set(presenceAtom, {});
  };
}
