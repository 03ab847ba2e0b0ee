import { fromUtf8, utf8 } from '../bytes.ts';
import { decode } from '../codec/reader.ts';
import { encode } from '../codec/writer.ts';
import type { Env } from '../env.ts';
import { CryptoError } from '../errors.ts';
import { openShared, readKey, type SharedKeys, sealShared } from './sharedKeys.ts';

/** The knowledge that a person's devices share from day to day. */
export interface AccountState {
  /** The people whose safety numbers this person has compared, oldest first. */
  readonly verified: readonly VerifiedContact[];
  /** Counts its changes from 0, so that the client, not the relay, tells which of two states is older. */
  readonly revision: number;
}

export interface VerifiedContact {
  readonly userId: string;
  /** Ed25519 public key of the account, as it was compared. */
  readonly accountKey: Uint8Array;
}

const VERSION = 1;
/** Bytes that it is padded to a multiple of, so that its length doesn't tell how many people are verified. */
const PADDED_TO = 4096;

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
  const plaintext = encode(state, (writer, { verified, revision }) => {
    writer.u16(VERSION);
    writer.u32(revision);
    writer.vector(verified, (w, { userId: contactId, accountKey }) => {
      w.opaque(utf8(contactId));
      w.opaque(accountKey);
    });
    writer.zeros((PADDED_TO - (writer.length % PADDED_TO)) % PADDED_TO);
  });
  return sealShared('state', keys, userId, plaintext, env);
}

/**
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
    if (version !== VERSION) throw new CryptoError('unsupported', `account state version ${version}`);
    const revision = reader.u32();
    const verified = reader.unlimitedVector((r) => ({
      userId: fromUtf8(r.opaque()),
      accountKey: readKey(r),
    }));
    if (reader.bytes(reader.remaining).some((byte) => byte !== 0)) {
      throw new CryptoError('malformed', 'account state padding');
    }
    return { verified, revision };
  });
}
