import { t } from '../../i18n/i18n.ts';
import type { Vault } from '../../net/api.ts';
import { recoveryKeyAtom } from '../../store/recovery.ts';
import { currentUserAtom } from '../../store/session.ts';
import type { Confirmation } from '../core/confirmation.ts';
import type { Deps } from '../core/deps.ts';
import { toAppError } from '../core/failures.ts';
import type { KeyRenewal } from './keyRenewal.ts';

/**
 * Has the person keep a new recovery key, and seals the vault for it.
 * @param show whether there is one, as of a version of the vault
 * @throws AppError
 */
export async function setUpRecoveryKey(
  { api, crypto, store }: Deps,
  confirmation: Pick<Confirmation, 'confirm'>,
  { renew }: Pick<KeyRenewal, 'renew'>,
  show: (vault: Pick<Vault, 'hasRecoveryKey' | 'version'>) => void,
): Promise<void> {
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
}
