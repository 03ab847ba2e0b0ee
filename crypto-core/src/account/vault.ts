import { concat, fromUtf8, utf8, wipe } from '../bytes.ts';
import { decode, type Reader } from '../codec/reader.ts';
import { encode } from '../codec/writer.ts';
import type { Env } from '../env.ts';
import { CryptoError } from '../errors.ts';
import * as hpke from '../suite/hpke.ts';
import { blake2bKeyed, XWING } from '../suite/sodium.ts';
import { getSuite } from '../suite/suites.ts';
import type { AccountState } from './accountState.ts';
import { openEnvelope, sealEnvelope } from './envelope.ts';
import { recoveryKeyPair, recoveryWrapKey } from './recoveryKey.ts';
import {
  createSharedKeys,
  newestSharedKeys,
  readKey,
  readSharedKeys,
  SHARED_KEY_LENGTH,
  type SharedKeys,
  writeSharedKeys,
} from './sharedKeys.ts';

/** The secrets of an account, which the password or the recovery key opens. Keys have 32 bytes each. */
export interface Vault {
  /** Seed of the Ed25519 account identity key. */
  readonly accountSeed: Uint8Array;
  /** Gives each device the key by which its storage opens again: see `deviceUnlockKey`. */
  readonly deviceSecret: Uint8Array;
  /** The keys that the person's devices share, oldest first; the last ones are in use. */
  readonly sharedKeys: readonly SharedKeys[];
  /** X-Wing public key of the recovery key. Null where there is none, or one from before vaults held it. */
  readonly recoveryPublicKey: Uint8Array | null;
  /** The storage key that all devices of an account from before version 2 shared; null for others. */
  readonly formerStorageKey: Uint8Array | null;
}

/** A vault, and the account state that vaults of version 1 held; null for others. */
export interface OpenedVault {
  readonly vault: Vault;
  readonly formerState: AccountState | null;
}

const VERSION = 2;
/** A vault of version 1 has no version: it begins with the length of the account seed. */
const VERSION_1_START = 32;
/** Bytes that a vault is padded to a multiple of, so that its length doesn't tell how often its keys were renewed. */
const PADDED_TO = 4096;
/** Older keys are dropped, and what they sealed opens no more. */
const MAX_SHARED_KEYS = 500;

const RECOVERY_WRAP_VERSION = 2;
const DEVICE_SECRET_LABEL = utf8('Sinetti device secret v1');
const UNLOCK_LABEL = utf8('Sinetti device unlock key v1');
const STATE_KEY_LABEL = utf8('Sinetti first state key v1');

/** Creates the vault of a new account, whose version at the relay will be 1. */
export function createVault(env: Env): Vault {
  return {
    accountSeed: env.random(SHARED_KEY_LENGTH),
    deviceSecret: env.random(SHARED_KEY_LENGTH),
    sharedKeys: [createSharedKeys(1, env)],
    recoveryPublicKey: null,
    formerStorageKey: null,
  };
}

/**
 * Draws new shared keys beside those so far. The vault is to be sealed under a new vault key.
 * @param revision the vault's version at the relay from then on
 * @throws CryptoError 'usage' unless it is above that of the newest keys
 */
export function rotateVault(vault: Vault, revision: number, env: Env): Vault {
  if (revision <= newestSharedKeys(vault.sharedKeys).revision) {
    throw new CryptoError('usage', `revision ${revision} after a newer one`);
  }
  const sharedKeys = [...vault.sharedKeys, createSharedKeys(revision, env)].slice(-MAX_SHARED_KEYS);
  return { ...vault, sharedKeys };
}

/** A fresh key for `sealVault`. */
export function createVaultKey(env: Env): Uint8Array {
  return env.random(SHARED_KEY_LENGTH);
}

/**
 * Derives the key under which a device keeps its own storage key while it is locked.
 * @param salt random bytes that the device keeps beside it
 */
export function deviceUnlockKey(deviceSecret: Uint8Array, salt: Uint8Array): Uint8Array {
  return blake2bKeyed(deviceSecret, concat(UNLOCK_LABEL, salt), SHARED_KEY_LENGTH);
}

/**
 * Seals a vault, padded.
 * @param userId binds the sealed vault to its owner, so that a relay can't hand out another person's
 */
export function sealVault(vault: Vault, vaultKey: Uint8Array, userId: string, env: Env): Uint8Array {
  const plaintext = encode(vault, (writer, value) => {
    writer.u16(VERSION);
    writer.opaque(value.accountSeed);
    writer.opaque(value.deviceSecret);
    writer.vector(value.sharedKeys, writeSharedKeys);
    writer.opaque(value.recoveryPublicKey ?? new Uint8Array());
    writer.opaque(value.formerStorageKey ?? new Uint8Array());
    writer.zerosTo(PADDED_TO);
  });
  const sealed = sealEnvelope(vaultKey, vaultContext(userId), plaintext, env);
  wipe(plaintext);
  return sealed;
}

/**
 * Opens a vault, of version 1 too.
 * @throws CryptoError 'corrupt-record' when it isn't this user's vault under this key; 'unsupported', 'malformed'
 */
export function openVault(sealed: Uint8Array, vaultKey: Uint8Array, userId: string): OpenedVault {
  const plaintext = openEnvelope(vaultKey, vaultContext(userId), sealed, 'corrupt-record');
  try {
    return decode(plaintext, (reader) => {
      const opened =
        plaintext[0] === VERSION_1_START
          ? readVersion1(reader)
          : { vault: readVault(reader), formerState: null };
      reader.zeros('vault padding');
      return opened;
    });
  } finally {
    wipe(plaintext);
  }
}

function readVault(reader: Reader): Vault {
  const version = reader.u16();
  if (version !== VERSION) throw new CryptoError('unsupported', `vault version ${version}`);
  const vault = {
    accountSeed: readKey(reader),
    deviceSecret: readKey(reader),
    sharedKeys: reader.unlimitedVector(readSharedKeys),
    recoveryPublicKey: readOptional(reader),
    formerStorageKey: readOptional(reader),
  };
  for (const [i, { revision }] of vault.sharedKeys.entries()) {
    const before = vault.sharedKeys[i - 1]?.revision ?? -1;
    if (revision <= before) throw new CryptoError('malformed', 'order of shared keys');
  }
  if (vault.sharedKeys.length === 0) throw new CryptoError('malformed', 'no shared keys');
  if (vault.recoveryPublicKey !== null && vault.recoveryPublicKey.length !== XWING.publicKey) {
    throw new CryptoError('malformed', 'recovery public key length');
  }
  if (vault.formerStorageKey !== null && vault.formerStorageKey.length !== SHARED_KEY_LENGTH) {
    throw new CryptoError('malformed', 'vault key length');
  }
  return vault;
}

function readVersion1(reader: Reader): OpenedVault {
  const accountSeed = readKey(reader);
  const storageKey = readKey(reader);
  const historyKey = readKey(reader);
  const verified = reader.unlimitedVector((r) => ({ userId: fromUtf8(r.opaque()), accountKey: readKey(r) }));
  return {
    vault: { accountSeed, recoveryPublicKey: null, ...fromVersion1(storageKey, historyKey) },
    formerState: { verified, pins: [], revision: reader.u32() },
  };
}

/** Gives an account of vault version 1 the keys that later ones draw, the same at each of its devices. */
export function fromVersion1(
  storageKey: Uint8Array,
  historyKey: Uint8Array,
): Pick<Vault, 'deviceSecret' | 'sharedKeys' | 'formerStorageKey'> {
  const stateKey = blake2bKeyed(historyKey, STATE_KEY_LABEL, SHARED_KEY_LENGTH);
  return {
    deviceSecret: blake2bKeyed(storageKey, DEVICE_SECRET_LABEL, SHARED_KEY_LENGTH),
    sharedKeys: [{ revision: 0, stateKey, historyKey }],
    formerStorageKey: storageKey,
  };
}

/** Wraps the vault key under a password. @param wrapKey from `passwordKeys` */
export function wrapVaultKey(vaultKey: Uint8Array, wrapKey: Uint8Array, env: Env): Uint8Array {
  return sealEnvelope(wrapKey, wrapContext('password'), vaultKey, env);
}

/** Opens the vault key by the password's key. @throws CryptoError 'wrong-password', 'unsupported' */
export function unwrapVaultKey(wrapped: Uint8Array, wrapKey: Uint8Array): Uint8Array {
  return openEnvelope(wrapKey, wrapContext('password'), wrapped, 'wrong-password');
}

/**
 * Seals the vault key to the public half of the recovery key, by HPKE (RFC 9180, base mode) with X-Wing, HKDF-SHA256 and
 * ChaCha20-Poly1305: nobody has to type the recovery key for it. In bytes: version (1), enc (1120), ciphertext (48).
 * @throws CryptoError 'malformed' for an invalid public key
 */
export function wrapForRecovery(
  vaultKey: Uint8Array,
  recoveryPublicKey: Uint8Array,
  userId: string,
  env: Env,
): Uint8Array {
  const info = recoveryInfo(userId);
  const sealed = hpke.seal(recoverySuite(), recoveryPublicKey, info, new Uint8Array(), vaultKey, env);
  return concat(Uint8Array.of(RECOVERY_WRAP_VERSION), sealed.kemOutput, sealed.ciphertext);
}

/** Opens the vault key by the recovery key, also as it was wrapped before version 2. @throws CryptoError 'bad-recovery-key' */
export function unwrapByRecoveryKey(
  wrapped: Uint8Array,
  recoveryKey: Uint8Array,
  userId: string,
): Uint8Array {
  if (wrapped[0] !== RECOVERY_WRAP_VERSION) {
    const wrapKey = recoveryWrapKey(recoveryKey);
    return openEnvelope(wrapKey, wrapContext('recovery'), wrapped, 'bad-recovery-key');
  }
  const { privateKey } = recoveryKeyPair(recoveryKey);
  const end = 1 + XWING.ciphertext;
  const sealed = { kemOutput: wrapped.subarray(1, end), ciphertext: wrapped.subarray(end) };
  try {
    return hpke.open(recoverySuite(), privateKey, recoveryInfo(userId), new Uint8Array(), sealed);
  } catch (error) {
    if (error instanceof CryptoError) throw new CryptoError('bad-recovery-key');
    throw error;
  } finally {
    wipe(privateKey);
  }
}

const recoverySuite = () => getSuite(0x004d);

function readOptional(reader: Reader): Uint8Array | null {
  const bytes = reader.opaque();
  return bytes.length === 0 ? null : bytes.slice();
}

function vaultContext(userId: string): Uint8Array {
  return encode(userId, (writer, id) => {
    writer.opaque(utf8('Sinetti vault'));
    writer.opaque(utf8(id));
  });
}

function wrapContext(label: 'password' | 'recovery'): Uint8Array {
  return encode(label, (writer, text) => {
    writer.opaque(utf8('Sinetti vault key'));
    writer.opaque(utf8(text));
  });
}

function recoveryInfo(userId: string): Uint8Array {
  return concat(wrapContext('recovery'), vaultContext(userId));
}
