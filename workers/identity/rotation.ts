/**
 * Renewing the keys of an account: whoever had them before, by a revoked device, an old password or an old recovery key,
 * opens nothing that is sealed from then on (PROTOCOL section 2).
 */
import { ready, wipe } from '@sinetti/crypto-core';
import {
  createVaultKey,
  newestSharedKeys,
  openVault,
  rotateVault,
  sealVault,
  unwrapVaultKey,
  type Vault,
  wrapForRecovery,
  wrapVaultKey,
} from '@sinetti/crypto-core/account';
import { check, StoredVault, WireText } from '../api/arguments.ts';
import type { CryptoApi, RotatedVault, WireBytes } from '../api/cryptoApi.ts';
import { CryptoApiError } from '../api/errors.ts';
import { toBase64Url } from '../codec/base64url.ts';
import type { Guarded } from '../codec/guards.ts';
import { readKeys, type Session, toDevice, type UnlockedAccount } from '../session/session.ts';
import { type VaultOpening, vaultOpening } from '../session/vaultOpening.ts';
import { read, type WriteTransaction } from '../storage/db.ts';
import { ConversationRecord } from '../storage/records.ts';
import type { Confirmations } from './confirmations.ts';
import { becomeDevice, type KeepSent, type NewDevice } from './newDevice.ts';
import type { DerivedKeys, PasswordDeps } from './passwordKeys.ts';

/** Changes of the account that come along with its new keys. */
export interface RotationChange {
  /** Opens the vault from then on. */
  readonly password: Pick<DerivedKeys, 'wrapKey' | 'proofKey'>;
  /** Left out, the one in the vault stays; null for none. */
  readonly recoveryPublicKey?: Uint8Array | null;
}

/** A vault that the relay may take. */
interface Sealed {
  readonly sealedVault: WireBytes;
  readonly opening: VaultOpening;
  /** The device that this browser becomes with it; null where it stays the one it is. */
  readonly device: NewDevice | null;
  /** It takes the place of a vault that is older than one that this device has seen. */
  readonly isOlder: boolean;
}

/** Opens vaults and seals them anew, and keeps the one sealed last until the relay has taken it. */
export class Rotation {
  readonly #deps: PasswordDeps;
  readonly #session: Session;
  #sealed: Sealed | null = null;

  constructor(deps: PasswordDeps, session: Session) {
    this.#deps = deps;
    this.#session = session;
  }

  /**
   * Opens the vault by the password of a confirmation, and wipes its secrets once `operate` has ended. The password's keys are
   * copied first: a confirmation that ends in the meantime wipes its own.
   * @param allowsOlder the person has accepted an older vault than this device has seen
   * @throws CryptoApiError `stale-vault` for one that they have not
   * @throws CryptoError `wrong-password`
   */
  async withVault<T>(
    { passwordWrap, sealedVault, version }: Guarded<typeof StoredVault>,
    { proofKey, wrapKey }: DerivedKeys,
    operate: (vault: Vault, password: RotationChange['password']) => T | Promise<T>,
    allowsOlder = false,
  ): Promise<T> {
    const account = this.#session.account();
    const password = { proofKey, wrapKey: wrapKey.slice() };
    let vault: Vault | null = null;
    try {
      await ready();
      const vaultKey = unwrapVaultKey(passwordWrap, password.wrapKey);
      ({ vault } = openVault(sealedVault, vaultKey, account.userId));
      wipe(vaultKey);
      requireVersion(vault, version);
      const known = await read(account.db, (tx) => readKeys(tx, account));
      const isOlder =
        newestSharedKeys(vault.sharedKeys).revision < newestSharedKeys(known.sharedKeys).revision;
      if (!allowsOlder && (isOlder || version < known.vaultVersion)) throw new CryptoApiError('stale-vault');
      return await operate(vault, password);
    } finally {
      wipe(password.wrapKey);
      if (vault !== null) wipe(vault.accountSeed, vault.deviceSecret);
    }
  }

  /**
   * Seals the vault under a new vault key, with new shared keys in it, and keeps it for {@link takeSealed}.
   * @param version the one that it replaces
   * @param becoming the device that this browser becomes with it, and whether the one that it replaces is older than known
   */
  seal(
    userId: string,
    vault: Vault,
    version: number,
    change: RotationChange,
    { device = null, isOlder = false }: Partial<Pick<Sealed, 'device' | 'isOlder'>> = {},
  ): RotatedVault {
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
    const opening = vaultOpening(userId, { vault: next, version: version + 1, proofKey });
    this.#sealed = { sealedVault: rotated.sealedVault, opening, device, isOlder };
    return rotated;
  }

  /** The vault that was sealed last, if it is the one that the relay took. @throws CryptoApiError `usage` */
  takeSealed(sealedVault: WireBytes): Omit<Sealed, 'sealedVault'> {
    const sealed = this.#sealed;
    if (sealed?.sealedVault !== sealedVault)
      throw new CryptoApiError('usage', 'another vault than was sealed');
    this.#sealed = null;
    return sealed;
  }
}

export function createRotation(
  session: Session,
  confirmations: Confirmations,
  rotation: Rotation,
  keepSent: KeepSent,
) {
  return {
    async adoptRenewedKeys(taken) {
      const { device, isOlder, opening } = rotation.takeSealed(check('adoptRenewedKeys', WireText, taken));
      const account = session.account();
      if (isOlder) return session.goBack(opening, (tx) => forgetSaid(tx, account, opening.version));
      if (device === null) return session.adopt(opening);
      await session.adopt(opening, (tx) => becomeDevice(tx, account, device, keepSent));
      account.device = toDevice(device.record);
    },

    async acceptOlderVault(given) {
      const stored = check('acceptOlderVault', StoredVault, given);
      const { userId } = session.account();
      const confirmed = confirmations.take(['accept-older-vault'], null);
      const seal = (vault: Vault, password: RotationChange['password']) =>
        rotation.seal(userId, vault, stored.version, { password }, { isOlder: true });
      const body = await rotation.withVault(stored, confirmed.keys, seal, true);
      confirmations.bind(confirmed, { ...body });
      return body;
    },

    async readRenewedKeys(given) {
      const stored = check('readRenewedKeys', StoredVault, given);
      const { keys } = confirmations.take(['renew-keys'], null);
      const { userId } = session.account();
      await rotation.withVault(stored, keys, (vault, { proofKey }) =>
        session.adopt(vaultOpening(userId, { vault, version: stored.version, proofKey })),
      );
      confirmations.forget();
    },

    async vaultVersion() {
      const account = session.account();
      return (await read(account.db, (tx) => readKeys(tx, account))).vaultVersion;
    },
  } satisfies Partial<CryptoApi>;
}

/** The keys of this revision are others than have been said to the own devices under it, and what came after is lost. */
async function forgetSaid(
  tx: WriteTransaction,
  { sealer }: UnlockedAccount,
  revision: number,
): Promise<void> {
  await tx.objectStore('device').delete('revisions');
  const heads = tx.objectStore('heads');
  for (const conversationId of await heads.getAllKeys()) {
    const sealed = await heads.get(conversationId);
    if (sealed === undefined) continue;
    const head = sealer.open('heads', conversationId, sealed, ConversationRecord);
    if (head.saidRevision < revision) continue;
    const unsaid = { ...head, saidRevision: revision - 1 };
    await heads.put(sealer.seal('heads', conversationId, unsaid), conversationId);
  }
}

/**
 * A vault's newest keys have its version for a revision, whatever version the relay calls it; those of an account from
 * before there were revisions have 0. @throws CryptoApiError `stale-vault`
 */
export function requireVersion({ sharedKeys }: Vault, version: number): void {
  const { revision } = newestSharedKeys(sharedKeys);
  if (revision !== 0 && revision !== version) throw new CryptoApiError('stale-vault');
}
