/**
 * Renewing the keys of an account: whoever had them before, by a revoked device, an old password or an old recovery key,
 * opens nothing that is sealed from then on (PROTOCOL section 2).
 */
import {
  createVaultKey,
  newestSharedKeys,
  openVault,
  ready,
  rotateVault,
  sealVault,
  unwrapVaultKey,
  type Vault,
  wipe,
  wrapForRecovery,
  wrapVaultKey,
} from '@sinetti/crypto-core';
import { check, StoredVault } from '../api/arguments.ts';
import type { CryptoApi, RotatedVault } from '../api/cryptoApi.ts';
import { CryptoApiError } from '../api/errors.ts';
import { toBase64Url } from '../codec/base64url.ts';
import type { Guarded } from '../codec/guards.ts';
import { readKeys, type Session, type VaultOpening } from '../session/session.ts';
import { read } from '../storage/db.ts';
import type { Confirmations } from './confirmations.ts';
import type { DerivedKeys, PasswordDeps } from './passwordKeys.ts';

/** What becomes of the account along with its keys. */
export interface RotationChange {
  /** Opens the vault from then on. */
  readonly password: Pick<DerivedKeys, 'wrapKey' | 'proofKey'>;
  /** Left out, the one in the vault stays. */
  readonly recoveryPublicKey?: Uint8Array;
}

/** Opens vaults and seals them anew, and keeps the one sealed last until the relay has taken it. */
export class Rotation {
  readonly #deps: PasswordDeps;
  readonly #session: Session;
  #sealed: VaultOpening | null = null;

  constructor(deps: PasswordDeps, session: Session) {
    this.#deps = deps;
    this.#session = session;
  }

  /**
   * Opens the vault by a password; the caller wipes its secrets.
   * @throws CryptoApiError `stale-vault` for an older one than this device has seen
   * @throws CryptoError `wrong-password`
   */
  async open(
    { passwordWrap, sealedVault, version }: Guarded<typeof StoredVault>,
    { wrapKey }: Pick<DerivedKeys, 'wrapKey'>,
  ): Promise<Vault> {
    const account = this.#session.account();
    const vaultKey = unwrapVaultKey(passwordWrap, wrapKey);
    const { vault } = openVault(sealedVault, vaultKey, account.userId);
    wipe(vaultKey);
    const known = await read(account.db, (tx) => readKeys(tx, account));
    const isOlder = newestSharedKeys(vault.sharedKeys).revision < newestSharedKeys(known.sharedKeys).revision;
    if (!isOlder && version >= known.vaultVersion) return vault;
    wipeVault(vault);
    throw new CryptoApiError('stale-vault');
  }

  /**
   * Seals the vault under a new vault key, with new shared keys in it, and keeps it for {@link takeSealed}.
   * @param version the one that it replaces
   */
  seal(userId: string, vault: Vault, version: number, change: RotationChange): RotatedVault {
    const { env } = this.#deps;
    const { recoveryPublicKey = vault.recoveryPublicKey } = change;
    const { proofKey, wrapKey } = change.password;
    const next = rotateVault({ ...vault, recoveryPublicKey }, version + 1, env);
    const vaultKey = createVaultKey(env);
    const recoveryWrap =
      recoveryPublicKey === null ? null : wrapForRecovery(vaultKey, recoveryPublicKey, userId, env);
    const rotated = {
      version,
      sealedVault: toBase64Url(sealVault(next, vaultKey, userId, env)),
      passwordWrap: toBase64Url(wrapVaultKey(vaultKey, wrapKey, env)),
      recoveryWrap: recoveryWrap === null ? null : toBase64Url(recoveryWrap),
    };
    wipe(vaultKey);
    this.#sealed = { vault: next, version: version + 1, proofKey };
    return rotated;
  }

  /** The vault that was sealed last. @throws CryptoApiError `usage` when there is none */
  takeSealed(): VaultOpening {
    const sealed = this.#sealed;
    if (sealed === null) throw new CryptoApiError('usage', 'no keys were renewed');
    this.#sealed = null;
    return sealed;
  }
}

type RotationApi = Pick<CryptoApi, 'adoptRenewedKeys' | 'readRenewedKeys' | 'vaultVersion'>;

export function createRotation(
  session: Session,
  confirmations: Confirmations,
  rotation: Rotation,
): RotationApi {
  return {
    async adoptRenewedKeys() {
      await session.adopt(rotation.takeSealed());
    },

    async readRenewedKeys(given) {
      const stored = check('readRenewedKeys', StoredVault, given);
      const { keys } = confirmations.take(['renew-keys'], null);
      await ready();
      const vault = await rotation.open(stored, keys);
      await session.adopt({ vault, version: stored.version, proofKey: keys.proofKey });
      wipeVault(vault);
      confirmations.forget();
    },

    async vaultVersion() {
      const account = session.account();
      return (await read(account.db, (tx) => readKeys(tx, account))).vaultVersion;
    },
  };
}

/** Wipes what a device keeps only as long as it works with the vault. */
export function wipeVault({ accountSeed, deviceSecret }: Vault): void {
  wipe(accountSeed, deviceSecret);
}
