import { atom } from 'jotai';
import { type LoadedList, unloadedList } from './loadedList.ts';
import { sessionAtom } from './sessionAtom.ts';

export interface Notification {
  readonly id: string;
  readonly type: 'message' | 'contact_request' | 'contact_accepted';
  readonly sender_id: string;
  /** The sender's display name: the sentence around it is the interface's. */
  readonly content: string;
  readonly created_at: string;
  readonly read: boolean;
}

/** Newest first. */
export const notificationsAtom = sessionAtom<LoadedList<Notification>>(unloadedList);

export const unreadNotificationsAtom = atom(
  (get) => get(notificationsAtom).items.filter((notification) => !notification.read).length,
);
