/** The sealing of stored records: each for the store and key that it is under, so that none can be put in the place of another. */
import { CryptoError, type Env, toHex } from '@sinetti/crypto-core';
import { hiddenRecordKey, openRecord, sealRecord } from '@sinetti/crypto-core/account';
import { CryptoApiError } from '../api/errors.ts';
import { type Guard, GuardFailure } from '../codec/guards.ts';
import { decodeJson, encodeJson } from '../codec/json.ts';
import type { StoreName } from './db.ts';

/** Seals and opens the records of an account. */
export class Sealer {
  #storageKey: Uint8Array | null;
  readonly #env: Env;

  constructor(storageKey: Uint8Array, env: Env) {
    this.#storageKey = storageKey;
    this.#env = env;
  }

  sealBytes(store: StoreName, key: string, plaintext: Uint8Array): Uint8Array {
    return sealRecord(this.#key(), store, key, plaintext, this.#env);
  }

  /** @throws CryptoError `corrupt-record` */
  openBytes(store: StoreName, key: string, sealed: Uint8Array): Uint8Array {
    return openRecord(this.#key(), store, key, sealed);
  }

  seal(store: StoreName, key: string, record: object): Uint8Array {
    return this.sealBytes(store, key, encodeJson(record));
  }

  /** @throws CryptoError `corrupt-record`, also for a record that opens but isn't of its shape */
  open<T>(store: StoreName, key: string, sealed: Uint8Array, guard: Guard<T>): T {
    const plaintext = this.openBytes(store, key, sealed);
    try {
      return decodeJson(plaintext, guard);
    } catch (error) {
      if (error instanceof GuardFailure)
        throw new CryptoError('corrupt-record', `${store}: ${error.message}`);
      throw error;
    }
  }

  /** Returns the key, in hexadecimal, of a record whose key must not show its name. */
  hiddenKey(store: StoreName, key: string): string {
    return toHex(hiddenRecordKey(this.#key(), store, key));
  }

  /** Forgets the key, so that a transaction under way fails instead of sealing under a wiped one. */
  wipe(): void {
    this.#storageKey?.fill(0);
    this.#storageKey = null;
  }

  get isWiped(): boolean {
    return this.#storageKey === null;
  }

  #key(): Uint8Array {
    if (this.#storageKey === null) throw new CryptoApiError('locked');
    return this.#storageKey;
  }
}

/** Returns the key for which a record of a compound-key store is sealed. */
export function sealingKey(conversationId: string, key: string | number): string {
  return `${conversationId}/${key}`;
}
