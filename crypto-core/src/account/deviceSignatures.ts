/**
 * Signs a device's calls of the relay, which has its certificate, so that the token of a session, which a thief may have, is not
 * enough to speak for the device (PROTOCOL section 3).
 */
import { concat, utf8 } from '../bytes.ts';
import { encode } from '../codec/writer.ts';
import { signWithLabel, verifyWithLabel } from '../suite/labels.ts';
import { sha256 } from '../suite/sodium.ts';
import { getSuite } from '../suite/suites.ts';

const VERSION = 1;
/** Version 1 had no nonce. */
const GROUP_ENDING_VERSION = 2;

// Devices sign with Ed25519, whatever suite a conversation runs.
const suite = getSuite(0x0003);

/** A session at the relay that a device takes. */
export interface DeviceSessionClaims {
  readonly userId: string;
  readonly deviceId: string;
  /** The id of the relay's session. */
  readonly session: string;
}

/** A commit as it is submitted to the relay. */
export interface SubmittedCommit {
  readonly conversationId: string;
  /** The epoch that it ends. */
  readonly epoch: number;
  /** MLSMessage. */
  readonly commit: Uint8Array;
  /** MLSMessage: the GroupInfo of the epoch that it begins. */
  readonly groupInfo: Uint8Array;
}

/** A start of a device as it registers it at the relay. */
export interface DeviceStart {
  readonly userId: string;
  readonly deviceId: string;
  readonly number: number;
  /** 16 bytes. */
  readonly tag: Uint8Array;
  /** Tags of which the relay's has to be one. */
  readonly from: readonly Uint8Array[];
}

/** A person's end of a group of people: its creator deletes it, a member leaves it. */
export interface GroupEnding {
  readonly ending: 'delete' | 'leave';
  readonly conversationId: string;
  readonly userId: string;
  readonly deviceId: string;
  /** The relay's, good once: who is added again can't be made to leave by the same signature. */
  readonly nonce: Uint8Array;
}

/** A device's view of a conversation, saved as a file. */
export interface SavedView {
  readonly conversationId: string;
  readonly userId: string;
  readonly deviceId: string;
  /** The view as the file has it. */
  readonly view: Uint8Array;
}

/**
 * Signs that a device takes a session.
 * @param signatureKey Ed25519 private key of the device
 * @returns an Ed25519 signature, 64 bytes
 */
export function signDeviceSession(signatureKey: Uint8Array, claims: DeviceSessionClaims): Uint8Array {
  const content = encode(claims, (writer, { deviceId, session, userId }) => {
    writer.u8(VERSION);
    writer.opaque(utf8(userId));
    writer.opaque(utf8(deviceId));
    writer.opaque(utf8(session));
  });
  return signWithLabel(suite, signatureKey, 'SinettiDeviceSession', content);
}

/**
 * Signs a commit for its submission.
 * @param signatureKey Ed25519 private key of the device
 * @returns an Ed25519 signature, 64 bytes
 */
export function signSubmittedCommit(signatureKey: Uint8Array, submitted: SubmittedCommit): Uint8Array {
  const content = encode(submitted, (writer, { commit, conversationId, epoch, groupInfo }) => {
    writer.u8(VERSION);
    writer.opaque(utf8(conversationId));
    writer.u64(BigInt(epoch));
    writer.opaque(sha256(commit));
    writer.opaque(sha256(groupInfo));
  });
  return signWithLabel(suite, signatureKey, 'SinettiSubmittedCommit', content);
}

/**
 * Signs a start of a device.
 * @param signatureKey Ed25519 private key of the device
 * @returns an Ed25519 signature, 64 bytes
 */
export function signDeviceStart(signatureKey: Uint8Array, start: DeviceStart): Uint8Array {
  const content = encode(start, (writer, { deviceId, from, number, tag, userId }) => {
    writer.u8(VERSION);
    writer.opaque(utf8(userId));
    writer.opaque(utf8(deviceId));
    writer.u64(BigInt(number));
    writer.opaque(tag);
    writer.opaque(concat(...from));
  });
  return signWithLabel(suite, signatureKey, 'SinettiDeviceStart', content);
}

/**
 * Signs that a device's data is in two places.
 * @param signatureKey Ed25519 private key of the device
 * @returns an Ed25519 signature, 64 bytes
 */
export function signDeviceCopied(
  signatureKey: Uint8Array,
  device: Pick<DeviceStart, 'userId' | 'deviceId'>,
): Uint8Array {
  const content = encode(device, (writer, { deviceId, userId }) => {
    writer.u8(VERSION);
    writer.opaque(utf8(userId));
    writer.opaque(utf8(deviceId));
  });
  return signWithLabel(suite, signatureKey, 'SinettiDeviceCopied', content);
}

/**
 * Signs that a group is deleted, or left.
 * @param signatureKey Ed25519 private key of the device
 * @returns an Ed25519 signature, 64 bytes
 */
export function signGroupEnding(signatureKey: Uint8Array, groupEnding: GroupEnding): Uint8Array {
  const content = encode(groupEnding, (writer, { conversationId, deviceId, ending, nonce, userId }) => {
    writer.u8(GROUP_ENDING_VERSION);
    writer.opaque(utf8(ending));
    writer.opaque(utf8(conversationId));
    writer.opaque(utf8(userId));
    writer.opaque(utf8(deviceId));
    writer.opaque(nonce);
  });
  return signWithLabel(suite, signatureKey, 'SinettiGroupEnding', content);
}

/** Copies of messages by which a device replaces those that the message backup has, since the messages were deleted. */
export interface ReplacedCopies {
  readonly userId: string;
  readonly deviceId: string;
  readonly copies: readonly { readonly messageId: string; readonly sealed: Uint8Array }[];
}

/**
 * Signs copies that replace others.
 * @param signatureKey Ed25519 private key of the device
 * @returns an Ed25519 signature, 64 bytes
 */
export function signReplacedCopies(signatureKey: Uint8Array, replaced: ReplacedCopies): Uint8Array {
  const content = encode(replaced, (writer, { copies, deviceId, userId }) => {
    writer.u8(VERSION);
    writer.opaque(utf8(userId));
    writer.opaque(utf8(deviceId));
    for (const { messageId, sealed } of copies) {
      writer.opaque(utf8(messageId));
      writer.opaque(sha256(sealed));
    }
  });
  return signWithLabel(suite, signatureKey, 'SinettiReplacedCopies', content);
}

/**
 * Signs what a device saw of a conversation.
 * @param signatureKey Ed25519 private key of the device
 * @returns an Ed25519 signature, 64 bytes
 */
export function signSavedView(signatureKey: Uint8Array, saved: SavedView): Uint8Array {
  return signWithLabel(suite, signatureKey, 'SinettiSavedView', savedViewContent(saved));
}

/** Returns whether a device has signed a view. @param publicKey Ed25519 public key of the device */
export function isSavedViewOf(publicKey: Uint8Array, saved: SavedView, signature: Uint8Array): boolean {
  return verifyWithLabel(suite, publicKey, 'SinettiSavedView', savedViewContent(saved), signature);
}

function savedViewContent(saved: SavedView): Uint8Array {
  return encode(saved, (writer, { conversationId, deviceId, userId, view }) => {
    writer.u8(VERSION);
    writer.opaque(utf8(conversationId));
    writer.opaque(utf8(userId));
    writer.opaque(utf8(deviceId));
    writer.opaque(sha256(view));
  });
}
