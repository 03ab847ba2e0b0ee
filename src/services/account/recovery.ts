import { t } from '../../i18n/i18n.ts';
import { AppError } from '../../lib/appError.ts';
import { recoveryKeyAtom, recoveryOfferDismissedAtom } from '../../store/recovery.ts';
import type { Deps } from '../core/deps.ts';
import { toAppError } from '../core/failures.ts';
import { changeVault, type StoredVault } from '../core/vault.ts';

const dismissedEntry = 'recovery-offer-dismissed';

export interface Recovery {
  /** Shows whether the vault has a recovery key, and whether the offer of one was put aside in this browser. */
  onVault(vault: StoredVault): Promise<void>;
  /** A new key, for the person to keep. It counts for nothing until {@link Recovery.save}. */
  create(): Promise<string>;
  /** Makes the key created last the account's, in the place of the one before. */
  save(): Promise<void>;
  dismissOffer(): Promise<void>;
}

export function createRecovery(deps: Deps): Recovery {
  const { crypto, store } = deps;
  /** The parts for the relay of the key created last; the key itself goes to the screen and is not kept here. */
  let created: { recoveryWrap: string; recoveryAuthKey: string } | null = null;

  let shownVersion = 0;
  /** Answers to questions asked at the same time come in any order: an older one must not undo a newer one. */
  function show({ recoveryWrap, version }: StoredVault): void {
    if (version < shownVersion) return;
    shownVersion = version;
    store.set(recoveryKeyAtom, () => (recoveryWrap === null ? 'none' : 'present'));
  }

  return {
    async onVault(vault) {
      show(vault);
      const dismissed = (await crypto.readLocal(dismissedEntry)) !== null;
      store.set(recoveryOfferDismissedAtom, () => dismissed);
    },

    async create() {
      const { recoveryKey, ...kept } = await crypto.createRecoveryKey();
      created = kept;
      return recoveryKey;
    },

    async save() {
      const key = created;
      if (key === null) throw new AppError('usage', t('recovery.saveFailed'));
      try {
        show(await changeVault(deps, async () => key));
      } catch (error) {
        throw toAppError(error, t('recovery.saveFailed'));
      }
      created = null;
    },

    async dismissOffer() {
      store.set(recoveryOfferDismissedAtom, () => true);
      await crypto.writeLocal(dismissedEntry, 'yes');
    },
  };
}
