import { fromUtf8, utf8, wipe } from '../bytes.ts';
import { decode, type Reader } from '../codec/reader.ts';
import { encode } from '../codec/writer.ts';
import type { Env } from '../env.ts';
import { CryptoError } from '../errors.ts';
import { openEnvelope, sealEnvelope } from './envelope.ts';

/** The secrets and verified contacts that a person has on every device. Keys have 32 bytes each. */
export interface Vault {
  /** Seed of the Ed25519 account identity key. */
  readonly accountSeed: Uint8Array;
  /** Seals the records of a browser. */
  readonly storageKey: Uint8Array;
  /** Seals the uploaded history. */
  readonly historyKey: Uint8Array;
  /** The people whose safety numbers this person has compared, oldest first. */
  readonly verified: readonly VerifiedContact[];
  /**
   * Counts the changes of `verified` from 0, so that the client, not the relay, tells which of two vaults is older.
   */
  readonly revision: number;
}

export interface VerifiedContact {
  readonly userId: string;
  /** Ed25519 public key of the account, as it was compared. */
  readonly accountKey: Uint8Array;
}

/** The kind of key that wraps the vault key; a wrap made for one never opens as the other. */
export type WrapLabel = 'password' | 'recovery';

const KEY_LENGTH = 32;
/** Bytes that a vault is padded to a multiple of, so that its length doesn't tell how many people are verified. */
const PADDED_TO = 4096;

export function createVault(env: Env): Vault {
  return {
    accountSeed: env.random(KEY_LENGTH),
    storageKey: env.random(KEY_LENGTH),
    historyKey: env.random(KEY_LENGTH),
    verified: [],
    revision: 0,
  };
}

/** A fresh key for `sealVault`. */
export function createVaultKey(env: Env): Uint8Array {
  return env.random(KEY_LENGTH);
}

/** @param userId binds the sealed vault to its owner, so that a relay can't hand out another person's */
export function sealVault(vault: Vault, vaultKey: Uint8Array, userId: string, env: Env): Uint8Array {
  const plaintext = encode(vault, (writer, { accountSeed, storageKey, historyKey, verified, revision }) => {
    writer.opaque(accountSeed);
    writer.opaque(storageKey);
    writer.opaque(historyKey);
    writer.vector(verified, (w, { userId: contactId, accountKey }) => {
      w.opaque(utf8(contactId));
      w.opaque(accountKey);
    });
    writer.u32(revision);
    writer.zeros((PADDED_TO - (writer.length % PADDED_TO)) % PADDED_TO);
  });
  const sealed = sealEnvelope(vaultKey, vaultContext(userId), plaintext, env);
  wipe(plaintext);
  return sealed;
}

/** @throws CryptoError 'corrupt-record' when it isn't this user's vault under this key; 'unsupported', 'malformed' */
export function openVault(sealed: Uint8Array, vaultKey: Uint8Array, userId: string): Vault {
  const plaintext = openEnvelope(vaultKey, vaultContext(userId), sealed, 'corrupt-record');
  const vault = decode(plaintext, (reader) => {
    const read = {
      accountSeed: readKey(reader),
      storageKey: readKey(reader),
      historyKey: readKey(reader),
      verified: reader.unlimitedVector((r) => ({ userId: fromUtf8(r.opaque()), accountKey: readKey(r) })),
      revision: reader.u32(),
    };
    // Vaults from before there was padding end here.
    if (reader.bytes(reader.remaining).some((byte) => byte !== 0)) {
      throw new CryptoError('malformed', 'vault padding');
    }
    return read;
  });
  wipe(plaintext);
  return vault;
}

/** @param wrapKey from `passwordKeys` or `recoveryWrapKey` */
export function wrapVaultKey(
  vaultKey: Uint8Array,
  wrapKey: Uint8Array,
  label: WrapLabel,
  env: Env,
): Uint8Array {
  return sealEnvelope(wrapKey, wrapContext(label), vaultKey, env);
}

/** @throws CryptoError 'wrong-password' or, for the label 'recovery', 'bad-recovery-key'; 'unsupported' */
export function unwrapVaultKey(wrapped: Uint8Array, wrapKey: Uint8Array, label: WrapLabel): Uint8Array {
  const failure = label === 'password' ? 'wrong-password' : 'bad-recovery-key';
  return openEnvelope(wrapKey, wrapContext(label), wrapped, failure);
}

function readKey(reader: Reader): Uint8Array {
  const bytes = reader.opaque();
  if (bytes.length !== KEY_LENGTH) throw new CryptoError('malformed', 'vault key length');
  return bytes.slice();
}

function vaultContext(userId: string): Uint8Array {
  return encode(userId, (writer, id) => {
    writer.opaque(utf8('Sinetti vault'));
    writer.opaque(utf8(id));
  });
}

function wrapContext(label: WrapLabel): Uint8Array {
  return encode(label, (writer, text) => {
    writer.opaque(utf8('Sinetti vault key'));
    writer.opaque(utf8(text));
  });
}
