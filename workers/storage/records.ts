/**
 * What is stored, and in which shape. Each record is sealed for the store and key it stands under, so that
 * one can't be put in the place of another, and is decoded strictly when it comes back.
 */
import { CryptoError, type Env, hiddenRecordKey, openRecord, sealRecord, toHex } from '@sinetti/crypto-core';
import { CryptoApiError } from '../api/errors.ts';
import {
  array,
  boolean,
  type Guard,
  type Guarded,
  GuardFailure,
  integer,
  nullable,
  object,
  oneOf,
  string,
  withDefault,
} from '../codec/guards.ts';
import { bytes, decodeJson, encodeJson } from '../codec/json.ts';
import { limits } from '../codec/limits.ts';
import type { StoreName, Transaction } from './db.ts';

const id = string(128);
const timestamp = string(64);

export const VaultRecord = object({
  accountSeed: bytes(32, 32),
  historyKey: bytes(32, 32),
  /** What the vault at the relay is sealed under: for a new wrap, or new marks. */
  vaultKey: bytes(32, 32),
});
export type VaultRecord = Guarded<typeof VaultRecord>;

export const DeviceRecord = object({
  deviceId: id,
  signatureSeed: bytes(32, 32),
  certificate: bytes(1024, 1),
});
export type DeviceRecord = Guarded<typeof DeviceRecord>;

/** The account key that a person is known by. Times are milliseconds since the Unix epoch. */
export const PinRecord = object({
  accountKey: bytes(32, 32),
  firstSeen: integer(0),
  /** When their safety number was compared; null if it was not. */
  verifiedAt: withDefault(nullable(integer(0)), null),
  /** Another account key that was seen for them, until the person accepts or refuses it. */
  offered: withDefault(nullable(bytes(32, 32)), null),
  /** The account keys before this one, and when another was accepted in their place. */
  former: withDefault(array(object({ accountKey: bytes(32, 32), until: integer(0) }), limits.formerKeys), []),
});
export type PinRecord = Guarded<typeof PinRecord>;

/** Where a conversation stands. Rewritten with each step, so nothing in it grows with the group. */
export const ConversationRecord = object({
  /** `forked`: a commit was refused that the others may have followed. */
  membership: oneOf('none', 'member', 'forked'),
  /** With `forked`: why, which is also what becomes of the messages that can't be read until the rejoin. */
  forkReason: oneOf('damaged', 'rules', 'unknown-device', 'storage-erased'),
  /** Counts the steps: a tab whose group in memory is of another version loads it again. */
  version: integer(0),
  /** The version at which the epoch's record was written. */
  epochVersion: integer(0),
  epoch: integer(0),
  lastSeq: integer(0),
  joinedSeq: integer(0),
  readSeq: integer(0),
  peerReadSeq: integer(0),
  unread: integer(0, limits.unread),
  pending: oneOf('none', 'start', 'member', 'external'),
  /** The epoch that the pending commit ends. */
  pendingEpoch: integer(0),
  /**
   * When this device last committed a path (ms since the Unix epoch); null until it has since it was let in.
   */
  committedAt: nullable(integer(0)),
  sentSinceCommit: integer(0),
  /** The relay's time of the entry at joinedSeq, once it was seen. */
  joinedAt: withDefault(nullable(timestamp), null),
  /** The entry at joinedSeq, not seen yet, added this device again to a group that it was in before. */
  returning: withDefault(boolean, false),
  /** With `returning`: `joinedAt` as it was, since what this device read then stays readable. */
  joinedBefore: withDefault(nullable(timestamp), null),
  /** With `forked`: the code that the commit was refused with. */
  refusal: withDefault(nullable(string(64)), null),
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
  peerReadSeq: 0,
  unread: 0,
  pending: 'none',
  pendingEpoch: 0,
  committedAt: null,
  sentSinceCommit: 0,
  joinedAt: null,
  returning: false,
  joinedBefore: null,
  refusal: null,
};

export const MembersRecord = array(object({ userId: id, deviceIds: array(id, 100_000) }), 100_000);
export type MembersRecord = Guarded<typeof MembersRecord>;

/** The group after an own commit that waits for its place in the log, and what was given to the relay. */
export const PendingRecord = object({
  group: bytes(64 * 1024 * 1024),
  ratchets: array(object({ key: string(32), value: bytes(1024 * 1024) }), 1_000_000),
  commit: bytes(limits.commit),
  welcome: nullable(bytes(limits.welcome)),
  welcomeDeviceIds: array(id, limits.devicesPerStart),
  groupInfo: bytes(limits.groupInfo),
  sealedName: withDefault(nullable(bytes(limits.sealedName)), null),
  /** People it brings in, and people who left that it removes. */
  addedIds: withDefault(array(id, limits.devicesPerStart), []),
  removedIds: withDefault(array(id, limits.devicesPerStart), []),
});
export type PendingRecord = Guarded<typeof PendingRecord>;

/** What the relay is given of a pending commit. */
export type Submission = Omit<PendingRecord, 'group' | 'ratchets'>;

/** What is known of a group of people beside its tree. */
export const GroupRecord = object({
  creatorId: id,
  name: nullable(string(limits.groupName * 2)),
  /**
   * Devices that joined from outside since the last commit of one that knows the name: there is none at the
   * relay for them to open, until one that knows it commits again.
   */
  namelessDevices: array(id, limits.devicesPerStart),
  /** Statements that hold, of people who are in the tree. */
  departures: array(object({ userId: id, statement: bytes(limits.leaveStatement) }), limits.devicesPerStart),
  /** People whose adding was refused here. */
  uninvitedIds: array(id, limits.devicesPerStart),
  /** A device of the creator signed the tree that was joined last: it has been put right. */
  vouchedFor: boolean,
  /** At the creator's devices: signature keys of leaves in the tree whose certificates don't hold. */
  distrustedKeys: array(bytes(64), limits.devicesPerStart),
});
export type GroupRecord = Guarded<typeof GroupRecord>;

/** An entry of the preserved-message cache: the payload as it came, or the reason why there is none. */
export const MessageRecord = object({
  senderId: id,
  senderDeviceId: id,
  timestamp,
  own: boolean,
  payload: nullable(string(limits.content)),
  reason: nullable(oneOf('before-join', 'storage-erased', 'damaged', 'unknown-device', 'rules')),
});
export type MessageRecord = Guarded<typeof MessageRecord>;

export const OutboxRecord = object({
  /** `discarded`: hidden, and kept only until its ciphertext can't reach the log any more. */
  status: oneOf('sending', 'failed', 'sent', 'discarded'),
  failure: nullable(string(64)),
  payload: string(limits.payload),
  sentAt: timestamp,
  /** The epoch of `ciphertext`. */
  epoch: nullable(integer(0)),
  ciphertext: nullable(bytes(limits.content)),
  seq: nullable(integer(1)),
  timestamp: nullable(timestamp),
});
export type OutboxRecord = Guarded<typeof OutboxRecord>;

/** Which vault's marks of verified people count here. */
export const MarksRecord = object({ revision: integer(0) });
export type MarksRecord = Guarded<typeof MarksRecord>;

/** How this device stands with the copies of messages at the relay. */
export const BackupRecord = object({
  /** Whether the person wants copies to be kept. */
  kept: boolean,
  /** Counts the changes of that: an older choice doesn't come back, whatever the relay shows. */
  version: integer(0),
  /** The person's other devices have been told of it. */
  isTold: boolean,
  /** Of the newest copy that this device has read or left there. */
  position: integer(0),
});
export type BackupRecord = Guarded<typeof BackupRecord>;

/** All messages of a conversation up to here have copies, where they can. */
export const BackupPositionRecord = object({ upTo: integer(0) });
export type BackupPositionRecord = Guarded<typeof BackupPositionRecord>;

/** The name is inside, too: the record stands under a hidden key. */
export const LocalEntryRecord = object({
  name: string(limits.localEntryName),
  text: string(limits.localEntryText),
});
export type LocalEntryRecord = Guarded<typeof LocalEntryRecord>;

/** What happened at a position of the log beside messages. */
export const EventRecord = object({
  kind: oneOf('members', 'refused', 'rejoined', 'returned'),
  senderId: id,
  senderDeviceId: id,
  timestamp,
  /** With `refused`. */
  code: nullable(string(64)),
  /** People, by the keys. */
  added: array(id, 100_000),
  removed: array(id, 100_000),
});
export type EventRecord = Guarded<typeof EventRecord>;

export const NamesRecord = array(
  object({ userId: id, name: string(limits.memberName) }),
  limits.namesPerGroup,
);
export type NamesRecord = Guarded<typeof NamesRecord>;

/** Seals and opens a person's records. */
export class Sealer {
  #storageKey: Uint8Array | null;
  readonly #env: Env;

  constructor(storageKey: Uint8Array, env: Env) {
    this.#storageKey = storageKey;
    this.#env = env;
  }

  sealBytes(store: StoreName, key: string, plaintext: Uint8Array): Uint8Array {
    return sealRecord(this.#key(), store, key, plaintext, this.#env);
  }

  /** @throws CryptoError `corrupt-record` */
  openBytes(store: StoreName, key: string, sealed: Uint8Array): Uint8Array {
    return openRecord(this.#key(), store, key, sealed);
  }

  seal(store: StoreName, key: string, record: object): Uint8Array {
    return this.sealBytes(store, key, encodeJson(record));
  }

  /** @throws CryptoError `corrupt-record`, also for a record that opens but isn't of its shape */
  open<T>(store: StoreName, key: string, sealed: Uint8Array, guard: Guard<T>): T {
    const plaintext = this.openBytes(store, key, sealed);
    try {
      return decodeJson(plaintext, guard);
    } catch (error) {
      if (error instanceof GuardFailure)
        throw new CryptoError('corrupt-record', `${store}: ${error.message}`);
      throw error;
    }
  }

  /** The key of a record that must not show what it is of, in hexadecimal. */
  hiddenKey(store: StoreName, key: string): string {
    return toHex(hiddenRecordKey(this.#key(), store, key));
  }

  /** Forgets the key: a step under way fails instead of sealing under what is left of it. */
  wipe(): void {
    this.#storageKey?.fill(0);
    this.#storageKey = null;
  }

  #key(): Uint8Array {
    if (this.#storageKey === null) throw new CryptoApiError('locked');
    return this.#storageKey;
  }
}

/** The conversation of a conversation; of an unknown one, that of an outsider. */
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

/** The key under which a compound-key record is sealed. */
export function sealingKey(conversationId: string, key: string | number): string {
  return `${conversationId}/${key}`;
}
