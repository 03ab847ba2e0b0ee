/** A device's storage key for the time that it is locked: sealed under a key that the vault gives (PROTOCOL section 2). */
import { CryptoError, type Env, wipe } from '@sinetti/crypto-core';
import { deviceUnlockKey, openRecord, sealRecord, type Vault } from '@sinetti/crypto-core/account';

const SALT_LENGTH = 16;

/** Seals the storage key. In bytes: a salt (16), and a sealed record. */
export function sealStorageKey(
  { deviceSecret }: Pick<Vault, 'deviceSecret'>,
  storageKey: Uint8Array,
  env: Env,
): Uint8Array {
  const salt = env.random(SALT_LENGTH);
  const unlockKey = deviceUnlockKey(deviceSecret, salt);
  const sealed = sealRecord(unlockKey, 'device', 'unlock', storageKey, env);
  wipe(unlockKey);
  const row = new Uint8Array(SALT_LENGTH + sealed.length);
  row.set(salt);
  row.set(sealed, SALT_LENGTH);
  return row;
}

/** Opens the storage key that {@link sealStorageKey} has sealed; null where the vault isn't the one that it was sealed by. */
export function openStorageKey({ deviceSecret }: Vault, row: Uint8Array): Uint8Array | null {
  const unlockKey = deviceUnlockKey(deviceSecret, row.subarray(0, SALT_LENGTH));
  try {
    return openRecord(unlockKey, 'device', 'unlock', row.subarray(SALT_LENGTH));
  } catch (error) {
    if (error instanceof CryptoError) return null;
    throw error;
  } finally {
    wipe(unlockKey);
  }
}
