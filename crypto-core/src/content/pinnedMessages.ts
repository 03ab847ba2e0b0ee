import { decode, type Reader } from '../codec/reader.ts';
import { encode, type Writer } from '../codec/writer.ts';
import { CryptoError } from '../errors.ts';
import { type Extension, findExtension } from '../structs/extension.ts';
import { MIMI_MESSAGE_ID_LENGTH } from './mimiContent.ts';

/**
 * `sinetti_pinned`, of the range for private use: a GroupContext extension that names the messages which the members of a
 * conversation have pinned. It enters every signature, tag and secret, so that all members have the same ones.
 */
export const PINNED_MESSAGES_EXTENSION = 0xf0a5;

/** The most messages that a conversation has pinned at one time. */
export const MAX_PINNED_MESSAGES = 3;

const VERSION = 1;
/** The first octet of a MIMI message id, which names SHA-256. */
const SHA_256 = 1;

function readPinned(r: Reader): Uint8Array[] {
  const version = r.u8();
  if (version !== VERSION) throw new CryptoError('unsupported', `pinned messages version ${version}`);
  const all = r.opaque();
  const count = all.length / MIMI_MESSAGE_ID_LENGTH;
  // An extension of none would be a second way to say that there are none.
  if (!Number.isInteger(count) || count < 1 || count > MAX_PINNED_MESSAGES)
    throw new CryptoError('malformed', 'number of pinned messages');
  const ids = Array.from({ length: count }, (_id, at) =>
    all.slice(at * MIMI_MESSAGE_ID_LENGTH, (at + 1) * MIMI_MESSAGE_ID_LENGTH),
  );
  if (ids.some((id) => id[0] !== SHA_256)) throw new CryptoError('malformed', 'id of a pinned message');
  if (new Set(ids.map(String)).size < count) throw new CryptoError('malformed', 'a message pinned twice');
  return ids;
}

function writePinned(w: Writer, ids: readonly Uint8Array[]): void {
  w.u8(VERSION);
  w.vector(ids, (writer, id) => writer.bytes(id));
}

/**
 * Makes the extension for a GroupContext.
 * @param ids MIMI message ids, the one that was pinned last at the end
 * @throws CryptoError 'malformed' for none, for too many, for one twice, and for what is no MIMI message id
 */
export function pinnedMessagesExtension(ids: readonly Uint8Array[]): Extension {
  if (ids.some(({ length }) => length !== MIMI_MESSAGE_ID_LENGTH))
    throw new CryptoError('malformed', 'length of a message id');
  const data = encode(ids, writePinned);
  decode(data, readPinned);
  return { type: PINNED_MESSAGES_EXTENSION, data };
}

/**
 * Reads the MIMI message ids of a conversation's pinned messages, the one that was pinned last at the end.
 * @throws CryptoError 'malformed', 'unsupported' for another version
 */
export function findPinnedMessages(extensions: readonly Extension[]): readonly Uint8Array[] {
  const data = findExtension(extensions, PINNED_MESSAGES_EXTENSION);
  return data === undefined ? [] : decode(data, readPinned);
}
