/**
 * The worker's API. Only plain cloneable values cross it, and no key ever does: the page gets plaintext for
 * the screen, public facts, and ciphertext ready to send. Bytes are unpadded base64url, as the relay's
 * contract wants them, so that the page never handles them.
 */

import type { WireBytes } from '../codec/base64url.ts';
import type { KeyPackageSuite } from './arguments.ts';
import type { BackupApi } from './backupApi.ts';
import type { ClaimedKeyPackage, ConversationsApi } from './conversationsApi.ts';
import type { DisappearingApi } from './disappearingApi.ts';
import type { EvidenceApi } from './evidenceApi.ts';
import type { FilesApi } from './filesApi.ts';
import type { GroupsApi } from './groupsApi.ts';
import type { OutboxApi } from './outboxApi.ts';
import type { PinningApi } from './pinningApi.ts';
import type { ReceiptsApi } from './receiptsApi.ts';
import type { PasswordParams, SealedVault, SecurityApi, StoredVault } from './securityApi.ts';
import type { StarsApi } from './starsApi.ts';
import type { TypingApi } from './typingApi.ts';

export type { WireBytes } from '../codec/base64url.ts';
export type { AttachedFile, FileFacts, FileKind, FilePreview } from './attachedFile.ts';
export type { BackupEntry, ReadBackup, StoredBackupEntry } from './backupApi.ts';
export type { ConversationChange, ConversationEvent } from './conversationEvent.ts';
export type {
  ClaimedKeyPackage,
  CommitSubmission,
  ConversationState,
  GroupState,
  LogEntryInput,
  MessagePage,
  MessageVersion,
  MessageView,
  Mute,
  OwnReceipt,
  OwnState,
  PersonReceipt,
  ProcessResult,
  Quote,
  Reaction,
  RetentionRules,
  ToldState,
  UnsentChange,
} from './conversationsApi.ts';
export type { Disappeared } from './disappearingApi.ts';
export type {
  LogEvidence,
  MessageEvidence,
  PublicField,
  SeenEntry,
  SentEvidence,
  ViewComparison,
} from './evidenceApi.ts';
export type { FilesPage, UploadedFile } from './filesApi.ts';
export type { MemberName } from './groupsApi.ts';
export type { MessageContent, UndecryptableReason, Words } from './messageContent.ts';
export type { MessageChange, PreparedMessage, QueuedMessage, ReadyMessage } from './outboxApi.ts';
export type { Operation, OperationKind } from './prompt.ts';
export type { GivenReceipt } from './receiptsApi.ts';
export type {
  ContactTrust,
  MovedOn,
  NewCredentials,
  OlderState,
  PasswordParams,
  ProofRequest,
  RevokedDevice,
  RotatedVault,
  SafetyNumbers,
  SealedState,
  SealedVault,
  StoredVault,
} from './securityApi.ts';
export type { GivenTyping } from './typingApi.ts';

export interface DeviceIdentity {
  readonly userId: string;
  readonly deviceId: string;
  readonly certificate: WireBytes;
}

/** A device that was just opened. */
export interface OpenedDevice extends DeviceIdentity {
  readonly isNew: boolean;
  /** The device that this browser was before its data was found in two places, with both words for the relay. */
  readonly former: {
    readonly deviceId: string;
    readonly signature: WireBytes;
    readonly statement: WireBytes;
  } | null;
}

/** A start of this device's storage, signed by the device. */
export interface SignedStart {
  readonly number: number;
  readonly tag: WireBytes;
  /** Tags that it may come after. */
  readonly from: readonly WireBytes[];
  readonly signature: WireBytes;
  /** The relay is known to have it. */
  readonly isRegistered: boolean;
}

export interface CryptoApi
  extends ConversationsApi,
    GroupsApi,
    BackupApi,
    OutboxApi,
    ReceiptsApi,
    TypingApi,
    SecurityApi,
    DisappearingApi,
    EvidenceApi,
    FilesApi,
    PinningApi,
    StarsApi {
  // Account. The password goes in, and only values derived from it come out.

  /**
   * Draws Argon2id parameters and derives the key that the relay gets as the password, and the public key by
   * which it verifies proofs. Keeps the wrapping key for {@link createVault}.
   */
  beginSignUp(
    password: string,
  ): Promise<{ authKey: WireBytes; proofKey: WireBytes; passwordParams: PasswordParams }>;
  /**
   * Derives the keys for the relay as {@link beginSignUp} does. Errors: `unsupported` when its parameters are
   * too weak or too heavy to be honest.
   */
  beginLogin(
    password: string,
    passwordParams: PasswordParams,
  ): Promise<{ authKey: WireBytes; proofKey: WireBytes }>;
  /**
   * Creates a vault for an account that has none, for PUT /vault. Nothing is kept until {@link openVault}.
   */
  createVault(userId: string): Promise<SealedVault>;
  /**
   * Opens the vault with the password of beginSignUp/beginLogin, and this person's storage. What certifies a
   * device is kept until {@link forgetVault}. Errors: `wrong-password`.
   */
  openVault(userId: string, vault: StoredVault): Promise<void>;
  /** Signing in is over: wipes the account seed, which only the password or the recovery key opens again. */
  forgetVault(): Promise<void>;
  /**
   * Reopens the session after a reload, without the password. False when this browser's storage can't be
   * opened: sign in again.
   */
  resume(userId: string): Promise<boolean>;
  /** Opens this browser's device, which is created once. */
  openDevice(): Promise<OpenedDevice>;
  /**
   * Draws the start that this worker's opening of the storage is, or returns it as another tab has drawn it since, for
   * PUT /devices/me/start. Errors: `device-copied`.
   */
  start(): Promise<SignedStart>;
  /**
   * Takes in the start that the relay has: `registered` if it is the newest of this storage, `again` if the newest has to
   * be brought there again. With `copied`, another place has registered one: nothing is encrypted here any more.
   */
  startAnswered(answer: {
    readonly number: number;
    readonly tag: WireBytes;
  }): Promise<'registered' | 'again' | 'copied'>;
  /** Signs that this device's data is in two places, for POST /devices/{id}/copied. */
  signCopied(): Promise<WireBytes>;
  /** The relay says that this device's data is in two places: the next sign-in makes another device. */
  markCopied(): Promise<void>;
  /** The relay knows that the former device of {@link openDevice} is revoked. */
  formerTold(deviceId: string): Promise<void>;
  /**
   * Signs that this device takes a session, for PUT /devices/{id}.
   * @param sessionId the id of the relay's session
   */
  signSession(sessionId: string): Promise<WireBytes>;
  /** Creates single-use KeyPackages of a suite for the relay; their private halves stay here. */
  createKeyPackages(
    count: number,
    lastResort: boolean,
    suite: KeyPackageSuite,
  ): Promise<{ keyPackages: WireBytes[]; lastResort: WireBytes | null }>;
  /** Leaves out KeyPackages whose lifetime is over, by which nobody can be added any more. */
  usableKeyPackages(claimed: readonly ClaimedKeyPackage[]): Promise<ClaimedKeyPackage[]>;
  /** Logs out: destroys the session's wrapped storage key, opened or not; the sealed records stay. */
  lock(): Promise<void>;
  /** Logs out and erases this browser. Other tabs of the person are locked by it. Errors: `locked`. */
  erase(): Promise<void>;

  // Local store: small named values of the interface (profile, contacts, drafts, recent emojis). They stay in
  // this browser, sealed with their names, until it is erased.

  /** Lists the entries whose names begin with the prefix, or all without one, in no order. */
  localEntries(prefix?: string): Promise<LocalEntry[]>;
  /** Reads the text of an entry; null when there is none. */
  readLocal(name: string): Promise<string | null>;
  /**
   * Writes an entry; null removes it. Errors: `usage` for more than 4 MiB of UTF-8, a name that is empty or
   * longer than 200 characters, or an entry beyond the 2,000th.
   */
  writeLocal(name: string, text: string | null): Promise<void>;

  /** Tells whether the browser keeps this origin's storage until the person clears it, also when its disk is full. */
  isStorageKept(): Promise<boolean>;
}

export interface LocalEntry {
  readonly name: string;
  readonly text: string;
}

/**
 * The interface that the worker exposes over Comlink: one call that answers failures as values, since Comlink
 * drops their codes.
 */
export interface CryptoWorker<Api = CryptoApi> {
  call(method: keyof Api, args: unknown[]): Promise<CallResult>;
}

export type CallResult =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly code: string; readonly detail: string };
