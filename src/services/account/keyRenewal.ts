import type { RotatedVault, StoredVault } from '../../crypto/client.ts';
import { t } from '../../i18n/i18n.ts';
import type { Prove, Vault } from '../../net/api.ts';
import { keysRenewedAtom } from '../../store/keys.ts';
import { currentUserAtom } from '../../store/session.ts';
import type { AccountStates } from '../core/accountState.ts';
import type { Confirmation } from '../core/confirmation.ts';
import type { SessionDeps } from '../core/deps.ts';
import { type Background, toAppError } from '../core/failures.ts';

/**
 * The keys that the person's devices share. Each change of who may open the account renews them, and no other device has
 * the new ones before its person has typed the password there (PROTOCOL section 2).
 */
export interface KeyRenewal {
  /** Compares the vault's version with the one that this device has keys of. */
  onVault(vault: Pick<Vault, 'version'>): Promise<void>;
  /** Asks the relay whether another device has renewed the keys, and this one hasn't got them yet. */
  isBehind(): Promise<boolean>;
  /**
   * Opens the vault by the password that was just confirmed, for an operation that renews the keys, and takes those over
   * once the relay has them.
   * @param operate has the worker seal the vault anew, and the relay take it; returns it
   */
  renew(prove: Prove, operate: (vault: StoredVault) => Promise<RotatedVault>): Promise<void>;
  /** Asks for the password, and takes over the keys that another device has renewed. @throws AppError `cancelled` */
  takeOver(): Promise<void>;
}

export function createKeyRenewal(
  { api, crypto, sessionEvents, store }: SessionDeps,
  confirmation: Pick<Confirmation, 'confirm'>,
  accountStates: Pick<AccountStates, 'load'>,
  background: Background,
): KeyRenewal {
  /** The newest vault that the relay is known to have. */
  let seenVersion = 0;

  async function compare(): Promise<boolean> {
    const isBehind = seenVersion > (await crypto.vaultVersion());
    store.set(keysRenewedAtom, () => isBehind);
    return isBehind;
  }

  async function onVault({ version }: Pick<Vault, 'version'>): Promise<boolean> {
    seenVersion = Math.max(seenVersion, version);
    return compare();
  }

  async function readVault(prove: Prove): Promise<StoredVault> {
    const { sealedVault, version } = await api.getVault();
    const { passwordWrap } = await api.getVaultWraps(prove);
    return { sealedVault, version, passwordWrap };
  }

  return {
    async onVault(vault) {
      await onVault(vault);
    },

    isBehind: async () => onVault(await api.getVault()),

    async renew(prove, operate) {
      const { sealedVault } = await operate(await readVault(prove));
      await crypto.adoptRenewedKeys(sealedVault);
      await compare();
      // The operation is done, whatever becomes of this.
      background(accountStates.load);
    },

    async takeOver() {
      const target = store.get(currentUserAtom)?.username ?? '';
      const prove = await confirmation.confirm({ kind: 'renew-keys', target, id: null });
      try {
        await crypto.readRenewedKeys(await readVault(prove));
        await compare();
        await accountStates.load();
      } catch (error) {
        throw toAppError(error, t('keys.takeOverFailed'));
      }
      sessionEvents.emit('keysTakenOver', { vaultVersion: seenVersion });
    },
  };
}
