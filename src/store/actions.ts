import { atom } from 'jotai';
import type { ConversationKey } from './chats.ts';
import type { Person } from './contacts.ts';

/**
 * What a person can do. Services implement it, `app/bootstrap` injects it, features call it: so features reach the
 * network and the keys without importing either. Every promise rejects with an AppError whose message can be shown.
 */
export interface AppActions {
  signUp(input: {
    username: string;
    email: string;
    password: string;
    privacyConsent: boolean;
  }): Promise<void>;
  logIn(input: { identifier: string; password: string }): Promise<void>;
  /** Locks this browser's records; with `erase`, removes them and this device's keys. */
  logOut(options?: { erase?: boolean }): Promise<void>;
  searchUsers(query: string): Promise<readonly Person[]>;
  sendContactRequest(userId: string): Promise<{ success: boolean; message: string }>;
  acceptContactRequest(requestId: string): Promise<void>;
  rejectContactRequest(requestId: string): Promise<void>;
  removeContact(userId: string): Promise<void>;
  /** Opens the chat: loads it, marks it read; an open group closes. Null closes the chat. */
  openChat(userId: string | null): Promise<void>;
  loadOlderMessages(key: ConversationKey): Promise<void>;
  /** Resolves once the message is queued (kept, sealed); its status then tells the rest. */
  sendMessage(key: ConversationKey, text: string): Promise<void>;
  retryMessage(messageId: string): Promise<void>;
  discardMessage(messageId: string): Promise<void>;
  /** Opens the group as {@link AppActions.openChat} does a chat, which closes. Null closes the group. */
  openGroup(groupId: string | null): Promise<void>;
  /** Creates a group and makes it the open one. Resolves with its id once this device is in it. */
  createGroup(name: string): Promise<string>;
  /** Creator: adds a contact with all their devices. Resolves once they are in the group's keys. */
  addGroupMember(groupId: string, userId: string): Promise<void>;
  /** Other members. The group goes from the list, and its messages from this browser. */
  leaveGroup(groupId: string): Promise<void>;
  /** Creator: deletes it for everybody. */
  deleteGroup(groupId: string): Promise<void>;
  /** Reads the members' names again and compares the relay's list with the group's keys. */
  loadGroupDetails(groupId: string): Promise<void>;
  readNotification(notificationId: string): Promise<void>;
  readAllNotifications(): Promise<void>;
  deleteNotification(notificationId: string): Promise<void>;
}

/** Set once by bootstrap before the first render. */
export const actionsAtom = atom<AppActions | null>(null);

/** The injected actions; a missing injection is a bug, so it throws. */
export const requiredActionsAtom = atom((get): AppActions => {
  const actions = get(actionsAtom);
  if (actions === null) throw new Error('actions were not injected');
  return actions;
});
