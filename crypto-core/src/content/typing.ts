/**
 * The sign that somebody is writing, or no longer (PROTOCOL section 10): sealed for the members of an epoch, and always as long.
 * Any of them could make one in another's name, as nothing signs it: the relay states from whose session it came.
 */

import { openEnvelope, sealEnvelope } from '../account/envelope.ts';
import { utf8 } from '../bytes.ts';
import { decode } from '../codec/reader.ts';
import { encode } from '../codec/writer.ts';
import type { Env } from '../env.ts';
import { CryptoError } from '../errors.ts';
import { readU48, writeU48 } from './chainHeader.ts';
import type { ReceiptPlace } from './receipt.ts';

/** The exporter label (RFC 9420 section 8.5) of the key; its context is the group id, its length 32. */
export const TYPING_LABEL = 'sinetti typing';

/** The device in whose name a sign goes, and its epoch: its associated data. */
export type TypingPlace = Omit<ReceiptPlace, 'position'>;

/** The sealed part. */
export interface Typing {
  readonly isWriting: boolean;
  /** Milliseconds since the Unix epoch, by the device's clock: below 2^48. */
  readonly at: number;
}

const VERSION = 1;
const PLAINTEXT_LENGTH = 2 + 6;

/**
 * Seals a sign for the members of its epoch.
 * @param key 32 bytes exported under {@link TYPING_LABEL}
 * @returns 49 bytes
 * @throws CryptoError 'usage' for a time that no device has
 */
export function sealTyping(key: Uint8Array, place: TypingPlace, typing: Typing, env: Env): Uint8Array {
  const plaintext = encode(
    typing,
    (w, { at, isWriting }) => {
      w.u8(VERSION);
      w.u8(isWriting ? 1 : 0);
      writeU48(w, at);
    },
    PLAINTEXT_LENGTH,
  );
  return sealEnvelope(key, encodePlace(place), plaintext, env);
}

/**
 * Opens a sign of the same place.
 * @throws CryptoError 'decrypt-failed' when it was altered, or is of another device, group or epoch; 'unsupported' for
 * another version, 'malformed' for one that no device could have made
 */
export function openTyping(key: Uint8Array, place: TypingPlace, sealed: Uint8Array): Typing {
  return decode(openEnvelope(key, encodePlace(place), sealed, 'decrypt-failed'), (r) => {
    const version = r.u8();
    if (version !== VERSION) throw new CryptoError('unsupported', `typing version ${version}`);
    const flags = r.u8();
    if (flags > 1) throw new CryptoError('malformed', 'typing flags');
    return { isWriting: flags === 1, at: readU48(r) };
  });
}

function encodePlace(place: TypingPlace): Uint8Array {
  return encode(place, (w, { deviceId, epoch, groupId, userId }) => {
    w.u8(VERSION);
    w.opaque(groupId);
    w.u64(BigInt(epoch));
    w.opaque(utf8(userId));
    w.opaque(utf8(deviceId));
  });
}
