/** Checks of the arguments that the page passes in, made before anything uses them; a breach is `usage`. */

import { TIMER_LIMITS } from '@sinetti/crypto-core/account';
import {
  array,
  boolean,
  type Guard,
  GuardFailure,
  integer,
  nullable,
  object,
  oneOf,
  string,
  withDefault,
} from '../codec/guards.ts';
import { bytes } from '../codec/json.ts';
import { limits } from '../codec/limits.ts';
import { BLOB_ID, fileKinds, LOUDEST, previewTypes } from './attachedFile.ts';
import { CryptoApiError } from './errors.ts';
import type { MessageChange } from './outboxApi.ts';
import { operationKinds } from './prompt.ts';
import { sendFailures } from './sendFailures.ts';

/** @throws CryptoApiError `usage`, naming the method and the field */
export function check<T>(method: string, guard: Guard<T>, value: unknown): T {
  try {
    return guard(value);
  } catch (error) {
    if (error instanceof GuardFailure) throw new CryptoApiError('usage', `${method}: ${error.message}`);
    throw error;
  }
}

const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const epoch = integer(0);
const seq = integer(0);
const written = string(64, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/);
const timestamp: Guard<string> = (value) => {
  const text = written(value);
  if (Number.isNaN(Date.parse(text))) throw new GuardFailure('a time');
  return text;
};

export const Id = string(36, new RegExp(`^${UUID}$`));
export const ConversationId = string(128, new RegExp(`^(?:direct:${UUID}:${UUID}|(?:group|self):${UUID})$`));
export const Password = string(limits.password);
export const SendFailureCode = oneOf(...sendFailures);

export const PasswordParams = object({
  salt: bytes(16, 16),
  opsLimit: integer(1, 0xffff_ffff),
  memLimit: integer(1),
});

/** A vault's version at the relay. */
const vaultVersion = integer(1, 0xff_fffe);

export const StoredVault = object({
  sealedVault: bytes(limits.sealedVault),
  passwordWrap: bytes(limits.keyWrap),
  version: vaultVersion,
});

export const RecoverableVault = object({
  sealedVault: bytes(limits.sealedVault),
  recoveryWrap: bytes(limits.keyWrap),
  version: vaultVersion,
});

/** A start of a device as the relay has it. */
export const RegisteredStart = object({ number: integer(1), tag: bytes(16, 16) });

/** Bytes as base64url, that are only compared. */
export const WireText = string(2 * limits.sealedVault);

export const SealedState = nullable(
  object({
    sealed: bytes(limits.accountState),
    segments: array(bytes(limits.stateSegment), limits.stateSegments),
  }),
);

/** Text as people type it; crypto-core decides whether it is a recovery key. */
export const RecoveryKeyText = string(512);

export const DeviceRevocation = object({ vault: StoredVault, deviceId: Id });
export const MoveOn = object({ vault: StoredVault, deviceIds: array(Id, limits.devicesPerPerson) });
export const Operation = object({
  kind: oneOf(...operationKinds),
  target: string(limits.operationTarget),
  id: nullable(Id),
});

export const PasswordOwner = object({
  username: string(limits.operationTarget),
  passwordParams: PasswordParams,
});

/** The relay's, good for one proof or one signature of the device. */
export const RelayNonce = bytes(32, 32);

export const ProofRequest = object({
  operation: string(limits.proofOperation, /./),
  body: string(limits.proofBody),
  replaces: integer(0, 0xffff_ffff),
  session: Id,
  nonce: RelayNonce,
});

export const Revocation = bytes(limits.revocation);

export const RevokedDevices = array(
  object({ userId: Id, deviceId: Id, statement: Revocation }),
  limits.devicesPerPerson,
);

export const Certificates = array(bytes(limits.certificate), limits.devicesPerPerson);
export const SafetyNumber = string(60, /^\d{60}$/);
export const VerifiedMark = object({ userId: Id, safetyNumber: SafetyNumber, verified: boolean });

export const OwnName = string(limits.memberName, /./);
export const SignedNames = array(
  object({ userId: Id, signedName: bytes(limits.signedName) }),
  limits.devicesPerPerson,
);

export const KeyPackageCount = integer(0, limits.keyPackagesPerCall);

/** The suites of KeyPackages, and so of conversations that begin: that of new ones first (PROTOCOL section 1). */
export const keyPackageSuites = [0xf04d, 0x004d] as const;
export type KeyPackageSuite = (typeof keyPackageSuites)[number];
export const Suite = oneOf(...keyPackageSuites);

export const ClaimedKeyPackages = array(
  object({ userId: Id, deviceId: Id, keyPackage: bytes(limits.keyPackage) }),
  limits.devicesPerStart,
);

export const StartInput = object({
  conversationId: ConversationId,
  keyPackages: ClaimedKeyPackages,
  // UTF-16 units here; the characters are counted once it is trimmed.
  group: withDefault(nullable(object({ name: string(limits.text) })), null),
});

export const AddMembersInput = object({ conversationId: ConversationId, keyPackages: ClaimedKeyPackages });

export const GroupEnding = oneOf('delete', 'leave');
export const LeaveStatement = bytes(limits.leaveStatement);

export const LeaveStatements = array(
  object({ userId: Id, statement: LeaveStatement }),
  limits.devicesPerStart,
);

export const GroupNameInput = object({
  conversationId: ConversationId,
  sealedName: bytes(limits.sealedName),
  epoch,
});

export const MemberNames = array(
  object({ userId: Id, name: string(limits.memberName) }),
  limits.namesPerGroup,
);

export const WelcomeInput = object({
  conversationId: ConversationId,
  epoch,
  seq: integer(1),
  welcome: bytes(limits.welcome),
  tree: withDefault(nullable(bytes(limits.tree)), null),
});

export const ExternalInput = object({
  conversationId: ConversationId,
  epoch,
  groupInfo: bytes(limits.groupInfo),
  tree: withDefault(nullable(bytes(limits.tree)), null),
});

const Digest = string(43, /^[A-Za-z0-9_-]{43}$/);

export const Digests = array(object({ seq: integer(1), digest: Digest }), limits.entriesPerCall);

/** An entry of a log. The content stays undecoded text, since a peer chose it and one bad entry must not stop the others. */
export const LogEntry = object({
  id: Id,
  seq: integer(1),
  epoch,
  kind: oneOf('application', 'commit'),
  sender_id: Id,
  sender_device_id: Id,
  content: string(Math.ceil((limits.commit * 4) / 3)),
  timestamp,
  digest: withDefault<string | undefined>(Digest, undefined),
  expired: withDefault<boolean | undefined>(boolean, undefined),
});
export const LogEntries = array(LogEntry, limits.entriesPerCall);

export const Retention = withDefault(
  nullable(
    object({
      days: integer(1),
      ownReceipt: nullable(
        object({
          epoch,
          position: integer(1),
          sealed: string(2 * limits.receipt),
          signature: string(128),
        }),
      ),
    }),
  ),
  null,
);
export const IsShown = boolean;
export const IsWriting = boolean;
export const IsPinned = boolean;
export const GivenTyping = object({ userId: Id, deviceId: Id, epoch, content: string(limits.typing) });
export const StoredReceipt = object({ epoch, position: integer(1), readSeq: seq });
/** Receipts of others, undecoded for the same reason as {@link LogEntry}. */
export const GivenReceipts = array(
  object({
    userId: Id,
    deviceId: Id,
    epoch,
    position: integer(1),
    sealed: string(2 * limits.receipt),
    signature: string(128),
  }),
  limits.receiptsPerCall,
);
export const ViewFileText = string(limits.viewFile);

export const Limit = integer(1, limits.messagesPerPage);
export const Before = integer(1);
export const After = integer(0);
export const ReadWhere = oneOf('here', 'elsewhere');
export const Seq = seq;
/** A position in a log; 0 before its first entry. */
export const LogPosition = integer(0);
/** Drafts as the page has them; whether a message could carry them is decided later. */
export const OwnStateInput = object({
  reads: array(object({ conversationId: ConversationId, seq: integer(1) }), limits.pendingReads),
  drafts: array(
    object({ conversationId: ConversationId, text: string(limits.localEntryText) }),
    limits.draftTimes,
  ),
});

/** Until when, in milliseconds since the Unix epoch; the latest that there is for good, 0 for no longer. */
export const MuteInput = object({
  conversationId: ConversationId,
  until: integer(0, limits.latestTime),
  mentions: boolean,
});

const forwardedFields = {
  isForwarded: withDefault(boolean, false),
  isMarkdown: withDefault(nullable(boolean), null),
} as const;

export const QueueInput = object({
  conversationId: ConversationId,
  messageId: Id,
  // UTF-16 units here; the limit in UTF-8 is checked on the encoded payload.
  text: string(limits.text),
  inReplyTo: withDefault(nullable(Id), null),
  ...forwardedFields,
  sentAt: timestamp,
});

export const StarInput = object({
  conversationId: ConversationId,
  of: Id,
  isStarred: boolean,
  messageId: Id,
  sentAt: timestamp,
});

export const ChangeInput = object({
  conversationId: ConversationId,
  messageId: Id,
  change: (value): MessageChange => {
    const { kind } = object({ kind: oneOf('edit', 'deletion', 'reaction') })(value);
    if (kind === 'edit') return { kind, ...object({ of: Id, text: string(limits.text) })(value) };
    if (kind === 'deletion') return { kind, ...object({ of: Id })(value) };
    return { kind, ...object({ of: Id, emoji: string(limits.emoji), isTaken: boolean })(value) };
  },
  sentAt: timestamp,
});

/** Bytes of a file, as a structured clone brings them. */
export const FilePiece: Guard<ArrayBuffer> = (value) => {
  if (value instanceof ArrayBuffer && value.byteLength <= limits.sealedPiece) return value;
  throw new GuardFailure('bytes');
};
export const FileSize = integer(0, limits.fileSize);
export const FileHandle = string(32, /^[0-9a-f]{32}$/);
/** A page of a gallery: the newest messages below `before` that have files of these kinds. */
export const GalleryPageInput = object({
  kinds: array(oneOf(...fileKinds), fileKinds.length),
  before: withDefault(nullable(integer(1)), null),
  limit: integer(1, limits.messagesPerPage),
});
export const FileIndex = integer(0, limits.filesPerMessage - 1);
export const PieceIndex = integer(0, limits.fileSize / limits.filePiece);

const optional = <T>(guard: Guard<T>) => withDefault<T | undefined>(guard, undefined);

export const QueueFilesInput = object({
  conversationId: ConversationId,
  messageId: Id,
  text: string(limits.caption),
  inReplyTo: withDefault(nullable(Id), null),
  ...forwardedFields,
  sentAt: timestamp,
  files: array(
    object({
      fileId: Id,
      blobId: string(22, BLOB_ID),
      name: string(limits.givenFileName),
      type: string(255),
      kind: oneOf(...fileKinds),
      description: string(limits.fileDescription),
      width: optional(integer(1, limits.pictureSide)),
      height: optional(integer(1, limits.pictureSide)),
      duration: optional(integer(1, limits.recording)),
      waveform: optional(array(integer(0, LOUDEST), limits.waveform)),
      preview: withDefault(
        nullable(
          object({
            type: oneOf(...previewTypes),
            bytes: bytes(limits.filePreview, 1),
          }),
        ),
        null,
      ),
    }),
    limits.filesPerMessage,
  ),
});

export const AcceptedInput = object({ seq: integer(1), timestamp });

export const LocalEntryName = string(limits.localEntryName, /./);
export const LocalEntryPrefix = string(limits.localEntryName);
// UTF-16 units here; the limit in UTF-8 is checked where it is written.
export const LocalEntryText = nullable(string(limits.localEntryText));

export const StoredBackupEntries = array(
  object({ id: Id, conversationId: ConversationId, position: integer(1), sealed: bytes(limits.backupEntry) }),
  limits.backupEntriesPerCall,
);

export const BackupEntriesStored = object({
  conversationId: ConversationId,
  upTo: integer(0),
  replaced: withDefault(array(Id, limits.backupEntriesPerCall), []),
  stored: nullable(object({ count: integer(0), lastPosition: integer(0) })),
});

const timed = integer(TIMER_LIMITS.least, TIMER_LIMITS.most);
/** Seconds; 0 for never. */
export const Timer: Guard<number> = (value) => (value === 0 ? 0 : timed(value));
export const Ids = array(Id, 100_000);
