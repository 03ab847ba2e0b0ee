import { atom } from 'jotai';
import type { FileSink } from '../lib/fileSink.ts';
import type { ExportedFiles, ExportFormat, FilesMeasure } from './account.ts';
import type {
  ConversationKey,
  MessageChange,
  MessageEvidence,
  MessageVersion,
  ViewComparison,
  Words,
} from './chats.ts';
import type { Person } from './contacts.ts';
import type { EmailVerification, EmailVerificationChange } from './emailVerification.ts';
import type { FileActions } from './files.ts';
import type { GroupInvitationChange } from './groupInvitations.ts';
import type { Mute } from './mutes.ts';
import type { LastSent } from './proof.ts';
import type { PersonReport } from './reports.ts';
import type { SafetyNumbers } from './trust.ts';

/** By which of a person's names others find them, and whether who finds them sees the email, as the contract has it. */
/** Ids of the people who are not in the group after people were added. */
export interface AddedMembers {
  /** They want to be asked first, and have been. */
  readonly asked: readonly string[];
  /** No device of theirs has signed in yet. */
  readonly withoutDevice: readonly string[];
}

export interface Discoverability {
  readonly found_by: 'name' | 'email' | 'both' | 'none';
  readonly shows_email: boolean;
}

/** A session that has registered no browser as a device. */
export interface OpenSession {
  readonly id: string;
  /** RFC 3339. */
  readonly createdAt: string;
}

/** The days that the relay keeps messages, and sealed copies of them; null for as long as the account is there. */
export interface Retention {
  readonly entryDays: number;
  /** The fewest of these days that held lately. */
  readonly fewestEntryDays: number;
  readonly historyDays: number | null;
}

/**
 * Everything a person can do. Services implement it, `app/bootstrap` injects it, features call it: so features reach
 * the network and the keys without importing either. Every promise rejects with an AppError whose message can be shown.
 */
export interface AppActions {
  /** For a form when it appears: what signing in takes is made ready. */
  prepareSignIn(): void;
  /** Asks whether anybody can sign up, whoever has an invitation, or nobody. */
  signUpMode(): Promise<'open' | 'invitation' | 'closed'>;
  signUp(input: {
    username: string;
    email: string;
    password: string;
    privacyConsent: boolean;
    /** The code of an invitation. */
    invitation?: string;
  }): Promise<void>;
  logIn(input: { identifier: string; password: string }): Promise<void>;
  /** Locks this browser's records; with `erase`, removes them and this device's keys. */
  logOut(options?: { erase?: boolean }): Promise<void>;
  /** Signs in by the recovery key and sets a new password. Errors: `bad-recovery-key` for one that was mistyped. */
  recover(input: { identifier: string; recoveryKey: string; password: string }): Promise<void>;
  /**
   * Shows a new recovery key in the frame of the keys, and makes it the account's, in the place of the one before. Errors:
   * `cancelled`.
   */
  setUpRecoveryKey(): Promise<void>;
  dismissRecoveryOffer(): Promise<void>;
  /** Has the person type a new password in the frame of the keys. Also ends their sessions in other browsers. */
  changePassword(): Promise<void>;
  /**
   * Begins anew under another account key, because somebody had the password or the recovery key: the person types the
   * password and a new one in the frame of the keys. Errors: `cancelled`.
   */
  moveOn(): Promise<void>;
  /** Goes on with an older state of the account that the relay has, under renewed keys. Errors: `cancelled`. */
  acceptOlderVault(): Promise<void>;
  /** Takes over the keys that another device has renewed. Errors: `cancelled`. */
  takeOverKeys(): Promise<void>;
  loadDevices(): Promise<void>;
  /** Renames the device that this browser is. */
  renameDevice(name: string): Promise<void>;
  /** Ends another device of the person's, for good. */
  revokeDevice(deviceId: string): Promise<void>;
  /**
   * Ends a session, if one is named; then, or at once, lists the person's sessions elsewhere that have no device. Errors:
   * `cancelled`.
   */
  updateSessions(endedId?: string): Promise<readonly OpenSession[]>;
  /** The person has seen which devices have signed in. */
  acknowledgeDevices(): Promise<void>;
  /** The person knows of the oldest change in `accountChangesAtom`. */
  acknowledgeAccountChange(): Promise<void>;
  /** The person knows of what is in `olderStatesAtom`. */
  acknowledgeOlderStates(): Promise<void>;
  loadSafetyNumbers(userId: string): Promise<SafetyNumbers>;
  /** By the safety number that was compared. */
  setVerified(userId: string, safetyNumber: string, verified: boolean): Promise<void>;
  /** Believes that somebody has another account key now, by its safety number. */
  acceptIdentity(userId: string, safetyNumber: string): Promise<void>;
  /** Keeps to the account key that somebody had before. */
  refuseIdentity(userId: string, safetyNumber: string): Promise<void>;
  /**
   * Changes the names that the person goes by, also at log-in; where emails are verified another one waits for its code. Errors: `invalid-username`, `username-taken`,
   * `invalid-email`, `email-taken`, which are about a field.
   */
  updateProfile(input: { username: string; email: string }): Promise<void>;
  /** Asks the relay what others can find of the person. */
  loadDiscoverability(): Promise<Discoverability>;
  setDiscoverability(change: Discoverability): Promise<void>;
  /**
   * Changes, or asks, whether the person's email is verified; answers what holds, null where none is. Errors: `wrong-code`,
   * `code-expired`, `too-many-tries`, `email-taken`.
   */
  updateEmailVerification(change?: EmailVerificationChange): Promise<EmailVerification | null>;
  /** Changes, or asks, whether the person is asked before somebody puts them into a group; answers what holds. */
  updateAskedFirst(change?: boolean): Promise<boolean>;
  /** Asks the relay for how long it keeps what it has. */
  loadRetention(): Promise<Retention>;
  /** Tells whether the browser keeps keys and messages until the person clears them, also when its disk is full. */
  isStorageKept(): Promise<boolean>;
  /** Ends the person's groups, then the account, then what this browser has of it, and leads to the landing page. */
  deleteAccount(): Promise<void>;
  /**
   * Writes everything this device can read, and what the relay knows of the person, for programs and for people.
   * Answers null if it was cancelled; cancelled or failed, nothing of the file is left.
   * @param withFiles true for a ZIP that has the files of the messages too
   */
  exportData(format: ExportFormat, file: FileSink, withFiles: boolean): Promise<ExportedFiles | null>;
  /** Says how much the files of all messages are. Rejects with the signal's reason when it is aborted. */
  measureFiles(signal: AbortSignal): Promise<FilesMeasure>;
  cancelDataExport(): void;
  /** Asks anew for the lists that could not be loaded yet; a list that fails again says so in the store. */
  retryLists(): Promise<void>;
  searchUsers(query: string): Promise<readonly Person[]>;
  sendContactRequest(userId: string): Promise<{ success: boolean; message: string }>;
  withdrawContactRequest(userId: string): Promise<void>;
  acceptContactRequest(requestId: string): Promise<void>;
  rejectContactRequest(requestId: string): Promise<void>;
  removeContact(userId: string): Promise<void>;
  /** See `store/reports.ts`. */
  report(report: PersonReport): Promise<void>;
  /** Blocks a person, who isn't told, or ends that; then, or at once, loads the blocked people into `blocksAtom`. */
  updateBlocks(change?: { userId: string; blocked: boolean }): Promise<void>;
  /** Opens the chat: loads it, marks it read; an open group closes. Null closes the chat. */
  openChat(userId: string | null): Promise<void>;
  loadOlderMessages(key: ConversationKey): Promise<void>;
  /** Mutes a conversation on all of the person's devices; `until` 0 ends it. */
  muteConversation(key: ConversationKey, mute: Mute): Promise<void>;
  /** Tells others in the conversation, unless the person wants none of it, that they are writing, or have emptied the form. */
  tellTyping(key: ConversationKey, isWriting: boolean): void;
  /**
   * Resolves once the message is queued (kept, sealed); its status then tells the rest.
   * @param inReplyTo message id of what it answers
   */
  sendMessage(key: ConversationKey, text: string, inReplyTo?: string): Promise<void>;
  /** Passes a text on to a conversation, in its format and marked as forwarded; as `sendMessage`. */
  forwardMessage(key: ConversationKey, words: Words): Promise<void>;
  /** Edits or deletes an own message for everybody, or reacts to one; as `sendMessage`, `unsentChanges` tells the rest. */
  changeMessage(key: ConversationKey, change: MessageChange): Promise<void>;
  /** Deletes a message on this browser alone. */
  deleteMessageHere(key: ConversationKey, messageId: string): Promise<void>;
  /** An edited message as it was, oldest first, and as it is. */
  messageVersions(key: ConversationKey, messageId: string): Promise<readonly MessageVersion[]>;
  retryMessage(key: ConversationKey, messageId: string): Promise<void>;
  discardMessage(messageId: string): Promise<void>;
  /**
   * Sends what waits for the person because the two of a chat were not shown the same, or a group holds people whom nobody
   * vouches for: anyway, by which the creator keeps these, or once the creator has had them removed.
   */
  settleDoubt(key: ConversationKey, how: 'sendAnyway' | 'removeUnvouched'): Promise<void>;
  /** Loads the starred messages into `starsAtom`. */
  loadStars(): Promise<void>;
  /** Stars a message on all of the person's devices, or takes the star back. Errors: `stars-full`. */
  setStar(key: ConversationKey, messageId: string, isStarred: boolean): Promise<void>;
  /** Pins a message for everybody in its conversation, or unpins it. */
  setPinned(key: ConversationKey, messageId: string, isPinned: boolean): Promise<void>;
  /** Has the members of a conversation agree that messages disappear after so many seconds, from the next one on; 0 for never. */
  setMessageTimer(key: ConversationKey, seconds: number): Promise<void>;
  /** Returns the evidence for a message at a position of a conversation's log. */
  messageEvidence(conversationId: string, seq: number): Promise<MessageEvidence>;
  /** The text of a file with what this browser was given of a conversation, signed by it. */
  saveView(conversationId: string, withTexts: boolean): Promise<string>;
  /** Compares the text of somebody else's such file with what this browser was given. */
  compareView(conversationId: string, file: string): Promise<ViewComparison>;
  /** Asks the relay what it has of the last text that this browser has sent. Null where it knows none. Changes nothing. */
  lastSent(): Promise<LastSent | null>;
  /** Opens the group as {@link AppActions.openChat} does a chat, which closes. Null closes the group. */
  openGroup(groupId: string | null): Promise<void>;
  /** Creates a group and makes it the open one. Resolves with its id once this device is in it. */
  createGroup(name: string): Promise<string>;
  /**
   * Creator: adds contacts with all their devices, at once, and asks those who want to be asked first. Resolves once the
   * others are in the group's keys; rejects when nobody has a device.
   */
  addGroupMembers(groupId: string, userIds: readonly string[]): Promise<AddedMembers>;
  /** Makes a change, if any, and loads the questions to people who want to be asked first into `groupInvitationsAtom`. */
  updateGroupInvitations(change?: GroupInvitationChange): Promise<void>;
  /** Other members. The group goes from the list, and its messages from this browser. */
  leaveGroup(groupId: string): Promise<void>;
  /** Creator: deletes it for everybody. */
  deleteGroup(groupId: string): Promise<void>;
  /** Takes a group that has ended out of this browser, with its messages. */
  removeGroup(groupId: string): Promise<void>;
  /** Reads the members' names again and compares the relay's list with the group's keys. */
  loadGroupDetails(groupId: string): Promise<void>;
  readNotification(notificationId: string): Promise<void>;
  readAllNotifications(): Promise<void>;
  deleteNotification(notificationId: string): Promise<void>;
  /** Switches whether sealed copies of messages are kept for new devices; off, those there are get deleted. */
  setBackupKept(kept: boolean): Promise<void>;
  files(): Promise<FileActions>;
  /** A small text of the interface, kept sealed in this browser; null when there is none. */
  readLocal(name: string): Promise<string | null>;
  /** Keeps a text of at most 4 MiB of UTF-8; null removes it. */
  writeLocal(name: string, text: string | null): Promise<void>;
}

/** Set once by bootstrap before the first render. */
export const actionsAtom = atom<AppActions | null>(null);

/** The injected actions; a missing injection is a bug, so it throws. */
export const requiredActionsAtom = atom((get): AppActions => {
  const actions = get(actionsAtom);
  if (actions === null) throw new Error('actions were not injected');
  return actions;
});
