/**
 * Files beside messages: the STREAM construction as the payload of age has it (C2SP, age, *Payload*), with chunks of 64 KiB
 * under ChaCha20-Poly1305. Each chunk opens by itself, and none opens at another place, in another file, or as the last one of
 * a file that was cut or prolonged.
 */

import { EMPTY } from '../bytes.ts';
import { CryptoError } from '../errors.ts';
import { chacha20Poly1305Open, chacha20Poly1305Seal } from '../suite/sodium.ts';

/** Bytes of each chunk of the file but the last, which may be shorter. */
export const FILE_CHUNK_LENGTH = 65_536;
/** Bytes of such a chunk once it is sealed: chunk i begins at i times this. */
export const SEALED_FILE_CHUNK_LENGTH = FILE_CHUNK_LENGTH + 16;
/** The key of one file, for one sending. Two files under one key would share nonces. */
export const FILE_KEY_LENGTH = 32;

const TAG_LENGTH = SEALED_FILE_CHUNK_LENGTH - FILE_CHUNK_LENGTH;
const NONCE_LENGTH = 12;
const LAST = 1;

/** A file's key, 32 bytes, and its length in bytes before it is sealed. */
export interface FileToSeal {
  readonly key: Uint8Array;
  readonly length: number;
}

/** A file's key, 32 bytes, and its length in bytes once it is sealed, as whoever has sent it says. */
export interface SealedFile {
  readonly key: Uint8Array;
  readonly sealedLength: number;
}

/** The length in bytes of a file once it is sealed. @throws CryptoError 'usage' for no length */
export function sealedFileLength(length: number): number {
  if (!Number.isSafeInteger(length) || length < 0) throw new CryptoError('usage', 'length of a file');
  return length + TAG_LENGTH * Math.max(1, Math.ceil(length / FILE_CHUNK_LENGTH));
}

/** The length in bytes of a file before it was sealed. @throws CryptoError 'malformed' for a length that no sealed file has */
export function openedFileLength(sealedLength: number): number {
  if (!Number.isSafeInteger(sealedLength)) throw new CryptoError('malformed', 'length of a sealed file');
  const length = sealedLength - TAG_LENGTH * Math.ceil(sealedLength / SEALED_FILE_CHUNK_LENGTH);
  // The last chunk holds something, but in a file that is empty.
  if (length < 0 || sealedFileLength(length) !== sealedLength)
    throw new CryptoError('malformed', 'length of a sealed file');
  return length;
}

/**
 * Seals one chunk, of 64 KiB or, at the end, what is left.
 * @param index from 0
 * @throws CryptoError 'usage' for a chunk that the file doesn't have, 'malformed' for a key of another length
 */
export function sealFileChunk({ key, length }: FileToSeal, index: number, chunk: Uint8Array): Uint8Array {
  const place = placeOf(length, index);
  if (chunk.length !== place?.length) throw new CryptoError('usage', 'chunk of a file');
  return chacha20Poly1305Seal(key, place.nonce, EMPTY, chunk);
}

/**
 * Opens one chunk.
 * @param index from 0
 * @throws CryptoError 'decrypt-failed', 'malformed' for a length that the chunk or the file can't have, 'usage' for a
 *   chunk that the file doesn't have
 */
export function openFileChunk(
  { key, sealedLength }: SealedFile,
  index: number,
  sealed: Uint8Array,
): Uint8Array {
  const place = placeOf(openedFileLength(sealedLength), index);
  if (place === null) throw new CryptoError('usage', 'chunk of a file');
  if (sealed.length !== place.length + TAG_LENGTH) throw new CryptoError('malformed', 'length of a chunk');
  return chacha20Poly1305Open(key, place.nonce, EMPTY, sealed);
}

/** The length and the nonce of a chunk: 11 bytes of its index, and whether it is the last one; null for none. */
function placeOf(
  fileLength: number,
  index: number,
): { readonly length: number; readonly nonce: Uint8Array } | null {
  const count = Math.max(1, Math.ceil(fileLength / FILE_CHUNK_LENGTH));
  if (!Number.isSafeInteger(index) || index < 0 || index >= count) return null;
  const nonce = new Uint8Array(NONCE_LENGTH);
  new DataView(nonce.buffer).setBigUint64(NONCE_LENGTH - 9, BigInt(index));
  const isLast = index === count - 1;
  if (isLast) nonce[NONCE_LENGTH - 1] = LAST;
  return { nonce, length: isLast ? fileLength - index * FILE_CHUNK_LENGTH : FILE_CHUNK_LENGTH };
}
