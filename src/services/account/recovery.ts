import { t } from '../../i18n/i18n.ts';
import { AppError } from '../../lib/appError.ts';
import { recoveryKeyAtom, recoveryOfferDismissedAtom } from '../../store/recovery.ts';
import { currentUserAtom } from '../../store/session.ts';
import type { Confirmation } from '../core/confirmation.ts';
import type { Deps } from '../core/deps.ts';
import { toAppError } from '../core/failures.ts';
import { establishProofKey, provePending } from '../core/proofs.ts';
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

export function createRecovery(deps: Deps, confirmation: Pick<Confirmation, 'confirmInWorker'>): Recovery {
  const { crypto, store } = deps;
  /** A key was created that is not the account's yet. It goes to the screen, and the worker keeps it. */
  let isCreated = false;

  let shownVersion = 0;
  /** Answers to questions asked at the same time come in any order: an older one must not undo a newer one. */
  function show({ hasRecoveryKey, version }: Pick<StoredVault, 'hasRecoveryKey' | 'version'>): void {
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

    async create() {
      const { recoveryKey } = await crypto.createRecoveryKey();
      isCreated = true;
      return recoveryKey;
    },

    async save() {
      if (!isCreated) throw new AppError('usage', t('recovery.saveFailed'));
      try {
        const kind = store.get(recoveryKeyAtom) === 'none' ? 'create-recovery-key' : 'replace-recovery-key';
        const target = store.get(currentUserAtom)?.username ?? '';
        const key = await confirmation.confirmInWorker({ kind, target }, async (credential) => {
          const { passwordKey } = await deps.api.createProofNonce();
          const { authKey, proofKey, ...confirmed } = await crypto.confirmRecoveryKey(credential);
          await establishProofKey(deps, { authKey, proofKey }, passwordKey);
          return confirmed;
        });
        const { version } = await changeVault(deps, async () => key, provePending(deps));
        show({ version, hasRecoveryKey: true });
      } catch (error) {
        throw toAppError(error, t('recovery.saveFailed'));
      }
      isCreated = false;
    },

    async dismissOffer() {
      store.set(recoveryOfferDismissedAtom, () => true);
      await crypto.writeLocal(dismissedEntry, 'yes');
    },
  };
}
