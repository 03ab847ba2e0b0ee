import type { Timer } from '../../lib/clock.ts';
import { nothingKnown, presenceAtom } from '../../store/connection.ts';
import { peerOf } from '../core/conversationIds.ts';
import type { Deps, SessionDeps } from '../core/deps.ts';
import { timings } from '../core/timings.ts';

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

/** Tells the page of new messages in direct chats. */
export function announceMessages(
  { events, sessionEvents }: Pick<SessionDeps, 'events' | 'sessionEvents'>,
  ownUserId: string,
): void {
  sessionEvents.on('entriesProcessed', ({ messages, state }) => {
    const peer = peerOf(state.conversationId, ownUserId);
    if (peer !== null && messages.length > 0) dispatchWsMessage(events, { type: 'message', userId: peer });
  });
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

export interface PresenceTracking {
  /** Forgets who is online after a moment without the socket, in which most connections come back. */
  lost(): void;
  end(): void;
}

/** Keeps what is known of who is online in step with the events. */
export function trackPresence({
  clock,
  events,
  store,
}: Pick<Deps, 'clock' | 'events' | 'store'>): PresenceTracking {
  let forgetting: Timer | null = null;

  function keep(): void {
    forgetting?.cancel();
    forgetting = null;
  }

  function forget(): void {
    keep();
    store.set(presenceAtom, nothingKnown);
  }

  function onMessage(event: Event): void {
    const message = wsMessageOf(event);
    if (message?.type === 'presence') {
      const { online, listed } = store.get(presenceAtom);
      store.set(presenceAtom, { online: { ...online, [message.userId]: message.online }, listed });
    } else if (message?.type === 'online_users') {
      keep();
      const online = Object.fromEntries(message.userIds.map((userId) => [userId, true]));
      store.set(presenceAtom, { online, listed: true });
    }
  }
  events.addEventListener(wsMessageEvent, onMessage);

  return {
    lost() {
      if (store.get(presenceAtom).listed) forgetting ??= clock.after(timings.presenceGrace, forget);
    },
    end() {
      events.removeEventListener(wsMessageEvent, onMessage);
      forget();
    },
  };
}
