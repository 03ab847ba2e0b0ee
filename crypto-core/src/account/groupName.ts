/** Group names, which the relay keeps sealed under a key of one epoch: the members of that epoch can open them. */
import { fromUtf8, utf8 } from '../bytes.ts';
import { Reader } from '../codec/reader.ts';
import { encode } from '../codec/writer.ts';
import type { Env } from '../env.ts';
import { openEnvelope, sealEnvelope } from './envelope.ts';

/** The exporter label (RFC 9420 section 8.5) of the key; its context is the group id, its length 32. */
export const GROUP_NAME_LABEL = 'sinetti group name';

/** Names are padded to a multiple of this many bytes, so that the relay learns little from their lengths. */
const BLOCK = 64;

/**
 * Seals a group's name for the members of an epoch, padded.
 * @param key 32 bytes exported under {@link GROUP_NAME_LABEL}
 */
export function sealGroupName(key: Uint8Array, groupId: Uint8Array, name: string, env: Env): Uint8Array {
  const field = encode(utf8(name), (writer, bytes) => writer.opaque(bytes));
  const plaintext = new Uint8Array(Math.ceil(field.length / BLOCK) * BLOCK);
  plaintext.set(field);
  return sealEnvelope(key, groupId, plaintext, env);
}

/**
 * Opens the name that {@link sealGroupName} sealed.
 * @throws CryptoError 'decrypt-failed' when it was altered, or is of another epoch or group; 'unsupported',
 * 'malformed'
 */
export function openGroupName(key: Uint8Array, groupId: Uint8Array, sealed: Uint8Array): string {
  const reader = new Reader(openEnvelope(key, groupId, sealed, 'decrypt-failed'));
  const name = fromUtf8(reader.opaque());
  reader.zeros('group name padding');
  return name;
}
