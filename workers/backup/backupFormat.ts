/**
 * The format of a message backup's entry: a line of JSON, the payload as it came, and padding to Padmé sizes
 * of the payload, so that the size of an entry tells as little as that of the message did. It is sealed under
 * the newest history key for its place: the conversation and the message id under which the relay keeps it.
 */
import { CryptoError, type Env, paddedLength } from '@sinetti/crypto-core';
import { openShared, type SharedKeys, sealShared } from '@sinetti/crypto-core/account';
import {
  boolean,
  type Guarded,
  GuardFailure,
  integer,
  nullable,
  object,
  oneOf,
  string,
  withDefault,
} from '../codec/guards.ts';
import { decodeJson, encodeJson } from '../codec/json.ts';
import { limits } from '../codec/limits.ts';
import { contentId } from '../storage/agreedRecord.ts';
import { payloadBytes, payloadOf } from '../storage/payload.ts';

const NEWLINE = 0x0a;
/** Bytes reserved for the header. Every header fits, so that its numbers don't show in the size. */
const HEADER_ROOM = 320;

const id = string(128);
const Kind = object({ type: oneOf('message', 'setting') });

export const MessageEntry = object({
  type: oneOf('message'),
  seq: integer(1),
  senderId: id,
  senderDeviceId: id,
  timestamp: string(64),
  payloadLength: integer(0, limits.content),
  /** As in the message's record; absent from copies of earlier versions. */
  sentAt: withDefault(nullable(integer(0)), null),
  isClockOff: withDefault(boolean, false),
  epoch: withDefault(nullable(integer(0)), null),
  /** In place of the payload of a deleted one: its content id, and that of what it replaced. */
  erased: withDefault(
    nullable(object({ id: contentId, of: nullable(contentId), isExpired: withDefault(boolean, false) })),
    null,
  ),
  /** The time at which it disappears (ms since the Unix epoch), once it was read. */
  expiresAt: withDefault(nullable(integer(0)), null),
});
export type MessageEntry = Guarded<typeof MessageEntry>;

/**
 * The person's choice to keep a backup or not. The newest one counts; the relay can withhold it, but not make
 * one up.
 */
export const SettingEntry = object({ type: oneOf('setting'), kept: boolean, version: integer(1) });
export type SettingEntry = Guarded<typeof SettingEntry>;

export interface Place {
  readonly conversationId: string;
  readonly messageId: string;
}

/** The payload is null where the message was deleted. */
export type OpenedEntry = (MessageEntry & { readonly payload: string | null }) | SettingEntry;

/** Seals a message for its place; null if it is too large for an entry. */
export function sealMessageEntry(
  keys: readonly SharedKeys[],
  at: Place,
  { expiresAt, ...message }: Omit<MessageEntry, 'type' | 'payloadLength'>,
  payload: string | null,
  env: Env,
): Uint8Array | null {
  const content = payload === null ? new Uint8Array() : payloadBytes(payload);
  // Left out of most: every header is to fit.
  const time = expiresAt === null ? {} : { expiresAt };
  const entry = { type: 'message' as const, ...message, payloadLength: content.length, ...time };
  const sealed = seal(keys, at, encodeJson(entry), content, env);
  return sealed.length > limits.backupEntry ? null : sealed;
}

export function sealSettingEntry(
  keys: readonly SharedKeys[],
  at: Place,
  setting: Omit<SettingEntry, 'type'>,
  env: Env,
): Uint8Array {
  const entry: SettingEntry = { type: 'setting', ...setting };
  return seal(keys, at, encodeJson(entry), new Uint8Array(), env);
}

/**
 * Opens an entry.
 * @throws CryptoError `corrupt-record` for anything that no device of the person has sealed for this place,
 *   `missing-key` when it was sealed under keys that this device hasn't got
 */
export function openEntry(keys: readonly SharedKeys[], at: Place, sealed: Uint8Array): OpenedEntry {
  const plaintext = openShared('history', keys, placeOf(at), sealed);
  try {
    const end = plaintext.indexOf(NEWLINE);
    const header = plaintext.subarray(0, end);
    if (decodeJson(header, Kind).type === 'setting') return decodeJson(header, SettingEntry);
    const entry = decodeJson(header, MessageEntry);
    if (entry.erased !== null) return { ...entry, payload: null };
    const payload = payloadOf(plaintext.subarray(end + 1, end + 1 + entry.payloadLength));
    if (payload === null) throw new GuardFailure('payload');
    return { ...entry, payload };
  } catch (error) {
    if (error instanceof GuardFailure) throw new CryptoError('corrupt-record', error.message);
    throw error;
  }
}

function seal(
  keys: readonly SharedKeys[],
  at: Place,
  header: Uint8Array,
  payload: Uint8Array,
  env: Env,
): Uint8Array {
  const room = Math.max(HEADER_ROOM, header.length + 1) + paddedLength(payload.length);
  const plaintext = new Uint8Array(room);
  plaintext.set(header);
  plaintext[header.length] = NEWLINE;
  plaintext.set(payload, header.length + 1);
  return sealShared('history', keys, placeOf(at), plaintext, env);
}

function placeOf({ conversationId, messageId }: Place): string {
  return `${conversationId}/${messageId}`;
}
