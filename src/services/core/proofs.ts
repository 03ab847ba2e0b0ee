import { t } from '../../i18n/i18n.ts';
import { AppError } from '../../lib/appError.ts';
import type { Prove } from '../../net/api.ts';
import type { Deps } from './deps.ts';

/**
 * Proves a request by the password that its operation was just confirmed with, or by the recovery key that has just
 * opened the vault.
 * @throws AppError `proof-required` where the relay doesn't have the password's proof key, which the next log-in tells it
 */
export function provePending(
  { api, crypto }: Pick<Deps, 'api' | 'crypto'>,
  key: 'password' | 'recovery',
): Prove {
  return async (request) => {
    const { nonce, passwordKey, session, version } = await api.createProofNonce();
    if (key === 'password' && !passwordKey) {
      throw new AppError('proof-required', t('confirmation.logInAgain'));
    }
    return crypto.signPendingProof({ ...request, nonce, session, replaces: version });
  };
}
