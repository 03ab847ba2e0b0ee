import { fromUtf8, utf8 } from '../bytes.ts';
import { decode, type Reader } from '../codec/reader.ts';
import { encode, type Writer } from '../codec/writer.ts';
import type { Env } from '../env.ts';
import { CryptoError } from '../errors.ts';
import { type VerifiedDeviceCertificate, verifyDeviceCertificate } from './deviceCertificate.ts';
import { openShared, readKey, type SharedKeys, sealShared } from './sharedKeys.ts';
import { readStatement, type StatementFormat, signStatement } from './signedStatement.ts';

/** The knowledge that a person's devices share from day to day. */
export interface AccountState {
  /** The people whose safety numbers this person has compared, oldest first. */
  readonly verified: readonly VerifiedContact[];
  /** The account keys of everybody whom one of the person's devices has ever seen, in the order in which they were met. */
  readonly pins: readonly PinnedPerson[];
  /** Counts its changes from 0, so that the client, not the relay, tells which of two states is older. */
  readonly revision: number;
}

/** The person's decision on an account key that was seen for somebody. */
export type KeyStanding = 'former' | 'present' | 'offered' | 'refused';

export interface PinnedPerson {
  readonly userId: string;
  /** Each key once, and one of them present. Offered is one that the person has not decided on yet. */
  readonly keys: readonly { readonly standing: KeyStanding; readonly accountKey: Uint8Array }[];
}

export interface VerifiedContact {
  readonly userId: string;
  /** Ed25519 public key of the account, as it was compared. */
  readonly accountKey: Uint8Array;
}

const VERSION = 2;
/** A state of version 1 has no pins. */
const VERSION_WITHOUT_PINS = 1;
/** Bytes that it is padded to a multiple of, so that its length doesn't tell how many people are known and verified. */
const PADDED_TO = 4096;
const HASH_LENGTH = 32;
/** By their numbers in bytes. */
const STANDINGS: readonly KeyStanding[] = ['former', 'present', 'offered', 'refused'];

/**
 * Seals the state under the newest of the shared keys.
 * @param userId binds it to its owner, so that a relay can't hand out another person's
 */
export function sealAccountState(
  state: AccountState,
  keys: readonly SharedKeys[],
  userId: string,
  env: Env,
): Uint8Array {
  const plaintext = encode(state, (writer, { pins, revision, verified }) => {
    writer.u16(VERSION);
    writer.u32(revision);
    writer.vector(verified, (w, { userId: contactId, accountKey }) => {
      w.opaque(utf8(contactId));
      w.opaque(accountKey);
    });
    writer.vector(pins, (w, { keys, userId: pinnedId }) => {
      w.opaque(utf8(pinnedId));
      writePinnedKeys(w, keys);
    });
    writer.zerosTo(PADDED_TO);
  });
  return sealShared('state', keys, userId, plaintext, env);
}

/**
 * Opens an account state, of version 1 too.
 * @throws CryptoError 'missing-key' when it was sealed under keys that this device hasn't got; 'corrupt-record' when it
 *   isn't this user's state; 'unsupported', 'malformed'
 */
export function openAccountState(
  sealed: Uint8Array,
  keys: readonly SharedKeys[],
  userId: string,
): AccountState {
  return decode(openShared('state', keys, userId, sealed), (reader) => {
    const version = reader.u16();
    if (version !== VERSION && version !== VERSION_WITHOUT_PINS)
      throw new CryptoError('unsupported', `account state version ${version}`);
    const revision = reader.u32();
    const verified = reader.unlimitedVector((r) => ({
      userId: fromUtf8(r.opaque()),
      accountKey: readKey(r),
    }));
    const pins = version === VERSION ? reader.unlimitedVector(readPinned) : [];
    reader.zeros('account state padding');
    return { verified, pins, revision };
  });
}

function readPinned(reader: Reader): PinnedPerson {
  return { userId: fromUtf8(reader.opaque()), keys: readPinnedKeys(reader) };
}

export function writePinnedKeys(writer: Writer, keys: PinnedPerson['keys']): void {
  writer.vector(keys, (w, { accountKey, standing }) => {
    w.u8(STANDINGS.indexOf(standing));
    w.opaque(accountKey);
  });
}

/** @throws CryptoError 'malformed', also unless one key is the present one */
export function readPinnedKeys(reader: Reader): PinnedPerson['keys'] {
  const keys = reader.unlimitedVector((r) => {
    const standing = STANDINGS[r.u8()];
    if (standing === undefined) throw new CryptoError('malformed', 'standing of a key');
    return { standing, accountKey: readKey(r) };
  });
  if (keys.filter(({ standing }) => standing === 'present').length !== 1) {
    throw new CryptoError('malformed', 'a person without one present key');
  }
  return keys;
}

/** An account state as a device has sealed it, in that device's name. */
export interface SignedAccountState {
  /** The device's certificate. */
  readonly certificate: Uint8Array;
  readonly sealed: Uint8Array;
  /** SHA-256 of each segment of a state in segments, whose head is sealed here; null for a whole one. */
  readonly segments: readonly Uint8Array[] | null;
}

/** The first octet tells it from a state that no device has signed, which begins with 0 or 1. */
const SIGNED: StatementFormat<SignedAccountState> = {
  name: 'account state',
  label: 'SinettiAccountState',
  version: 2,
  write(writer, state) {
    writer.opaque(state.certificate);
    writer.opaque(state.sealed);
  },
  read: (reader) => ({ certificate: reader.opaque(), sealed: reader.opaque(), segments: null }),
};

const SIGNED_IN_SEGMENTS: StatementFormat<SignedAccountState> = {
  ...SIGNED,
  version: 3,
  write(writer, state) {
    SIGNED.write(writer, state);
    writer.vector(state.segments ?? [], (w, hash) => w.bytes(hash));
  },
  read: (reader) => ({
    ...SIGNED.read(reader),
    segments: reader.unlimitedVector((r) => r.bytes(HASH_LENGTH)),
  }),
};

/**
 * Signs a sealed account state, with its certificate and the hashes of its segments.
 * @param signatureKey Ed25519 private key of the device
 * @throws CryptoError 'usage' for a state that `verifyAccountState` would refuse to read
 */
export function signAccountState(state: SignedAccountState, signatureKey: Uint8Array): Uint8Array {
  const format = state.segments === null ? SIGNED : SIGNED_IN_SEGMENTS;
  return signStatement(format, state, signatureKey, 'an account state that nobody would accept');
}

/** Returns whether a stored account state says that a device has signed it. */
export const isSignedAccountState = (stored: Uint8Array): boolean =>
  stored[0] === SIGNED.version || stored[0] === SIGNED_IN_SEGMENTS.version;

/**
 * Reads a stored account state, and verifies the signature of the device. The caller decides whose device it may be.
 * @throws CryptoError 'malformed', 'unsupported', 'bad-signature'; 'invalid-credential' for a certificate that doesn't hold
 */
export function verifyAccountState(stored: Uint8Array): Omit<SignedAccountState, 'certificate'> & {
  readonly signer: VerifiedDeviceCertificate;
} {
  const format = stored[0] === SIGNED_IN_SEGMENTS.version ? SIGNED_IN_SEGMENTS : SIGNED;
  const { statement, isSignedBy } = readStatement(format, stored);
  const signer = verifyDeviceCertificate(statement.certificate);
  if (!isSignedBy(signer.deviceKey)) throw new CryptoError('bad-signature', 'account state');
  return { signer, sealed: statement.sealed, segments: statement.segments };
}
