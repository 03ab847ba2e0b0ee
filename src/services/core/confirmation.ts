import { CryptoApiError, type Operation } from '../../crypto/client.ts';
import { t } from '../../i18n/i18n.ts';
import { cancelled } from '../../lib/appError.ts';
import type { Prove } from '../../net/api.ts';
import { currentUserAtom } from '../../store/session.ts';
import type { Deps } from './deps.ts';
import { toAppError } from './failures.ts';
import { provePending } from './proofs.ts';

/** Has the person confirm by the password, in the frame of the keys, an operation that a session alone may not do. */
export interface Confirmation {
  /**
   * Asks for the password, after which the worker does this one operation, for two minutes.
   * @returns the way to prove the operation's request
   * @throws AppError `cancelled`
   */
  confirm(operation: Operation): Promise<Prove>;
  /** Returns the way to prove the request of this operation, which asks for the password. */
  confirmWithPassword(operation: Operation): Prove;
}

export function createConfirmation(deps: Pick<Deps, 'api' | 'crypto' | 'store'>): Confirmation {
  const { api, crypto, store } = deps;

  async function confirm(operation: Operation): Promise<Prove> {
    const username = store.get(currentUserAtom)?.username ?? '';
    try {
      const passwordParams = await api.authParams(username);
      await crypto.confirm(operation, { username, passwordParams });
    } catch (error) {
      if (error instanceof CryptoApiError && error.code === 'cancelled') throw cancelled();
      throw toAppError(error, t('confirmation.failed'));
    }
    return provePending(deps, 'password');
  }

  return {
    confirm,
    confirmWithPassword: (operation) => async (request) => (await confirm(operation))(request),
  };
}
