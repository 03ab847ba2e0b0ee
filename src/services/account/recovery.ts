import type { Vault } from '../../net/api.ts';
import { recoveryKeyAtom, recoveryOfferDismissedAtom } from '../../store/recovery.ts';
import type { Confirmation } from '../core/confirmation.ts';
import type { Deps } from '../core/deps.ts';
import type { KeyRenewal } from './keyRenewal.ts';

const dismissedEntry = 'recovery-offer-dismissed';

export interface Recovery {
  /** Shows whether the vault has a recovery key, and whether the offer of one was put aside in this browser. */
  onVault(vault: Vault): Promise<void>;
  /**
   * Has the person keep a new recovery key, which the page never sees, and makes it the account's in the place of the one
   * before. @throws AppError `cancelled`
   */
  setUp(): Promise<void>;
  dismissOffer(): Promise<void>;
}

export function createRecovery(
  deps: Deps,
  confirmation: Pick<Confirmation, 'confirm'>,
  renewal: Pick<KeyRenewal, 'renew'>,
): Recovery {
  const { crypto, store } = deps;
  let shownVersion = 0;
  /** Answers to questions asked at the same time come in any order: an older one must not undo a newer one. */
  function show({ hasRecoveryKey, version }: Pick<Vault, 'hasRecoveryKey' | 'version'>): void {
    if (version < shownVersion) return;
    shownVersion = version;
    store.set(recoveryKeyAtom, () => (hasRecoveryKey ? 'present' : 'none'));
  }

  return {
    async onVault(vault) {
      show(vault);
      const dismissed = (await crypto.readLocal(dismissedEntry)) !== null;
      store.set(recoveryOfferDismissedAtom, () => dismissed);
    },

    async setUp() {
      const { setUpRecoveryKey } = await import('./recoveryKey.ts');
      await setUpRecoveryKey(deps, confirmation, renewal, show);
    },

    async dismissOffer() {
      store.set(recoveryOfferDismissedAtom, () => true);
      await crypto.writeLocal(dismissedEntry, 'yes');
    },
  };
}
