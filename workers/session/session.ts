import { type Env, equalBytes, ready, type SignatureKeyPair, wipe } from '@sinetti/crypto-core';
import { readDeviceCertificate, type Vault } from '@sinetti/crypto-core/account';
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
import { DeviceRecord, KeysRecord } from '../storage/records.ts';
import { Sealer } from '../storage/sealer.ts';
import { AccountClock } from './accountClock.ts';
import { endSession } from './endSession.ts';
import type { Locks } from './locks.ts';
import { openStorageKey, sealStorageKey } from './storageKey.ts';
import { type VaultOpening, withKeys } from './vaultOpening.ts';

export interface SessionDeps {
  readonly env: Env;
  readonly indexedDB: IDBFactory;
  readonly locks: Locks;
  readonly subtle: SubtleCrypto;
  /** Milliseconds since any moment, by a clock that nobody sets. */
  readonly monotonic: () => number;
}

/** The device that this browser is. */
export interface Device {
  readonly deviceId: string;
  readonly certificate: Uint8Array;
  readonly signatureKey: SignatureKeyPair;
  /** The person's account key, which has to certify every leaf of theirs. */
  readonly accountKey: Uint8Array;
  /** The account key's word that this device is revoked; null for a device from before it was kept. */
  readonly ownRevocation: Uint8Array | null;
  /** The account keys that the person has moved on from. */
  readonly formerAccountKeys: readonly Uint8Array[];
}

/** The account whose storage is open, with the keys and the device to work in it. */
export interface UnlockedAccount {
  readonly userId: string;
  readonly db: AccountDatabase;
  readonly sealer: Sealer;
  device: Device | null;
  /** This worker has drawn a start of its own: see place.ts. */
  isStarted: boolean;
  /** Called when the account is locked: each wipes secrets that are in memory. */
  readonly wipeWhenLocked: (() => void)[];
  readonly clock: AccountClock;
  /** Milliseconds since the Unix epoch, by `clock`. */
  readonly now: () => number;
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
  /** Kept from {@link open} to {@link forgetVault}: it certifies a new device. */
  #opening: VaultOpening | null = null;

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

  /** The account seed, while signing in. @throws CryptoApiError `locked` at any other time */
  accountSeed(): Uint8Array {
    if (this.#opening === null) throw new CryptoApiError('locked');
    return this.#opening.vault.accountSeed;
  }

  /** Returns whether the vault is open, from which a device can be certified. */
  isSigningIn(): boolean {
    return this.#opening !== null;
  }

  /** Signing in is over: what only the password or the recovery key opens goes. */
  forgetVault(): void {
    if (this.#opening === null) return;
    const { accountSeed, deviceSecret } = this.#opening.vault;
    wipe(accountSeed, deviceSecret);
    this.#opening = null;
  }

  /**
   * Unlocks the account's storage, and keeps it openable until {@link lock}.
   * @param body writes more in the same transaction
   */
  async open(
    userId: string,
    opening: VaultOpening,
    body: (tx: WriteTransaction, account: UnlockedAccount) => Promise<void>,
  ): Promise<void> {
    this.#close();
    const { db, storageKey } = await this.#openStorage(userId, opening.vault);
    const row = await this.#wrap(userId, storageKey);
    const sealer = new Sealer(storageKey, this.#deps.env);
    try {
      const account = await openedAccount(userId, db, sealer, this.#deps);
      await write(db, 'strict', async (tx) => {
        const unlock = sealStorageKey(opening.vault, storageKey, this.#deps.env);
        await tx.objectStore('device').put(unlock, 'unlock');
        await tx.objectStore('device').delete('nextUnlock');
        await tx.objectStore('device').delete('vault');
        await adoptVault(tx, account, opening);
        await body(tx, account);
      });
      await this.#inRoot(async (root) => {
        const tx = root.transaction('sessions', 'readwrite');
        // Only one account is signed in at a time, so no other one's key is left behind.
        await Promise.all([tx.store.clear(), tx.store.put(row, userId), tx.done]);
      });
      this.#account = account;
    } catch (error) {
      db.close();
      sealer.wipe();
      throw error;
    }
    this.#opening = opening;
  }

  /** Unlocks the account again. False when this browser holds no session of it, or lost the storage. */
  async resume(userId: string): Promise<boolean> {
    if (this.#account?.userId === userId) return true;
    this.#close();
    const row = await this.#inRoot((root) => root.get('sessions', userId));
    const storageKey = row === undefined ? null : await this.#unwrap(userId, row);
    if (storageKey === null) return false;
    const db = await this.#openDatabase(userId);
    const sealer = new Sealer(storageKey, this.#deps.env);
    try {
      const [keys, former] = await Promise.all([db.get('device', 'keys'), db.get('device', 'vault')]);
      // Left by a former version: logging in makes it anew.
      if (former !== undefined) throw new CryptoApiError('locked');
      if (keys === undefined) {
        // The session outlived its storage, which the browser evicted.
        db.close();
        return false;
      }
      // Only now, since WebAssembly is compiled while the databases are opened.
      await ready();
      this.#account = await openedAccount(userId, db, sealer, this.#deps);
      return true;
    } catch (error) {
      db.close();
      throw error;
    }
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

  /** Returns whether a password is the person's, by its public proof key: another tab may have changed it. */
  async isPassword(proofKey: Uint8Array): Promise<boolean> {
    const account = this.account();
    const { proofKeys } = await read(account.db, (tx) => readKeys(tx, account));
    return proofKeys.some((known) => equalBytes(known, proofKey));
  }

  /** Takes a new password beside the present one, until the relay has said which it has. */
  async addProofKey(proofKey: Uint8Array): Promise<void> {
    const account = this.account();
    const { sealer } = account;
    await write(account.db, 'strict', async (tx) => {
      const keys = await readKeys(tx, account);
      // The present one stays, whatever becomes of those that it was to be changed to.
      const [present = proofKey, ...others] = keys.proofKeys;
      const proofKeys = [present, ...[...others, proofKey].slice(1 - limits.proofKeys)];
      await tx.objectStore('device').put(sealer.seal('device', 'keys', { ...keys, proofKeys }), 'keys');
    });
  }

  /**
   * Takes a vault's keys beside those so far, and the password that opens it in the place of the one so far.
   * @param body writes more in the same transaction
   */
  async adopt(
    opening: VaultOpening,
    body: (tx: WriteTransaction) => Promise<void> = () => Promise.resolve(),
  ): Promise<void> {
    const account = this.account();
    await write(account.db, 'strict', async (tx) => {
      await adoptVault(tx, account, opening);
      await body(tx);
    });
  }

  /**
   * Takes an older vault's keys in the place of newer ones, whose vault the relay has lost.
   * @param body writes more in the same transaction
   */
  async goBack(opening: VaultOpening, body: (tx: WriteTransaction) => Promise<void>): Promise<void> {
    const account = this.account();
    await write(account.db, 'strict', async (tx) => {
      const keys = await readKeys(tx, account);
      const isKept = ({ revision }: { readonly revision: number }) => revision < opening.version;
      const sharedKeys = keys.sharedKeys.filter(isKept);
      const statements = keys.statements.filter(isKept);
      const older: KeysRecord = { ...keys, sharedKeys, statements, vaultVersion: 0 };
      await tx.objectStore('device').put(account.sealer.seal('device', 'keys', older), 'keys');
      await adoptVault(tx, account, opening);
      await body(tx);
    });
  }

  /**
   * Has a vault with another device secret open this browser's storage as well, since the relay may take it without its
   * answer getting here.
   */
  async keepNextUnlock(vault: Pick<Vault, 'deviceSecret'>): Promise<void> {
    const account = this.account();
    const row = await this.#inRoot((root) => root.get('sessions', account.userId));
    const storageKey = row === undefined ? null : await this.#unwrap(account.userId, row);
    if (storageKey === null) throw new CryptoApiError('locked');
    const unlock = sealStorageKey(vault, storageKey, this.#deps.env);
    wipe(storageKey);
    await write(account.db, 'strict', async (tx) => {
      await tx.objectStore('device').put(unlock, 'nextUnlock');
    });
  }

  /**
   * Erases all that this browser holds of the account, as if it had just signed in.
   * @throws CryptoApiError `locked` unless it has
   */
  async reset(): Promise<void> {
    const { userId } = this.account();
    const opening = this.#opening;
    if (opening === null) throw new CryptoApiError('locked');
    this.#opening = null;
    this.#closeStorage();
    await deleteAccountDatabase(this.#deps.indexedDB, userId);
    await this.open(userId, opening, async () => undefined);
  }

  #close(): void {
    this.forgetVault();
    this.#closeStorage();
  }

  #closeStorage(): void {
    this.#account?.db.close();
    this.#account?.sealer.wipe();
    for (const wipeSecrets of this.#account?.wipeWhenLocked ?? []) wipeSecrets();
    this.#account = null;
  }

  async #openDatabase(userId: string): Promise<AccountDatabase> {
    const db = await openAccountDatabase(this.#deps.indexedDB, userId, () => {
      if (this.#account?.db === db) this.#close();
    });
    return db;
  }

  /** Opens the storage by the key that it was left with; what can't be opened any more is deleted. */
  async #openStorage(userId: string, vault: Vault): Promise<{ db: AccountDatabase; storageKey: Uint8Array }> {
    const db = await this.#openDatabase(userId);
    const [unlock, next, former] = await Promise.all([
      db.get('device', 'unlock'),
      db.get('device', 'nextUnlock'),
      db.get('device', 'vault'),
    ]);
    if (unlock === undefined && former === undefined) return { db, storageKey: this.#deps.env.random(32) };
    const storageKey =
      unlock === undefined
        ? vault.formerStorageKey
        : (openStorageKey(vault, unlock) ?? (next === undefined ? null : openStorageKey(vault, next)));
    if (storageKey !== null) return { db, storageKey: storageKey.slice() };
    db.close();
    await deleteAccountDatabase(this.#deps.indexedDB, userId);
    return { db: await this.#openDatabase(userId), storageKey: this.#deps.env.random(32) };
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

async function openedAccount(
  userId: string,
  db: AccountDatabase,
  sealer: Sealer,
  deps: SessionDeps,
): Promise<UnlockedAccount> {
  const row = await db.get('device', 'device');
  const device = row === undefined ? null : toDevice(sealer.open('device', 'device', row, DeviceRecord));
  const clock = new AccountClock(deps);
  return { userId, db, sealer, device, isStarted: false, wipeWhenLocked: [], clock, now: clock.now };
}

/** Reads what the device keeps of the vault. @throws CryptoApiError `locked` when the browser has evicted it */
export async function readKeys(tx: Transaction, { sealer }: UnlockedAccount): Promise<KeysRecord> {
  const row = await tx.objectStore('device').get('keys');
  if (row === undefined) throw new CryptoApiError('locked');
  return sealer.open('device', 'keys', row, KeysRecord);
}

async function adoptVault(
  tx: WriteTransaction,
  { sealer }: UnlockedAccount,
  { proofKey, statements, vault, version }: VaultOpening,
): Promise<void> {
  const store = tx.objectStore('device');
  const row = await store.get('keys');
  const known = row === undefined ? null : sealer.open('device', 'keys', row, KeysRecord);
  const added = { sharedKeys: vault.sharedKeys, vaultVersion: version, statements };
  const record: KeysRecord = { ...withKeys(known, added), proofKeys: [proofKey] };
  await store.put(sealer.seal('device', 'keys', record), 'keys');
}

export function toDevice(record: DeviceRecord): Device {
  const { deviceId, certificate, formerAccountKeys, ownRevocation, signatureSeed } = record;
  const { deviceKey, accountKey } = readDeviceCertificate(certificate);
  const signatureKey = { publicKey: deviceKey, privateKey: signatureSeed };
  return { deviceId, certificate, signatureKey, accountKey, ownRevocation, formerAccountKeys };
}

function hasDevice(account: UnlockedAccount): account is AccountOnDevice {
  return account.device !== null;
}

function gcm(userId: string, iv: Uint8Array): AesGcmParams {
  return { name: 'AES-GCM', iv: new Uint8Array(iv), additionalData: encoder.encode(userId) };
}
