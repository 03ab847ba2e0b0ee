import { fromUtf8, utf8 } from '../bytes.ts';
import { decode, type Reader } from '../codec/reader.ts';
import { encode, type Writer } from '../codec/writer.ts';
import { CryptoError } from '../errors.ts';
import { type Extension, findExtension } from '../structs/extension.ts';

/**
 * The creator that a group of people is bound to from its first epoch on, as the GroupContext extension
 * `sinetti_group`. It enters every signature, tag and secret, so that nobody can be told another creator than the
 * others.
 */
export interface GroupBinding {
  /** The user whose devices may add people. */
  readonly creatorId: string;
}

/** `sinetti_group`, of the range for private use. Each leaf of a group that has it lists it in its capabilities. */
export const GROUP_BINDING_EXTENSION = 0xf0a1;

const VERSION = 1;
const MAX_ID_LENGTH = 128;

function readBinding(r: Reader): GroupBinding {
  const version = r.u8();
  if (version !== VERSION) throw new CryptoError('unsupported', `group binding version ${version}`);
  const id = r.opaque();
  if (id.length === 0 || id.length > MAX_ID_LENGTH) throw new CryptoError('malformed', 'creator id length');
  return { creatorId: fromUtf8(id) };
}

function writeBinding(w: Writer, { creatorId }: GroupBinding): void {
  w.u8(VERSION);
  w.opaque(utf8(creatorId));
}

/**
 * Makes the extension for `createGroup`.
 * @throws CryptoError 'usage' for an id that is empty or longer than 128 bytes
 */
export function groupBindingExtension(binding: GroupBinding): Extension {
  const data = encode(binding, writeBinding);
  try {
    decode(data, readBinding);
  } catch {
    throw new CryptoError('usage', 'a group binding that nobody would accept');
  }
  return { type: GROUP_BINDING_EXTENSION, data };
}

/**
 * Reads a group's binding; null for a group without one.
 * @throws CryptoError 'malformed', 'unsupported' for another version
 */
export function findGroupBinding(extensions: readonly Extension[]): GroupBinding | null {
  const data = findExtension(extensions, GROUP_BINDING_EXTENSION);
  return data === undefined ? null : decode(data, readBinding);
}
