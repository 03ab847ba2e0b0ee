import type { Prove } from '../../net/api.ts';
import { isApiError } from '../../net/errors.ts';
import type { Deps } from './deps.ts';

export type StoredVault = Awaited<ReturnType<Deps['api']['getVault']>>;
type VaultBody = Parameters<Deps['api']['putVault']>[0];

const maxAttempts = 4;

interface VaultChange {
  /** What becomes of the vault. The wraps stay unless it names others. */
  readonly body: Omit<Partial<VaultBody>, 'version'>;
  readonly prove: Prove;
}

/**
 * Changes the vault at the relay, whatever other devices do to it meanwhile.
 * @param change the change of the vault as it is; asked again when it has moved, since a proof is for one body
 * @returns the vault as it is from now on
 */
export async function changeVault(
  { api }: Pick<Deps, 'api'>,
  change: (vault: StoredVault) => Promise<VaultChange>,
): Promise<Pick<StoredVault, 'sealedVault' | 'version'>> {
  for (let attempt = 1; ; attempt += 1) {
    const vault = await api.getVault();
    const { body: changed, prove } = await change(vault);
    const body = { sealedVault: vault.sealedVault, version: vault.version, ...changed };
    try {
      return { sealedVault: body.sealedVault, ...(await api.putVault(body, prove)) };
    } catch (error) {
      if (!isApiError(error, 'stale-version') || attempt === maxAttempts) throw error;
    }
  }
}
