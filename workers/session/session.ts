import { type Env, readDeviceCertificate, type SignatureKeyPair, type Vault } from '@sinetti/crypto-core';
import { CryptoApiError } from '../api/errors.ts';
import { limits } from '../codec/limits.ts';
import {
  type AccountDatabase,
  deleteAccountDatabase,
  openAccountDatabase,
  openRootDatabase,
  type RootDatabase,
  read,
  type SessionRow,
  type Transaction,
  type WriteTransaction,
  write,
} from '../storage/db.ts';
import { DeviceRecord, Sealer, VaultRecord } from '../storage/records.ts';
import { endSession } from './endSession.ts';
import type { Locks } from './locks.ts';

export interface SessionDeps {
  readonly env: Env;
  readonly indexedDB: IDBFactory;
  readonly locks: Locks;
  readonly subtle: SubtleCrypto;
}

/** The device that this browser is. */
export interface Device {
  readonly deviceId: string;
  readonly certificate: Uint8Array;
  readonly signatureKey: SignatureKeyPair;
  /** The person's account key, which has to certify every leaf of theirs. */
  readonly accountKey: Uint8Array;
}

/** The account whose storage is open, with the keys and the device to work in it. */
export interface UnlockedAccount {
  readonly userId: string;
  readonly db: AccountDatabase;
  readonly sealer: Sealer;
  readonly vault: VaultRecord;
  device: Device | null;
}

export type AccountOnDevice = UnlockedAccount & { readonly device: Device };

const encoder = new TextEncoder();

/**
 * The session of this worker, which holds the unlocked account.
 *
 * [Note: how a session survives a reload]
 * The storage key is kept in IndexedDB, encrypted by an AES-GCM key that WebCrypto holds and never lets out,
 * so that copying the profile's files doesn't yield it in usable form, and deleting that one row locks all
 * records. WebCrypto answers later than an IndexedDB transaction waits, so none of it happens inside one.
 */
export class Session {
  readonly #deps: SessionDeps;
  #account: UnlockedAccount | null = null;

  constructor(deps: SessionDeps) {
    this.#deps = deps;
  }

  /** @throws CryptoApiError `locked` */
  account(): UnlockedAccount {
    if (this.#account === null) throw new CryptoApiError('locked');
    return this.#account;
  }

  /** @throws CryptoApiError `locked`, `usage` before the device was opened */
  accountOnDevice(): AccountOnDevice {
    const account = this.account();
    if (!hasDevice(account)) throw new CryptoApiError('usage', 'open the device first');
    return account;
  }

  /**
   * Unlocks the account's storage, and keeps it openable until {@link lock}.
   * @param vaultKey the key under which the vault is sealed; kept from here on
   * @param passwordWrap that key under the password, by which the password is checked from here on
   * @param body writes the rest of the vault in the same transaction
   */
  async open(
    userId: string,
    { accountSeed, storageKey, historyKey }: Pick<Vault, 'accountSeed' | 'storageKey' | 'historyKey'>,
    vaultKey: Uint8Array,
    passwordWrap: Uint8Array,
    body: (tx: WriteTransaction, account: UnlockedAccount) => Promise<void>,
  ): Promise<void> {
    this.#close();
    const row = await this.#wrap(userId, storageKey);
    const vault: VaultRecord = { accountSeed, historyKey, vaultKey, passwordWraps: [passwordWrap] };
    const sealer = new Sealer(storageKey, this.#deps.env);
    const account = await this.#openAccount(userId, sealer, vault);
    try {
      await write(account.db, 'relaxed', async (tx) => {
        await putVault(tx, sealer, vault);
        await body(tx, account);
      });
      await this.#inRoot(async (root) => {
        const tx = root.transaction('sessions', 'readwrite');
        // Only one account is signed in at a time, so no other one's key is left behind.
        await Promise.all([tx.store.clear(), tx.store.put(row, userId), tx.done]);
      });
    } catch (error) {
      account.db.close();
      sealer.wipe();
      throw error;
    }
    this.#account = account;
  }

  /** Unlocks the account again. False when this browser holds no session of it, or lost the storage. */
  async resume(userId: string): Promise<boolean> {
    if (this.#account?.userId === userId) return true;
    this.#close();
    const row = await this.#inRoot((root) => root.get('sessions', userId));
    const storageKey = row === undefined ? null : await this.#unwrap(userId, row);
    if (storageKey === null) return false;
    const sealer = new Sealer(storageKey, this.#deps.env);
    const account = await this.#openAccount(userId, sealer, null);
    if (account === null) return false;
    this.#account = account;
    return true;
  }

  /**
   * Destroys the wrapped storage key and the key that wraps it, also when this worker hasn't opened it.
   * Transactions that are under way fail with `locked`.
   */
  async lock(): Promise<void> {
    this.#close();
    await endSession(this.#deps.indexedDB);
  }

  async erase(): Promise<void> {
    const { userId } = this.account();
    await this.lock();
    await deleteAccountDatabase(this.#deps.indexedDB, userId);
  }

  /** Reads the wraps of the vault key under the password: another tab may have changed it. */
  async passwordWraps(): Promise<Uint8Array[]> {
    const { db, sealer } = this.account();
    return (await read(db, (tx) => getVault(tx, sealer))).passwordWraps;
  }

  /** Takes the wrap of a new password beside those before. */
  async addPasswordWrap(passwordWrap: Uint8Array): Promise<void> {
    const { db, sealer } = this.account();
    await write(db, 'relaxed', async (tx) => {
      const vault = await getVault(tx, sealer);
      const passwordWraps = [...vault.passwordWraps, passwordWrap].slice(-limits.passwordWraps);
      await putVault(tx, sealer, { ...vault, passwordWraps });
    });
  }

  /** Erases all that this browser holds of the account but the open session, as if it had just signed in. */
  async reset(): Promise<void> {
    const { db, sealer: former, userId } = this.account();
    const vault = await read(db, (tx) => getVault(tx, former));
    const row = await this.#inRoot((root) => root.get('sessions', userId));
    const storageKey = row === undefined ? null : await this.#unwrap(userId, row);
    if (storageKey === null) throw new CryptoApiError('locked');
    this.#close();
    await deleteAccountDatabase(this.#deps.indexedDB, userId);
    const sealer = new Sealer(storageKey, this.#deps.env);
    const account = await this.#openAccount(userId, sealer, vault);
    await write(account.db, 'relaxed', (tx) => putVault(tx, sealer, vault));
    this.#account = account;
  }

  #close(): void {
    this.#account?.db.close();
    this.#account?.sealer.wipe();
    this.#account = null;
  }

  async #openAccount(userId: string, sealer: Sealer, vault: VaultRecord): Promise<UnlockedAccount>;
  async #openAccount(userId: string, sealer: Sealer, vault: null): Promise<UnlockedAccount | null>;
  async #openAccount(
    userId: string,
    sealer: Sealer,
    vault: VaultRecord | null,
  ): Promise<UnlockedAccount | null> {
    const db = await openAccountDatabase(this.#deps.indexedDB, userId, () => {
      if (this.#account?.db === db) this.#close();
    });
    try {
      const [vaultRow, deviceRow] = await Promise.all([
        db.get('device', 'vault'),
        db.get('device', 'device'),
      ]);
      const known = vault ?? (vaultRow && sealer.open('device', 'vault', vaultRow, VaultRecord));
      if (known === undefined) {
        // The session outlived its storage, which the browser evicted.
        db.close();
        return null;
      }
      const device =
        deviceRow === undefined ? null : toDevice(sealer.open('device', 'device', deviceRow, DeviceRecord));
      return { userId, db, sealer, vault: known, device };
    } catch (error) {
      db.close();
      throw error;
    }
  }

  async #inRoot<T>(body: (root: RootDatabase) => Promise<T>): Promise<T> {
    const root = await openRootDatabase(this.#deps.indexedDB);
    try {
      return await body(root);
    } finally {
      root.close();
    }
  }

  async #wrap(userId: string, storageKey: Uint8Array): Promise<SessionRow> {
    const { subtle, env } = this.#deps;
    const wrappingKey = await subtle.generateKey({ name: 'AES-GCM', length: 256 }, false, [
      'encrypt',
      'decrypt',
    ]);
    const iv = new Uint8Array(env.random(12));
    const wrapped = await subtle.encrypt(gcm(userId, iv), wrappingKey, new Uint8Array(storageKey));
    return { wrappingKey, iv, wrapped: new Uint8Array(wrapped) };
  }

  async #unwrap(userId: string, row: SessionRow): Promise<Uint8Array | null> {
    try {
      const key = await this.#deps.subtle.decrypt(
        gcm(userId, row.iv),
        row.wrappingKey,
        new Uint8Array(row.wrapped),
      );
      return new Uint8Array(key);
    } catch {
      // Any fault of the row has the same remedy, which is to sign in again.
      return null;
    }
  }
}

async function putVault(tx: WriteTransaction, sealer: Sealer, vault: VaultRecord): Promise<void> {
  await tx.objectStore('device').put(sealer.seal('device', 'vault', vault), 'vault');
}

/** @throws CryptoApiError `locked` when the browser has evicted it */
async function getVault(tx: Transaction, sealer: Sealer): Promise<VaultRecord> {
  const row = await tx.objectStore('device').get('vault');
  if (row === undefined) throw new CryptoApiError('locked');
  return sealer.open('device', 'vault', row, VaultRecord);
}

export function toDevice({ deviceId, certificate, signatureSeed }: DeviceRecord): Device {
  const { deviceKey, accountKey } = readDeviceCertificate(certificate);
  const signatureKey = { publicKey: deviceKey, privateKey: signatureSeed };
  return { deviceId, certificate, signatureKey, accountKey };
}

function hasDevice(account: UnlockedAccount): account is AccountOnDevice {
  return account.device !== null;
}

function gcm(userId: string, iv: Uint8Array): AesGcmParams {
  return { name: 'AES-GCM', iv: new Uint8Array(iv), additionalData: encoder.encode(userId) };
}
