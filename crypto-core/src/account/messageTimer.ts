import { decode, type Reader } from '../codec/reader.ts';
import { encode, type Writer } from '../codec/writer.ts';
import { CryptoError } from '../errors.ts';
import { type Extension, findExtension } from '../structs/extension.ts';

/**
 * `sinetti_timer`, of the range for private use: a GroupContext extension that says after how long the messages of a
 * conversation disappear. It enters every signature, tag and secret, so that all members have the same one.
 */
export const MESSAGE_TIMER_EXTENSION = 0xf0a4;

/** Seconds: the shortest and the longest that a message may stay once it was read. */
export const TIMER_LIMITS = { least: 5, most: 4 * 7 * 24 * 60 * 60 } as const;

const VERSION = 1;

function readTimer(r: Reader): number {
  const version = r.u8();
  if (version !== VERSION) throw new CryptoError('unsupported', `timer version ${version}`);
  const seconds = r.u32();
  if (seconds < TIMER_LIMITS.least || seconds > TIMER_LIMITS.most)
    throw new CryptoError('malformed', 'timer');
  return seconds;
}

function writeTimer(w: Writer, seconds: number): void {
  w.u8(VERSION);
  w.u32(seconds);
}

/**
 * Makes the extension for a GroupContext.
 * @param seconds within {@link TIMER_LIMITS}
 * @throws CryptoError 'malformed' for others
 */
export function messageTimerExtension(seconds: number): Extension {
  const data = encode(seconds, writeTimer);
  decode(data, readTimer);
  return { type: MESSAGE_TIMER_EXTENSION, data };
}

/**
 * Reads the timer of a conversation, in seconds; 0 for one without.
 * @throws CryptoError 'malformed', 'unsupported' for another version
 */
export function findMessageTimer(extensions: readonly Extension[]): number {
  const data = findExtension(extensions, MESSAGE_TIMER_EXTENSION);
  return data === undefined ? 0 : decode(data, readTimer);
}
