import { t } from '../../i18n/i18n.ts';
import type { Vault } from '../../net/api.ts';
import { recoveryKeyAtom, recoveryOfferDismissedAtom } from '../../store/recovery.ts';
import { currentUserAtom } from '../../store/session.ts';
import type { Confirmation } from '../core/confirmation.ts';
import type { Deps } from '../core/deps.ts';
import { toAppError } from '../core/failures.ts';
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
  { api, crypto, store }: Deps,
  confirmation: Pick<Confirmation, 'confirm'>,
  { renew }: Pick<KeyRenewal, 'renew'>,
): Recovery {
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
      try {
        const kind = store.get(recoveryKeyAtom) === 'none' ? 'create-recovery-key' : 'replace-recovery-key';
        const target = store.get(currentUserAtom)?.username ?? '';
        const prove = await confirmation.confirm({ kind, target, id: null });
        let version = 0;
        await renew(
          prove,
          async (vault) => {
            const body = await crypto.replaceRecoveryKey(vault);
            version = body.version + 1;
            return { vault: body, submit: () => api.putVault(body, prove) };
          },
          async () => show({ version, hasRecoveryKey: true }),
        );
      } catch (error) {
        throw toAppError(error, t('recovery.saveFailed'));
      }
    },

    async dismissOffer() {
      store.set(recoveryOfferDismissedAtom, () => true);
      await crypto.writeLocal(dismissedEntry, 'yes');
    },
  };
}
