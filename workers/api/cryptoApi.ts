/**
 * The door of the room that holds the keys. Only plain cloneable values cross it, and no key ever does: what comes out
 * is plaintext for the screen, public facts, and ciphertext ready to send. Bytes are unpadded base64url, as the relay's
 * contract wants them, so that the page never handles them.
 */

import type { BackupApi } from './backupApi.ts';
import type { GroupsApi } from './groupsApi.ts';
import type { OutboxApi } from './outboxApi.ts';
import type { SecurityApi } from './securityApi.ts';

export type { BackupEntry, ReadBackup, StoredBackupEntry } from './backupApi.ts';
export type { MemberName } from './groupsApi.ts';
export type { PreparedMessage, QueuedMessage, ReadyMessage } from './outboxApi.ts';
export type {
  ContactTrust,
  NewCredentials,
  NewRecoveryKey,
  RevokedDevice,
  SafetyNumbers,
} from './securityApi.ts';

/** Bytes as unpadded base64url. */
export type WireBytes = string;

export interface PasswordParams {
  readonly salt: WireBytes;
  readonly opsLimit: number;
  /** Bytes. */
  readonly memLimit: number;
}

/** The vault as the relay stores it: sealed, with its wraps. */
export interface SealedVault {
  readonly sealedVault: WireBytes;
  readonly passwordWrap: WireBytes;
  readonly recoveryWrap: WireBytes | null;
}

export interface DeviceIdentity {
  readonly userId: string;
  readonly deviceId: string;
  readonly certificate: WireBytes;
}

/** Why a message can't be read (PROTOCOL, section 8). A closed list: each has its sentence in the interface. */
export type UndecryptableReason = 'before-join' | 'storage-erased' | 'damaged' | 'unknown-device' | 'rules';

export type MessageContent =
  | { readonly kind: 'text'; readonly text: string }
  /** A payload type of a newer version: "Update the app to see this message". Kept as it came. */
  | { readonly kind: 'unknown' }
  | { readonly kind: 'undecryptable'; readonly reason: UndecryptableReason };

export interface MessageView {
  readonly conversationId: string;
  readonly messageId: string;
  /** Position in the log; null while it waits in the outbox without an acknowledgement. */
  readonly seq: number | null;
  readonly senderId: string;
  readonly senderDeviceId: string;
  /** RFC 3339: the relay's time once it has one, the sender's until then. */
  readonly timestamp: string;
  /** `received` for what others and one's other devices sent. */
  readonly status: 'sending' | 'sent' | 'failed' | 'received';
  /** With `failed`: the code of what stopped it. */
  readonly failure?: string;
  readonly content: MessageContent;
}

export interface ConversationState {
  readonly conversationId: string;
  /**
   * `joined`: can read and write. `starting`: an own commit waits for its place in the log. `outside`: this device is
   * not a member yet (use a Welcome, or join by external commit). `forked`: must rejoin by external commit.
   */
  readonly status: 'joined' | 'starting' | 'outside' | 'forked';
  readonly epoch: number;
  /** All log entries up to and including this one have been processed. */
  readonly lastSeq: number;
  /** The entry that let this device in; what is older can't be read here. 0 for who started it. */
  readonly joinedSeq: number;
  /** How far this person has read, and the other one (direct conversations). */
  readonly readSeq: number;
  readonly peerReadSeq: number;
  /** Messages of other people after readSeq, counted up to 100. */
  readonly unread: number;
  /** Newest message, for lists. */
  readonly lastMessage: MessageView | null;
  /** The cryptographic membership, by person. */
  readonly members: readonly { readonly userId: string; readonly deviceIds: readonly string[] }[];
  /**
   * RFC 3339: the relay's time of the entry at joinedSeq, or of the one that first let this device in if it has been
   * added again since: "you can read messages since". Null until that entry was seen: after a Welcome, give it to processEntries once with those that follow. Null outside, too.
   */
  readonly joinedAt: string | null;
  /** With `forked`, the code that the commit was refused with. */
  readonly refusal?: string;
  /** Null for direct conversations, and for a group that this device was never in. */
  readonly group: GroupState | null;
}

/** What a group's members know of it, whatever the relay says. */
export interface GroupState {
  /** Null until a sealed name could be opened. It never changes after that. */
  readonly name: string | null;
  /** Who made the group, as bound into its keys. */
  readonly creatorId: string;
  /** Who has left by a statement that holds, and is still in `members`: the next commit removes them. */
  readonly leavingIds: readonly string[];
  /** A device has come that can't open the name as the relay last had it: see {@link GroupsApi.sealGroupName}. */
  readonly nameDue: boolean;
}

/** Something that happened in a conversation's log beside messages. */
export interface ConversationEvent {
  readonly conversationId: string;
  readonly seq: number;
  /** Whose commit it was, as the relay says. */
  readonly senderId: string;
  readonly senderDeviceId: string;
  /** RFC 3339: the relay's time. */
  readonly timestamp: string;
  readonly change: ConversationChange;
}

export type ConversationChange =
  /** People in the keys of a group before and after a commit. */
  | { readonly kind: 'members'; readonly added: readonly string[]; readonly removed: readonly string[] }
  /** A commit that this device did not follow, and the code it was refused with. */
  | { readonly kind: 'refused'; readonly code: string }
  /** This device had lost its place and came back: with who came and went meanwhile. */
  | { readonly kind: 'rejoined'; readonly added: readonly string[]; readonly removed: readonly string[] }
  /** This device was out of the group, and was added again. */
  | { readonly kind: 'returned' };

/** A KeyPackage that the relay handed out, and whose it says it is. */
export interface ClaimedKeyPackage {
  readonly userId: string;
  readonly deviceId: string;
  readonly keyPackage: WireBytes;
}

/** A commit to submit; it takes effect here when the log is processed up to it, and is dropped if another one won. */
export interface CommitSubmission {
  readonly conversationId: string;
  /** The epoch it ends: what the relay compares. */
  readonly epoch: number;
  readonly commit: WireBytes;
  readonly welcomes: readonly { readonly deviceIds: readonly string[]; readonly welcome: WireBytes }[];
  readonly groupInfo: WireBytes;
  /** The group's name under a key of the epoch this commit starts. Null in direct conversations, or if unknown here. */
  readonly sealedName: WireBytes | null;
  /** People (this one excepted) it brings into a group: with them it goes to POST /group/{id}/add. */
  readonly addedIds: readonly string[];
  /** People who left, and whose leaves it removes. */
  readonly removedIds: readonly string[];
}

/** The fields of the relay's log entry that the worker needs. */
export interface LogEntryInput {
  readonly id: string;
  readonly seq: number;
  readonly epoch: number;
  readonly kind: 'application' | 'commit';
  readonly sender_id: string;
  readonly sender_device_id: string;
  readonly content: WireBytes;
  readonly timestamp: string;
}

/** The newest `limit` messages below the position `before` (or of all); with `after`, the oldest above that one. */
export interface MessagePage {
  readonly before?: number;
  readonly after?: number;
  readonly limit: number;
}

export interface ProcessResult {
  /** Every message of the entries given, in log order; those processed before are answered from the cache. */
  readonly messages: readonly MessageView[];
  /** What else happened in those that are new here. */
  readonly events: readonly ConversationEvent[];
  readonly state: ConversationState;
}

export interface CryptoApi extends GroupsApi, BackupApi, OutboxApi, SecurityApi {
  // Account. The password goes in, and only values derived from it come out.

  /** New Argon2id parameters and what the relay gets as the password. Keeps the wrapping key for {@link createVault}. */
  beginSignUp(password: string): Promise<{ authKey: WireBytes; passwordParams: PasswordParams }>;
  /** Errors: `unsupported` when the relay asks for parameters too weak or too heavy to be its own. */
  beginLogin(password: string, passwordParams: PasswordParams): Promise<{ authKey: WireBytes }>;
  /** A fresh vault for an account that has none, for PUT /vault. Nothing is kept until {@link openVault}. */
  createVault(userId: string): Promise<SealedVault>;
  /** Opens the vault with the password of beginSignUp/beginLogin, and this person's storage. Errors: `wrong-password`. */
  openVault(userId: string, vault: SealedVault): Promise<void>;
  /** After a reload, without the password. False when this browser's storage can't be opened: sign in again. */
  resume(userId: string): Promise<boolean>;
  /** This browser's device: made once, then resumed. */
  openDevice(): Promise<DeviceIdentity & { readonly isNew: boolean }>;
  /** Single-use KeyPackages for the relay; their private halves stay here. */
  createKeyPackages(
    count: number,
    lastResort: boolean,
  ): Promise<{ keyPackages: WireBytes[]; lastResort: WireBytes | null }>;
  /** Logging out: destroys the session's wrapped storage key, opened or not; the sealed records stay. */
  lock(): Promise<void>;
  /** Logging out and erasing this browser. Other tabs of the person are locked by it. Errors: `locked`. */
  erase(): Promise<void>;

  // Conversations.

  conversations(): Promise<ConversationState[]>;
  conversation(conversationId: string): Promise<ConversationState>;
  /**
   * The first commit of a conversation, adding the devices given (every device of everybody in it but this one; for a
   * group whose creator has no other device, none). A group needs a name, and has this person as its creator; POST
   * /group may take the submission's `sealedName`. While an own start waits, it answers that one again. Errors:
   * `identity-changed`, `invalid-credential` (a device whose certificate doesn't hold), `invalid-key-package`,
   * `invalid-leaf` (a device too old for groups), `usage`.
   */
  startConversation(input: {
    conversationId: string;
    keyPackages: readonly ClaimedKeyPackage[];
    /** 1 to 100 characters after trimming. */
    group?: { name: string };
  }): Promise<CommitSubmission>;
  /**
   * Joins what it was added to. A member stays as it is, unless it was out of the group in the meantime, without a log
   * that would have told it: a Welcome to a later epoch says so. Errors: `missing-key` (the Welcome is for none of this
   * device's KeyPackages), `wrong-group`, `wrong-epoch`, `policy` (a group to which neither its creator nor this person
   * added the device, or with another creator than before), `identity-changed`, and the core's for a broken one.
   */
  joinByWelcome(input: {
    conversationId: string;
    epoch: number;
    seq: number;
    welcome: WireBytes;
  }): Promise<ConversationState>;
  /**
   * For a device outside, or forked: joins, or rejoins in place of its old leaf. It is a member once the log has been
   * processed from that commit on. Errors: `usage` for a member, and as {@link joinByWelcome}; `policy` for a group
   * that holds no device of this person, or somebody whose adding was refused here (ask again later: its creator's
   * devices remove them).
   */
  joinByExternalCommit(input: {
    conversationId: string;
    epoch: number;
    groupInfo: WireBytes;
  }): Promise<CommitSubmission>;
  /**
   * Next entries of the log, in order. A bad entry becomes a message with its reason and never stops those after it.
   * For a device outside they are left alone, unless its own external commit is among them. Errors: `gap`, whose detail
   * is the position that is missing (nothing was processed then), `usage` for entries out of order.
   */
  processEntries(conversationId: string, entries: readonly LogEntryInput[]): Promise<ProcessResult>;
  /** From the preserved-message cache, ascending. */
  messages(conversationId: string, page: MessagePage): Promise<MessageView[]>;
  /** How many messages the preserved-message cache has of a conversation. */
  messageCount(conversationId: string): Promise<number>;
  /** The newest events of a conversation that this device has processed, ascending: at most 1,000. */
  events(conversationId: string): Promise<ConversationEvent[]>;
  setReadPosition(conversationId: string, reader: 'own' | 'peer', seq: number): Promise<ConversationState>;

  // Notes: small texts of the interface (drafts, recent emojis) that are nobody else's business. They stay in this
  // browser, sealed with their names, until it is erased.

  /** Those whose names begin so; all without a prefix. In no order. */
  localEntries(prefix?: string): Promise<LocalEntry[]>;
  /** Null when there is none. */
  readLocal(name: string): Promise<string | null>;
  /**
   * Replaces a note; null removes it. Errors: `usage` for more than 64 KiB of UTF-8, a name that is empty or longer
   * than 200 characters, or a note more than 2,000.
   */
  writeLocal(name: string, text: string | null): Promise<void>;
}

export interface LocalEntry {
  readonly name: string;
  readonly text: string;
}

/** What the worker exposes over Comlink: one call, whose failures keep their codes (Comlink drops them). */
export interface CryptoWorker {
  call(method: keyof CryptoApi, args: unknown[]): Promise<CallResult>;
}

export type CallResult =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly code: string; readonly detail: string };
