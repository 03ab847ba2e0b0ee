import { utf8, wipe } from '../bytes.ts';
import { CryptoError } from '../errors.ts';
import { argon2id, blake2bKeyed } from '../suite/sodium.ts';

/** Argon2id parameters. They come from the relay before login, so they are input like any other. */
export interface PasswordParams {
  /** 16 bytes, random for each user. */
  readonly salt: Uint8Array;
  /** Passes over the memory. */
  readonly opsLimit: number;
  /** Bytes. */
  readonly memLimitBytes: number;
}

/** The keys that a password gives, of 32 bytes each. */
export interface PasswordKeys {
  readonly authKey: Uint8Array;
  readonly wrapKey: Uint8Array;
  readonly proofSeed: Uint8Array;
}

const MIB = 1024 * 1024;

/** The cost for new accounts. */
export const DEFAULT_PASSWORD_COST = { opsLimit: 3, memLimitBytes: 128 * MIB } as const;

// A relay that could lower the cost could guess the password from authKey; one that could raise it without bound
// could hang the device.
const MIN_COST = DEFAULT_PASSWORD_COST;
const MAX_COST = { opsLimit: 10, memLimitBytes: 1024 * MIB } as const;

const AUTH_LABEL = utf8('Sinetti password auth key v1');
const WRAP_LABEL = utf8('Sinetti password wrap key v1');
const PROOF_LABEL = utf8('Sinetti password proof key v1');

/**
 * Derives the keys of a password: `authKey` is shown to the relay in place of the password; `wrapKey`, which wraps the
 * vault key, and `proofSeed`, the Ed25519 seed that signs proofs, stay here. None tells anything of another. The password
 * is normalised (NFKC), so that it is the same from every keyboard and operating system.
 * @throws CryptoError 'unsupported' for parameters out of bounds, 'malformed' for a salt that isn't 16 bytes
 */
export function passwordKeys(
  password: string,
  { salt, opsLimit, memLimitBytes }: PasswordParams,
): PasswordKeys {
  assertWithin('passes', opsLimit, MIN_COST.opsLimit, MAX_COST.opsLimit);
  assertWithin('memory', memLimitBytes, MIN_COST.memLimitBytes, MAX_COST.memLimitBytes);
  const secret = utf8(password.normalize('NFKC'));
  const master = argon2id(secret, salt, opsLimit, memLimitBytes, 32);
  const keys = {
    authKey: blake2bKeyed(master, AUTH_LABEL, 32),
    wrapKey: blake2bKeyed(master, WRAP_LABEL, 32),
    proofSeed: blake2bKeyed(master, PROOF_LABEL, 32),
  };
  wipe(secret, master);
  return keys;
}

function assertWithin(what: string, value: number, min: number, max: number): void {
  if (!Number.isInteger(value) || value < min || value > max) {
    throw new CryptoError('unsupported', `Argon2id ${what}: ${value}`);
  }
}
