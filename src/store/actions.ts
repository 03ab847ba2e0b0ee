import { atom } from 'jotai';
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
  /** Opens the chat: loads it, marks it read. Null closes it. */
  openChat(userId: string | null): Promise<void>;
  loadOlderMessages(userId: string): Promise<void>;
  /** Resolves once the message is queued (kept, sealed); its status then tells the rest. */
  sendMessage(userId: string, text: string): Promise<void>;
  retryMessage(messageId: string): Promise<void>;
  discardMessage(messageId: string): Promise<void>;
}

/** Set once by bootstrap before the first render. */
export const actionsAtom = atom<AppActions | null>(null);

/** The injected actions; a missing injection is a bug, so it throws. */
export const requiredActionsAtom = atom((get): AppActions => {
  const actions = get(actionsAtom);
  if (actions === null) throw new Error('actions were not injected');
  return actions;
});
