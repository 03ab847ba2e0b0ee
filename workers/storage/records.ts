/** The shapes of the stored records. Each is decoded strictly when it is read. */
import { cryptoApiErrorCodes } from '../api/errors.ts';
import { sendFailures } from '../api/sendFailures.ts';
import {
  array,
  boolean,
  type Guarded,
  integer,
  nullable,
  object,
  oneOf,
  oneOfOr,
  string,
  withDefault,
} from '../codec/guards.ts';
import { bytes } from '../codec/json.ts';
import { limits } from '../codec/limits.ts';
import { agreedFields, contentId, nothingAgreed } from './agreedRecord.ts';
import type { Transaction } from './db.ts';
import type { Sealer } from './sealer.ts';

const id = string(128);
const timestamp = string(64);
/** Codes as another version wrote them may have gone since: the record is as good without. */
const errorCode = oneOfOr('internal', cryptoApiErrorCodes);
const sendFailure = oneOfOr('internal', sendFailures);

/** All that a device keeps of the vault. What certifies and revokes devices, and the key of the vault, it doesn't. */
export const KeysRecord = object({
  /** Oldest first. */
  sharedKeys: array(
    object({ revision: integer(0, 0xff_ffff), stateKey: bytes(32, 32), historyKey: bytes(32, 32) }),
    limits.sharedKeys,
  ),
  /** The version at the relay of the vault that they came with. */
  vaultVersion: integer(0),
  /**
   * The public proof keys of the password, by which a typed one is checked here, and of those that it was changed to: this
   * device can't know whether the relay has taken them.
   */
  proofKeys: array(bytes(32, 32), limits.proofKeys),
  /** The newest of `sharedKeys` as the account key has signed them, oldest first; none from an earlier version. */
  statements: withDefault(
    array(
      object({ revision: integer(1, 0xff_ffff), statement: bytes(limits.keysStatement) }),
      limits.keysStatements,
    ),
    [],
  ),
});
export type KeysRecord = Guarded<typeof KeysRecord>;

export const DeviceRecord = object({
  deviceId: id,
  signatureSeed: bytes(32, 32),
  certificate: bytes(1024, 1),
  /** The account key's word that this device is revoked, signed with the certificate for whoever erases the browser. */
  ownRevocation: withDefault(nullable(bytes(limits.revocation)), null),
  /** The account keys that the person has moved on from, as far as this browser was there. */
  formerAccountKeys: withDefault(array(bytes(32, 32), limits.formerKeys), []),
});
export type DeviceRecord = Guarded<typeof DeviceRecord>;

/**
 * The start of this device's storage (PROTOCOL section 3). Every worker that opens the storage draws another one, so that
 * none is in two places.
 */
export const StartRecord = object({
  number: integer(1),
  tag: bytes(16, 16),
  /** The number of the newest start that the relay is known to have taken; 0 before the first. */
  confirmed: integer(0),
  /** Tags of starts before this one, of which the relay may have any: it has not answered for this one yet. */
  former: array(bytes(16, 16), limits.formerStarts),
  /** The device's data was found in another place: this device encrypts nothing any more. */
  isCopied: boolean,
});
export type StartRecord = Guarded<typeof StartRecord>;

/** The device that this browser was before its data was found in two places, until the relay has been told. */
export const FormerDeviceRecord = object({
  deviceId: id,
  /** The device's own word for it. */
  signature: bytes(64, 64),
  /** The account key's word that it is revoked. */
  statement: bytes(limits.revocation),
});
export type FormerDeviceRecord = Guarded<typeof FormerDeviceRecord>;

/** A username as a device of its owner has signed it. */
export const NameRecord = object({ username: string(limits.memberName), revision: integer(0), deviceId: id });
export type NameRecord = Guarded<typeof NameRecord>;

/** A pin: the account key by which a person is known. Times are milliseconds since the Unix epoch. */
export const PinRecord = object({
  accountKey: bytes(32, 32),
  firstSeen: integer(0),
  /** The time at which their safety number was compared; null if it was not. */
  verifiedAt: withDefault(nullable(integer(0)), null),
  /** Another account key that was seen for them, until this person accepts or refuses it. */
  offered: withDefault(nullable(bytes(32, 32)), null),
  /** Further keys that the person's devices have seen for them before that one, which one decision settles. */
  waiting: withDefault(array(bytes(32, 32), limits.offeredKeys), []),
  /** The former account keys, each with the time at which another was accepted in its place. */
  former: withDefault(array(object({ accountKey: bytes(32, 32), until: integer(0) }), limits.formerKeys), []),
  /** The account keys that this person has refused last. */
  refused: withDefault(array(bytes(32, 32), limits.formerKeys), []),
  /** Their name, under the present account key; null where they have signed none that was seen. */
  name: withDefault(nullable(NameRecord), null),
});
export type PinRecord = Guarded<typeof PinRecord>;

/** The running hash at a position of a log, and the position after which it starts. */
export const LogPositionRecord = object({ start: integer(0), position: integer(0), hash: bytes(32, 32) });

/** A position up to which the person has read, and when (ms since the Unix epoch): the clocks of what disappears start then. */
export const ReadingRecord = object({ seq: integer(1), at: integer(0, limits.latestTime) });

const nothingTold = { epoch: 0, position: 0, readSeq: 0 };

/**
 * The conversation record: position, membership and counters. Each transaction writes it, so nothing in it
 * grows with the group.
 */
export const ConversationRecord = object({
  /** `forked`: a commit was refused that the others may have followed. */
  membership: oneOf('none', 'member', 'forked'),
  /** With `forked`: the reason, which messages that can't be read until the rejoin show as well. */
  forkReason: oneOf('damaged', 'rules', 'unknown-device', 'storage-erased', 'expired'),
  /** Counts the changes of the group: a tab whose cached group is of another version loads it again. */
  version: integer(0),
  /** The version at which the epoch's record was written. */
  epochVersion: integer(0),
  epoch: integer(0),
  lastSeq: integer(0),
  joinedSeq: integer(0),
  readSeq: integer(0),
  /** The part of `readSeq` that was read on this device, which its receipts tell. */
  readHere: withDefault(integer(0), 0),
  /** The content of this device's receipt at the relay. */
  told: withDefault(object({ epoch: integer(0), position: integer(0), readSeq: integer(0) }), nothingTold),
  unread: integer(0, limits.unread),
  pending: oneOf('none', 'start', 'member', 'external'),
  /** The epoch that the pending commit ends. */
  pendingEpoch: integer(0),
  /**
   * The time of this device's last commit with a path (ms since the Unix epoch); null until its first since
   * it joined.
   */
  committedAt: nullable(integer(0)),
  sentSinceCommit: integer(0),
  /** The relay's time of the entry at joinedSeq; null until that was seen. */
  joinedAt: withDefault(nullable(timestamp), null),
  /** The entry at joinedSeq, not seen yet, added this device again to a group that it was in before. */
  returning: withDefault(boolean, false),
  /** With `returning`: `joinedAt` as it was before, since the messages of that time stay readable. */
  joinedBefore: withDefault(nullable(timestamp), null),
  /**
   * With `forked`: the code with which the commit was refused. With `member`: `identity-changed` while the log is read no
   * further than to a commit that waits for the person's word on a changed account key.
   */
  refusal: withDefault(nullable(errorCode), null),
  /**
   * Among the person's own devices: the revision of the newest shared keys that one of them has said here, or that this
   * one had when it came in.
   */
  saidRevision: withDefault(integer(0), 0),
  /**
   * The running hash at lastSeq, the position after which it starts, and how many entries from this device it has seen. Null
   * in conversations from before it was kept, until a header starts it, and where `linkFrom` is set.
   */
  chain: withDefault(nullable(object({ start: integer(0), hash: bytes(32, 32), own: integer(0) })), null),
  /** This device joined by a GroupInfo of this position, and has not been given all entries since yet. */
  linkFrom: withDefault(nullable(integer(0)), null),
  /** Something was found that the person of a direct conversation has not sent on in spite of. */
  isDoubted: withDefault(boolean, false),
  /** The latest clock of a sender that was believed (ms since the Unix epoch). */
  latestSentAt: withDefault(integer(0), 0),
  /** The highest position at which another device had read the same log. */
  agreedAt: withDefault(integer(0), 0),
  /** The position up to which messages are from versions that kept no content ids. */
  withoutIds: withDefault(integer(0), Number.MAX_SAFE_INTEGER),
  ...agreedFields,
  /** Positions up to which another own device has read, and when, of entries that are still to come here. */
  readElsewhere: withDefault(array(ReadingRecord, limits.readingsTold), []),
});
export type ConversationRecord = Guarded<typeof ConversationRecord>;

export type ForkReason = ConversationRecord['forkReason'];

export const newConversationRecord: ConversationRecord = {
  membership: 'none',
  forkReason: 'damaged',
  version: 0,
  epochVersion: 0,
  epoch: 0,
  lastSeq: 0,
  joinedSeq: 0,
  readSeq: 0,
  readHere: 0,
  told: nothingTold,
  unread: 0,
  pending: 'none',
  pendingEpoch: 0,
  committedAt: null,
  sentSinceCommit: 0,
  joinedAt: null,
  returning: false,
  joinedBefore: null,
  refusal: null,
  saidRevision: 0,
  chain: null,
  linkFrom: null,
  isDoubted: false,
  latestSentAt: 0,
  agreedAt: 0,
  withoutIds: Number.MAX_SAFE_INTEGER,
  ...nothingAgreed,
  readElsewhere: [],
};

export const MembersRecord = array(object({ userId: id, deviceIds: array(id, 100_000) }), 100_000);
export type MembersRecord = Guarded<typeof MembersRecord>;

/** Ids of own devices that were taken out of the own devices' group, the last ones. */
export const RemovedRecord = array(id, limits.devicesPerPerson);
export type RemovedRecord = Guarded<typeof RemovedRecord>;

/** A pending commit: the group after it, and the parts that the relay is given. */
export const PendingRecord = object({
  group: bytes(64 * 1024 * 1024),
  ratchets: array(object({ key: string(32), value: bytes(1024 * 1024) }), 1_000_000),
  commit: bytes(limits.commit),
  welcome: nullable(bytes(limits.welcome)),
  welcomeDeviceIds: array(id, limits.devicesPerStart),
  groupInfo: bytes(limits.groupInfo),
  /** Where the tree is beside: a Welcome for each person, and the nodes of the tree that the commit changes. */
  welcomeParts: withDefault(
    array(
      object({ deviceIds: array(id, limits.devicesPerStart), welcome: bytes(limits.welcome) }),
      limits.devicesPerStart,
    ),
    [],
  ),
  tree: withDefault(
    nullable(object({ hash: bytes(32, 32), parts: array(bytes(limits.treeNodes), limits.treeCalls) })),
    null,
  ),
  /** It gives this device's leaf new keys. */
  renewsLeaf: withDefault(boolean, true),
  sealedName: withDefault(nullable(bytes(limits.sealedName)), null),
  /** People whom it adds, and people who left whom it removes. */
  addedIds: withDefault(array(id, limits.devicesPerStart), []),
  removedIds: withDefault(array(id, limits.devicesPerStart), []),
  /** With an external commit: how far the signer of the GroupInfo had read, and who that is. */
  logPosition: withDefault(nullable(LogPositionRecord), null),
  logSigner: withDefault(nullable(object({ userId: id, deviceId: id })), null),
});
export type PendingRecord = Guarded<typeof PendingRecord>;

/** The parts that the relay is given. */
export type Submission = Omit<PendingRecord, 'group' | 'ratchets'>;

/** The group record: a device's knowledge of a group beside the MLS state. */
export const GroupRecord = object({
  creatorId: id,
  name: nullable(string(limits.groupName * 2)),
  /**
   * Devices that joined from outside since the last commit of a device that knows the name. They can't open
   * the name at the relay until such a device commits again.
   */
  namelessDevices: array(id, limits.devicesPerStart),
  /** The valid leave statements of people who are still in the tree. */
  departures: array(object({ userId: id, statement: bytes(limits.leaveStatement) }), limits.devicesPerStart),
  /** People whose adding the rules refused here; at the creator's devices also those with invalid certificates only. */
  uninvitedIds: array(id, limits.devicesPerStart),
  /** Members of whom no device is in the tree since theirs were revoked: their next one can come in by the creator alone. */
  withoutDeviceIds: withDefault(array(id, limits.devicesPerStart), []),
  /**
   * People in a tree that this device came back to, whom it had not known there and for whom no device of the creator has
   * vouched since. Messages wait for the person's word on those who aren't kept.
   */
  unvouched: withDefault(array(object({ userId: id, isKept: boolean }), limits.devicesPerStart), []),
  /**
   * A device of the creator vouches for the tree that was joined last, which means that the group has been
   * repaired.
   */
  vouchedFor: boolean,
  /** At the creator's devices: signature keys of leaves in the tree whose certificates are invalid. */
  distrustedKeys: array(bytes(64), limits.devicesPerStart),
});
export type GroupRecord = Guarded<typeof GroupRecord>;

/** The people of a group on whom messages wait for the person's word. */
export function awaitedIds({ unvouched }: Pick<GroupRecord, 'unvouched'>): string[] {
  return unvouched.filter(({ isKept }) => !isKept).map(({ userId }) => userId);
}

/** Returns whether a device has joined that can't open the name as the relay has it. */
export function isNameDue({ name, namelessDevices }: Pick<GroupRecord, 'name' | 'namelessDevices'>): boolean {
  return name !== null && namelessDevices.length > 0;
}

/** An entry of the message cache: the payload as it came, or the reason why there is none. */
export const MessageRecord = object({
  senderId: id,
  senderDeviceId: id,
  timestamp,
  own: boolean,
  payload: nullable(string(limits.storedPayload)),
  reason: nullable(oneOf('before-join', 'storage-erased', 'damaged', 'deleted', 'unknown-device', 'rules')),
  /** The sender's clock (ms since the Unix epoch), as its header says; null without one. */
  sentAt: withDefault(nullable(integer(0)), null),
  /** `sentAt` is too far from the relay's time, or before what that device had said last. */
  isClockOff: withDefault(boolean, false),
  /** The epoch it was encrypted in; null where that isn't known. */
  epoch: withDefault(nullable(integer(0)), null),
  /** The time at which it disappears (ms since the Unix epoch); null before it was read, and of one that stays. */
  expiresAt: withDefault(nullable(integer(0)), null),
  /** Left of one that was deleted, in place of its payload. */
  erased: withDefault(
    nullable(
      object({
        /** Its content id; null of one that could not be read. */
        id: nullable(contentId),
        /** The content id of what an edit replaced. */
        of: nullable(contentId),
        /** The chat says that it was deleted; without it, the person sees nothing of it. */
        isShown: boolean,
        /** Deleted by its author for everybody, by this person on this device, a reaction that counts no more, or over. */
        how: oneOf('everywhere', 'here', 'spent', 'expired'),
      }),
    ),
    null,
  ),
});
export type MessageRecord = Guarded<typeof MessageRecord>;

export const OutboxRecord = object({
  /** `discarded`: hidden, and kept only until its ciphertext can't reach the log any more. */
  status: oneOf('sending', 'failed', 'sent', 'discarded'),
  failure: nullable(sendFailure),
  payload: string(limits.payload),
  sentAt: timestamp,
  /** The epoch of `ciphertext`. */
  epoch: nullable(integer(0)),
  ciphertext: nullable(bytes(limits.content)),
  seq: nullable(integer(1)),
  timestamp: nullable(timestamp),
  /**
   * The time of the first acknowledgement by this device's clock (ms since the Unix epoch); null until then, and from versions
   * that went by the relay's time.
   */
  acceptedAt: withDefault(nullable(integer(0)), null),
  /** The position in the header of `ciphertext`; null for one from before there were headers. */
  headerAt: withDefault(nullable(integer(0)), null),
  /** It has disappeared before the log showed it: its content id, and no payload. */
  expired: withDefault(nullable(contentId), null),
});
export type OutboxRecord = Guarded<typeof OutboxRecord>;

/** How far this device knows the account state. It is there once that was read, or the relay had none. */
export const MarksRecord = object({
  /** The revision of the newest state whose marks count here; -1 for none. */
  revision: integer(-1),
  /** One was signed by a device of the person's: those that aren't count no more. */
  hasSigned: withDefault(boolean, false),
  /** The other live device of the person's that has signed one last. */
  signerId: withDefault(nullable(id), null),
});
export type MarksRecord = Guarded<typeof MarksRecord>;

export const newMarksRecord: MarksRecord = { revision: -1, hasSigned: false, signerId: null };

/** An entry of the local store. The record includes the name, since its key hides it. */
export const LocalEntryRecord = object({
  name: string(limits.localEntryName),
  text: string(limits.localEntryText),
});
export type LocalEntryRecord = Guarded<typeof LocalEntryRecord>;

const Name = object({ userId: id, name: string(limits.memberName) });
export const NamesRecord = array(Name, limits.namesPerGroup);
export type NamesRecord = Guarded<typeof NamesRecord>;

/** Reads the conversation record; for an unknown conversation, returns a new one of a device that is outside. */
export async function readConversation(
  tx: Transaction,
  sealer: Sealer,
  conversationId: string,
): Promise<ConversationRecord> {
  const sealed = await tx.objectStore('heads').get(conversationId);
  return sealed === undefined
    ? { ...newConversationRecord }
    : sealer.open('heads', conversationId, sealed, ConversationRecord);
}
