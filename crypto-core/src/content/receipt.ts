/**
 * Receipts: how far a device has received and read a conversation, as one signed register that the next one overwrites
 * (PROTOCOL section 10). The position is in the clear for the relay; the rest is for the members of the epoch.
 */

import { openEnvelope, sealEnvelope } from '../account/envelope.ts';
import { utf8 } from '../bytes.ts';
import { decode } from '../codec/reader.ts';
import { encode } from '../codec/writer.ts';
import type { Env } from '../env.ts';
import { CryptoError } from '../errors.ts';
import { signWithLabel, verifyWithLabel } from '../suite/labels.ts';
import { getSuite } from '../suite/suites.ts';
import { readU48, writeU48 } from './chainHeader.ts';
import { HASH_LENGTH } from './runningHash.ts';

/** The exporter label (RFC 9420 section 8.5) of the key; its context is the group id, its length 32. */
export const RECEIPT_LABEL = 'sinetti receipt';

/** The part in the clear: whose receipt it is, and the position up to which the device has processed the log. */
export interface ReceiptPlace {
  readonly groupId: Uint8Array;
  readonly epoch: number;
  readonly userId: string;
  readonly deviceId: string;
  readonly position: number;
}

/** The sealed part. Positions and counts are below 2^48. */
export interface Receipt {
  /** The position after which the device's running hash starts. */
  readonly start: number;
  /** The running hash at the position, 32 bytes. */
  readonly hash: Uint8Array;
  /** The number of entries from the device that it had counted in the log up to the position. */
  readonly count: number;
  /** The position up to which the person has read on this device; 0 where it isn't told. */
  readonly readPosition: number;
  /** The person lets others see how far they have received and read; without it only the hash counts. */
  readonly isShown: boolean;
}

const VERSION = 1;
const SIGNATURE_LABEL = 'SinettiReceipt';
const PLAINTEXT_LENGTH = 2 + 6 + HASH_LENGTH + 6 + 6;

// Devices sign with Ed25519, whatever suite a conversation runs.
const suite = getSuite(0x0003);

/**
 * Seals a receipt for the members of its epoch.
 * @param key 32 bytes exported under {@link RECEIPT_LABEL}
 * @returns 93 bytes
 * @throws CryptoError 'usage' for one that nobody would accept
 */
export function sealReceipt(key: Uint8Array, place: ReceiptPlace, receipt: Receipt, env: Env): Uint8Array {
  if (!isPossible(place, receipt)) throw new CryptoError('usage', 'a receipt that nobody would accept');
  const plaintext = encode(
    receipt,
    (w, { count, hash, isShown, readPosition, start }) => {
      w.u8(VERSION);
      w.u8(isShown ? 1 : 0);
      writeU48(w, start);
      w.bytes(hash);
      writeU48(w, count);
      writeU48(w, readPosition);
    },
    PLAINTEXT_LENGTH,
  );
  return sealEnvelope(key, encodePlace(place), plaintext, env);
}

/**
 * Opens a receipt of the same place.
 * @throws CryptoError 'decrypt-failed' when it was altered, or is of another place or epoch; 'unsupported' for another
 * version, 'malformed' for one that no device could have made
 */
export function openReceipt(key: Uint8Array, place: ReceiptPlace, sealed: Uint8Array): Receipt {
  return decode(openEnvelope(key, encodePlace(place), sealed, 'decrypt-failed'), (r) => {
    const version = r.u8();
    if (version !== VERSION) throw new CryptoError('unsupported', `receipt version ${version}`);
    const flags = r.u8();
    if (flags > 1) throw new CryptoError('malformed', 'receipt flags');
    const receipt: Receipt = {
      isShown: flags === 1,
      start: readU48(r),
      hash: r.bytes(HASH_LENGTH).slice(),
      count: readU48(r),
      readPosition: readU48(r),
    };
    if (!isPossible(place, receipt)) throw new CryptoError('malformed', 'receipt');
    return receipt;
  });
}

/**
 * Signs a sealed receipt, so that neither another member nor the token of a session makes one.
 * @param signatureKey Ed25519 private key of the device
 * @returns an Ed25519 signature, 64 bytes
 */
export function signReceipt(signatureKey: Uint8Array, place: ReceiptPlace, sealed: Uint8Array): Uint8Array {
  return signWithLabel(suite, signatureKey, SIGNATURE_LABEL, signedContent(place, sealed));
}

/**
 * Returns whether a device has signed a sealed receipt for this place.
 * @param publicKey Ed25519 public key of the device's leaf
 */
export function isReceiptSigned(
  publicKey: Uint8Array,
  place: ReceiptPlace,
  sealed: Uint8Array,
  signature: Uint8Array,
): boolean {
  return verifyWithLabel(suite, publicKey, SIGNATURE_LABEL, signedContent(place, sealed), signature);
}

function signedContent(place: ReceiptPlace, sealed: Uint8Array): Uint8Array {
  return encode(sealed, (w, bytes) => {
    w.bytes(encodePlace(place));
    w.opaque(bytes);
  });
}

function encodePlace(place: ReceiptPlace): Uint8Array {
  return encode(place, (w, { deviceId, epoch, groupId, position, userId }) => {
    w.u8(VERSION);
    w.opaque(groupId);
    w.u64(BigInt(epoch));
    w.opaque(utf8(userId));
    w.opaque(utf8(deviceId));
    w.u64(BigInt(position));
  });
}

/** Nobody has read what they haven't received, or counts more entries than there are positions. */
function isPossible(
  { position }: ReceiptPlace,
  { count, hash, isShown, readPosition, start }: Receipt,
): boolean {
  return (
    hash.length === HASH_LENGTH &&
    start <= position &&
    count <= position - start &&
    readPosition <= (isShown ? position : 0)
  );
}
