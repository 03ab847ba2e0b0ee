import { decode, type Reader } from '../codec/reader.ts';
import { encode, type Writer } from '../codec/writer.ts';
import { CryptoError } from '../errors.ts';
import { type Extension, findExtension } from '../structs/extension.ts';

/**
 * The GroupInfo extension `sinetti_log`: the log position that the signer had read, so that a device that joins by it
 * hashes on from there.
 */
export interface LogPosition {
  /** The position after which the running hash starts. */
  readonly start: number;
  readonly position: number;
  /** The running hash at that position, 32 bytes. */
  readonly hash: Uint8Array;
}

/** `sinetti_log`, of the range for private use. */
export const LOG_POSITION_EXTENSION = 0xf0a2;

const VERSION = 1;
const HASH_LENGTH = 32;

function readPosition(r: Reader): LogPosition {
  const version = r.u8();
  if (version !== VERSION) throw new CryptoError('unsupported', `log position version ${version}`);
  const [start, position] = [Number(r.u64()), Number(r.u64())];
  const hash = r.bytes(HASH_LENGTH).slice();
  if (!Number.isSafeInteger(position) || start > position) throw new CryptoError('malformed', 'log position');
  return { start, position, hash };
}

function writePosition(w: Writer, { start, position, hash }: LogPosition): void {
  w.u8(VERSION);
  w.u64(BigInt(start));
  w.u64(BigInt(position));
  w.bytes(hash);
}

/** Makes the extension for a GroupInfo. @throws CryptoError 'usage' for a position that nobody would accept */
export function logPositionExtension(position: LogPosition): Extension {
  const data = encode(position, writePosition);
  try {
    decode(data, readPosition);
  } catch {
    throw new CryptoError('usage', 'a log position that nobody would accept');
  }
  return { type: LOG_POSITION_EXTENSION, data };
}

/**
 * Reads the position among a GroupInfo's extensions; null where its signer kept no running hash.
 * @throws CryptoError 'malformed', 'unsupported' for another version
 */
export function findLogPosition(extensions: readonly Extension[]): LogPosition | null {
  const data = findExtension(extensions, LOG_POSITION_EXTENSION);
  return data === undefined ? null : decode(data, readPosition);
}
