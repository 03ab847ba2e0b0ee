import { activeChatAtom, activeGroupAtom, chatsAtom } from '../store/chats.ts';
import { chatEventsAtom } from '../store/chatEvents.ts';
import { catchUpAtom, realtimeStatusAtom } from '../store/connection.ts';
import {
  contactsAtom,
  contactsErrorAtom,
  incomingRequestsAtom,
  outgoingRequestsAtom,
} from '../store/contacts.ts';
import { groupProgressAtom, groupsAtom, groupsErrorAtom } from '../store/groups.ts';
import { historyKeptAtom } from '../store/history.ts';
import { memberNamesAtom } from '../store/names.ts';
import { notificationsAtom, notificationsErrorAtom } from '../store/notifications.ts';
import type { Store } from './deps.ts';

/** Takes what a session has shown off the screen. */
export function clearSession(store: Store): void {
  const empty = { items: [], loading: false, loaded: false };
  store.set(chatsAtom, {});
  store.set(activeChatAtom, null);
  store.set(activeGroupAtom, null);
  store.set(groupsAtom, empty);
  store.set(groupsErrorAtom, null);
  store.set(groupProgressAtom, null);
  store.set(chatEventsAtom, {});
  store.set(memberNamesAtom, new Map());
  store.set(notificationsAtom, empty);
  store.set(notificationsErrorAtom, null);
  store.set(contactsAtom, empty);
  store.set(incomingRequestsAtom, empty);
  store.set(outgoingRequestsAtom, empty);
  store.set(contactsErrorAtom, null);
  store.set(realtimeStatusAtom, 'closed');
  store.set(catchUpAtom, null);
  store.set(historyKeptAtom, null);
}
