/** Reads what a device keeps of a vault: the keys that the person's devices share, and what they are believed by. */
import { newestSharedKeys, signSharedKeys, type Vault } from '@sinetti/crypto-core/account';
import { limits } from '../codec/limits.ts';
import type { KeysRecord } from '../storage/records.ts';

/** A vault that was just opened. */
export interface VaultOpening {
  readonly vault: Vault;
  /** Its version at the relay. */
  readonly version: number;
  /** The public proof key of the password. */
  readonly proofKey: Uint8Array;
  /** Its newest shared keys as the account key signs them for the person's other devices; none without a revision. */
  readonly statements: KeysRecord['statements'];
}

/** The contents of a vault that was just opened, for this device. */
export function vaultOpening(
  userId: string,
  { proofKey, vault, version }: Omit<VaultOpening, 'statements'>,
): VaultOpening {
  const { revision } = newestSharedKeys(vault.sharedKeys);
  const statement = signSharedKeys(vault.accountSeed, userId, vault.sharedKeys);
  return { vault, version, proofKey, statements: statement === null ? [] : [{ revision, statement }] };
}

/** Shared keys that came from a vault, or from another device that has opened it. */
export type AddedKeys = Pick<KeysRecord, 'statements' | 'vaultVersion'> & Pick<Vault, 'sharedKeys'>;

/** Adds shared keys to those that this device has. */
export function withKeys(known: KeysRecord | null, added: AddedKeys): Omit<KeysRecord, 'proofKeys'> {
  const held = new Set(added.sharedKeys.map(({ revision }) => revision));
  // Keys that a relay left out of an older vault stay: something may be sealed under them.
  const kept = known?.sharedKeys.filter(({ revision }) => !held.has(revision)) ?? [];
  const sharedKeys = [...kept, ...added.sharedKeys].sort((one, other) => one.revision - other.revision);
  const stated = new Set(added.statements.map(({ revision }) => revision));
  const before = known?.statements.filter(({ revision }) => !stated.has(revision)) ?? [];
  const statements = [...before, ...added.statements].sort((one, other) => one.revision - other.revision);
  return {
    sharedKeys: sharedKeys.slice(-limits.sharedKeys),
    vaultVersion: Math.max(added.vaultVersion, known?.vaultVersion ?? 0),
    statements: statements.slice(-limits.keysStatements),
  };
}
