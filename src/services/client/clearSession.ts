import { chatEventsAtom } from '../../store/chatEvents.ts';
import { activeConversationAtom, chatsAtom } from '../../store/chats.ts';
import { catchUpAtom, realtimeStatusAtom } from '../../store/connection.ts';
import { contactsAtom, incomingRequestsAtom, outgoingRequestsAtom } from '../../store/contacts.ts';
import { groupProgressAtom, groupsAtom } from '../../store/groups.ts';
import { historyKeptAtom } from '../../store/history.ts';
import { unloadedList } from '../../store/loadedList.ts';
import { memberNamesAtom } from '../../store/names.ts';
import { notificationsAtom } from '../../store/notifications.ts';
import type { Store } from '../core/deps.ts';

/** Takes what a session has shown off the screen. */
export function clearSession(store: Store): void {
  store.set(chatsAtom, {});
  store.set(activeConversationAtom, null);
  store.set(groupsAtom, unloadedList);
  store.set(groupProgressAtom, null);
  store.set(chatEventsAtom, {});
  store.set(memberNamesAtom, new Map());
  store.set(notificationsAtom, unloadedList);
  store.set(contactsAtom, unloadedList);
  store.set(incomingRequestsAtom, unloadedList);
  store.set(outgoingRequestsAtom, unloadedList);
  store.set(realtimeStatusAtom, 'closed');
  store.set(catchUpAtom, null);
  store.set(historyKeptAtom, null);
}
