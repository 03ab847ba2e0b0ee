/**
 * The keys that a person's devices share. Each change of who may open the account draws new ones, and a device that was
 * revoked before has none of those (docs/PROTOCOL.md, section 2).
 */
import { concat } from '../bytes.ts';
import type { Reader } from '../codec/reader.ts';
import type { Writer } from '../codec/writer.ts';
import type { Env } from '../env.ts';
import { CryptoError } from '../errors.ts';
import { openRecord, sealRecord } from './records.ts';

/** Keys of 32 bytes each. */
export interface SharedKeys {
  /** The vault's version at the relay that brought them: 1 to 2^24 - 1; 0 for those of an account from before rotation. */
  readonly revision: number;
  /** Seals the account state. */
  readonly stateKey: Uint8Array;
  /** Seals the message backup. */
  readonly historyKey: Uint8Array;
}

/** The kinds of records that are sealed under them. */
export type SharedKind = 'state' | 'history';

export const SHARED_KEY_LENGTH = 32;
/** A revision's first byte is 0, so that what was sealed before there were revisions, which begins with 1, is told apart. */
export const MAX_REVISION = 2 ** 24 - 1;
const REVISION_LENGTH = 4;

/** @throws CryptoError 'usage' for a revision out of bounds */
export function createSharedKeys(revision: number, env: Env): SharedKeys {
  if (!Number.isInteger(revision) || revision < 1 || revision > MAX_REVISION) {
    throw new CryptoError('usage', `revision ${revision}`);
  }
  return { revision, stateKey: env.random(SHARED_KEY_LENGTH), historyKey: env.random(SHARED_KEY_LENGTH) };
}

/** Returns the last of the shared keys, which are in order. @throws CryptoError 'usage' without any */
export function newestSharedKeys(keys: readonly SharedKeys[]): SharedKeys {
  const newest = keys.at(-1);
  if (newest === undefined) throw new CryptoError('usage', 'no shared keys');
  return newest;
}

/**
 * Seals under the newest keys, for the place that it is kept in: it opens nowhere else. In bytes: the keys' revision (4),
 * and a sealed record.
 * @param keys oldest first
 */
export function sealShared(
  kind: SharedKind,
  keys: readonly SharedKeys[],
  place: string,
  plaintext: Uint8Array,
  env: Env,
): Uint8Array {
  const newest = newestSharedKeys(keys);
  const revision = new Uint8Array(REVISION_LENGTH);
  new DataView(revision.buffer).setUint32(0, newest.revision);
  return concat(revision, sealRecord(keyOf(kind, newest), kind, place, plaintext, env));
}

/**
 * Opens what {@link sealShared} sealed for the same place.
 * @throws CryptoError 'missing-key' under keys that aren't among these, 'corrupt-record', 'unsupported'
 */
export function openShared(
  kind: SharedKind,
  keys: readonly SharedKeys[],
  place: string,
  sealed: Uint8Array,
): Uint8Array {
  const revision = sharedRevision(sealed);
  const held = keys.find((one) => one.revision === revision);
  if (held === undefined) throw new CryptoError('missing-key', `shared keys of revision ${revision}`);
  const record = isNumbered(sealed) ? sealed.subarray(REVISION_LENGTH) : sealed;
  return openRecord(keyOf(kind, held), kind, place, record);
}

/** The revision of the keys that something is sealed under, as it says. @throws CryptoError 'corrupt-record' */
export function sharedRevision(sealed: Uint8Array): number {
  if (!isNumbered(sealed)) return 0;
  if (sealed.length < REVISION_LENGTH) throw new CryptoError('corrupt-record', 'truncated');
  return new DataView(sealed.buffer, sealed.byteOffset).getUint32(0);
}

const isNumbered = (sealed: Uint8Array): boolean => sealed[0] === 0;

export function writeSharedKeys(writer: Writer, { revision, stateKey, historyKey }: SharedKeys): void {
  writer.u32(revision);
  writer.opaque(stateKey);
  writer.opaque(historyKey);
}

/** @throws CryptoError 'malformed' */
export function readSharedKeys(reader: Reader): SharedKeys {
  return { revision: reader.u32(), stateKey: readKey(reader), historyKey: readKey(reader) };
}

/** Reads a key of 32 bytes. @throws CryptoError 'malformed' */
export function readKey(reader: Reader): Uint8Array {
  const bytes = reader.opaque();
  if (bytes.length !== SHARED_KEY_LENGTH) throw new CryptoError('malformed', 'vault key length');
  return bytes.slice();
}

const keyOf = (kind: SharedKind, { stateKey, historyKey }: SharedKeys): Uint8Array =>
  kind === 'state' ? stateKey : historyKey;
