/** The chain header: what a sender had read of the log, before the content of each application message. */
import { concat } from '../bytes.ts';
import { Reader } from '../codec/reader.ts';
import { encode, type Writer } from '../codec/writer.ts';
import { CryptoError } from '../errors.ts';
import { HASH_LENGTH } from './runningHash.ts';

/** Positions and counts are of the log; all numbers are below 2^48. */
export interface ChainHeader {
  /** The position after which the sender's running hash starts: 0, but for conversations from before it was kept. */
  readonly start: number;
  /** The position up to which the sender had processed the log; 0 while it keeps no running hash. */
  readonly position: number;
  /** The running hash at that position, 32 bytes. */
  readonly hash: Uint8Array;
  /** The number of entries from the sending device that it had counted in the log up to that position. */
  readonly count: number;
  /** The sender's clock, in milliseconds since the Unix epoch. */
  readonly sentAt: number;
}

const VERSION = 1;
/** First octets up to this one are versions of the header. Content without a header is JSON, which starts higher. */
const MAX_VERSION = 0x1f;
/** TAB, LF and CR may begin JSON, so that they are no versions. */
const JSON_SPACE: readonly number[] = [0x09, 0x0a, 0x0d];

/** The octets of a header. */
export const CHAIN_HEADER_LENGTH = 1 + 6 + 6 + HASH_LENGTH + 6 + 6;

/**
 * Encodes a chain header, {@link CHAIN_HEADER_LENGTH} bytes.
 * @throws CryptoError 'usage' for numbers out of range, or ones that no sender could have
 */
export function encodeChainHeader(header: ChainHeader): Uint8Array {
  if (header.hash.length !== HASH_LENGTH || !isPossible(header))
    throw new CryptoError('usage', 'a chain header that nobody would accept');
  return encode(
    header,
    (w, { start, position, hash, count, sentAt }) => {
      w.u8(VERSION);
      writeU48(w, start);
      writeU48(w, position);
      w.bytes(hash);
      writeU48(w, count);
      writeU48(w, sentAt);
    },
    CHAIN_HEADER_LENGTH,
  );
}

/** Puts the header before the content. @throws CryptoError as {@link encodeChainHeader} */
export function withChainHeader(header: ChainHeader, content: Uint8Array): Uint8Array {
  return concat(encodeChainHeader(header), content);
}

/**
 * Takes the header from a message's plaintext; null for content of before there were headers.
 * @throws CryptoError 'unsupported' for a header of another version, 'malformed' for a broken one
 */
export function splitChainHeader(plaintext: Uint8Array): { header: ChainHeader | null; content: Uint8Array } {
  const [version] = plaintext;
  if (version === undefined || version > MAX_VERSION || JSON_SPACE.includes(version)) {
    return { header: null, content: plaintext };
  }
  const reader = new Reader(plaintext);
  reader.u8();
  if (version !== VERSION) throw new CryptoError('unsupported', `chain header version ${version}`);
  const header: ChainHeader = {
    start: readU48(reader),
    position: readU48(reader),
    hash: reader.bytes(HASH_LENGTH).slice(),
    count: readU48(reader),
    sentAt: readU48(reader),
  };
  if (!isPossible(header)) throw new CryptoError('malformed', 'chain header');
  return { header, content: plaintext.subarray(reader.offset) };
}

/** A device has no more entries than there are positions, and without a running hash all of it is zero. */
function isPossible({ start, position, hash, count }: ChainHeader): boolean {
  if (position === 0) return start === 0 && count === 0 && hash.every((octet) => octet === 0);
  return start <= position && count <= position - start;
}

/** Writes a number below 2^48, big-endian. */
export function writeU48(w: Writer, value: number): void {
  w.u16(Math.floor(value / 0x1_0000_0000));
  w.u32(value % 0x1_0000_0000);
}

/** Reads what {@link writeU48} has written. */
export function readU48(r: Reader): number {
  return r.u16() * 0x1_0000_0000 + r.u32();
}
