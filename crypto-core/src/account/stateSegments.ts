/**
 * The account state of somebody who knows many people, in segments of so many each: a change writes the segments that it
 * changes, and a small head. The signature over the head names all of them by their hashes.
 */
import { concat, equalBytes, fromUtf8, toHex, utf8 } from '../bytes.ts';
import { decode, type Reader } from '../codec/reader.ts';
import { encode } from '../codec/writer.ts';
import type { Env } from '../env.ts';
import { CryptoError } from '../errors.ts';
import { sha256 } from '../suite/sodium.ts';
import { type AccountState, type PinnedPerson, readPinnedKeys, writePinnedKeys } from './accountState.ts';
import { newestSharedKeys, openShared, type SharedKeys, sealShared, sharedRevision } from './sharedKeys.ts';

/** People of one segment, in the order in which they were met; the last segment has fewer. */
export const PEOPLE_PER_SEGMENT = 64;

/** An account state in segments, each sealed under the same shared keys as the head. */
export interface SegmentedState {
  /** The sealed head. */
  readonly sealed: Uint8Array;
  readonly segments: readonly Uint8Array[];
}

interface Person extends PinnedPerson {
  /** The account key as it was compared; null for nobody who is verified. */
  readonly verifiedKey: Uint8Array | null;
}

const VERSION = 3;
/** Bytes that a segment is padded to a multiple of: only dozens of changed keys in one show in its length, and no mark does. */
const PADDED_TO = 6_144;

/**
 * Seals the state under the newest of the shared keys.
 * @param userId binds it to its owner, as {@link sealAccountState} does
 * @param known segments that were sealed before: one with the same people is kept as it is
 */
export function sealStateInSegments(
  state: AccountState,
  keys: readonly SharedKeys[],
  userId: string,
  env: Env,
  known: readonly Uint8Array[] = [],
): SegmentedState {
  const kept = new Map(known.flatMap((segment) => sealedBefore(segment, keys, userId)));
  const people = peopleOf(state);
  const segments: Uint8Array[] = [];
  for (let at = 0; at < people.length; at += PEOPLE_PER_SEGMENT) {
    const plaintext = encodeSegment(people.slice(at, at + PEOPLE_PER_SEGMENT));
    const before = kept.get(toHex(sha256(plaintext)));
    segments.push(before ?? sealShared('state', keys, placeOf(userId), plaintext, env));
  }
  const head = encode(state.revision, (writer, revision) => {
    writer.u16(VERSION);
    writer.u32(revision);
  });
  return { sealed: sealShared('state', keys, headPlaceOf(userId, segments), head, env), segments };
}

/**
 * Opens an account state that was sealed in segments.
 * @param state with the segments that the signature names, in its order: {@link segmentsNamed}
 * @throws CryptoError 'missing-key', 'corrupt-record', 'unsupported', 'malformed', as {@link openAccountState} does
 */
export function openStateInSegments(
  { sealed, segments }: SegmentedState,
  keys: readonly SharedKeys[],
  userId: string,
): AccountState {
  const revision = decode(openShared('state', keys, headPlaceOf(userId, segments), sealed), (reader) => {
    const version = reader.u16();
    if (version !== VERSION) throw new CryptoError('unsupported', `account state version ${version}`);
    return reader.u32();
  });
  const people = segments.flatMap((segment) => {
    if (sharedRevision(segment) !== sharedRevision(sealed))
      throw new CryptoError('corrupt-record', 'a segment under other keys');
    return decodeSegment(openShared('state', keys, placeOf(userId), segment));
  });
  const verified = people.flatMap(({ userId: contactId, verifiedKey }) =>
    verifiedKey === null ? [] : [{ userId: contactId, accountKey: verifiedKey }],
  );
  return {
    verified,
    pins: people.map(({ keys: pinned, userId: id }) => ({ userId: id, keys: pinned })),
    revision,
  };
}

/**
 * Finds the segments that a signed state names.
 * @param hashes SHA-256 of each, in their order
 * @throws CryptoError 'corrupt-record' where one is missing
 */
export function segmentsNamed(
  hashes: readonly Uint8Array[],
  segments: readonly Uint8Array[],
): readonly Uint8Array[] {
  // One that is named again and again would be read as often.
  if (hashes.length > segments.length) throw new CryptoError('corrupt-record', 'a segment is missing');
  const byHash = new Map(segments.map((segment) => [toHex(sha256(segment)), segment]));
  return hashes.map((hash) => {
    const segment = byHash.get(toHex(hash));
    if (segment === undefined) throw new CryptoError('corrupt-record', 'a segment is missing');
    return segment;
  });
}

/** The SHA-256 of each segment, which the signature over the head names. */
export const hashesOf = (segments: readonly Uint8Array[]): Uint8Array[] => segments.map(sha256);

/** Keeps a head from standing for other segments than it was sealed with, whoever signs the two together. */
const headPlaceOf = (userId: string, segments: readonly Uint8Array[]): string =>
  `${userId}/head/${toHex(sha256(concat(...hashesOf(segments))))}`;

/** Keeps a segment from passing for a head, or for another person's. */
const placeOf = (userId: string): string => `${userId}/segment`;

/** Returns a segment by the hash of its content; none where it must be sealed anew. */
function sealedBefore(
  segment: Uint8Array,
  keys: readonly SharedKeys[],
  userId: string,
): [hash: string, segment: Uint8Array][] {
  try {
    if (sharedRevision(segment) !== newestSharedKeys(keys).revision) return [];
    return [[toHex(sha256(openShared('state', keys, placeOf(userId), segment))), segment]];
  } catch (error) {
    if (error instanceof CryptoError) return [];
    throw error;
  }
}

function peopleOf({ pins, verified }: AccountState): Person[] {
  const marks = new Map(verified.map(({ accountKey, userId }) => [userId, accountKey]));
  const people: Person[] = pins.map(({ keys, userId }) => {
    const verifiedKey = marks.get(userId) ?? null;
    marks.delete(userId);
    if (verifiedKey === null || keys.some(({ accountKey }) => equalBytes(accountKey, verifiedKey)))
      return { userId, keys, verifiedKey };
    return { userId, keys: [...keys, { standing: 'offered', accountKey: verifiedKey }], verifiedKey };
  });
  for (const [userId, verifiedKey] of marks) {
    people.push({ userId, keys: [{ standing: 'present', accountKey: verifiedKey }], verifiedKey });
  }
  return people;
}

function encodeSegment(people: readonly Person[]): Uint8Array {
  return encode(
    people,
    (writer, all) => {
      writer.vector(all, (w, { keys, userId, verifiedKey }) => {
        w.opaque(utf8(userId));
        writePinnedKeys(w, keys);
        const isVerified = (key: Uint8Array) => verifiedKey !== null && equalBytes(key, verifiedKey);
        w.u16(1 + keys.findIndex(({ accountKey }) => isVerified(accountKey)));
      });
      writer.zerosTo(PADDED_TO);
    },
    PADDED_TO,
  );
}

function decodeSegment(plaintext: Uint8Array): Person[] {
  return decode(plaintext, (reader) => {
    const people = reader.unlimitedVector(readPerson);
    reader.zeros('padding of a segment');
    return people;
  });
}

function readPerson(reader: Reader): Person {
  const userId = fromUtf8(reader.opaque());
  const keys = readPinnedKeys(reader);
  const verified = reader.u16();
  const verifiedKey = verified === 0 ? null : keys[verified - 1]?.accountKey;
  if (verifiedKey === undefined) throw new CryptoError('malformed', 'a mark of no key');
  return { userId, keys, verifiedKey };
}
