import { t } from '../../i18n/i18n.ts';
import { AppError, cancelled } from '../../lib/appError.ts';
import type { Prove, ProvenRequest } from '../../net/api.ts';
import { confirmationAtom, type Operation } from '../../store/confirmation.ts';
import { currentUserAtom } from '../../store/session.ts';
import type { Deps } from './deps.ts';
import { failureCode, toAppError } from './failures.ts';
import { establishProofKey, wrongPassword } from './proofs.ts';

/** Asks the person for the password before an operation that a session alone may not do. */
export interface Confirmation {
  /**
   * Returns the way to prove a request of this operation: the person types the password into the dialog, and the worker
   * signs the request. It rejects with `cancelled` when the person doesn't.
   */
  confirmWithPassword(operation: Operation): Prove;
  /** Asks for the password for an operation on this device alone. @throws AppError `cancelled` */
  confirmHere(operation: Operation): Promise<void>;
  /**
   * Asks for the password for something that the worker does with it. The dialog stays open while that rejects with
   * `wrong-password`.
   * @throws AppError `cancelled`
   */
  confirmInWorker<T>(operation: Operation, take: (credential: Credential) => Promise<T>): Promise<T>;
  /** Takes the password from the dialog. @throws AppError `wrong-password`: the dialog stays open then */
  submit(password: string): Promise<void>;
  cancel(): void;
}

type Credential = Parameters<Deps['crypto']['signProof']>[0];

interface Pending {
  /** Uses the password and resolves what the caller waits for. */
  readonly attempt: (credential: Credential) => Promise<() => void>;
  readonly reject: (error: AppError) => void;
}

export function createConfirmation(deps: Pick<Deps, 'api' | 'crypto' | 'store'>): Confirmation {
  const { api, crypto, store } = deps;
  let pending: Pending | null = null;

  function ask<T>(operation: Operation, take: (credential: Credential) => Promise<T>): Promise<T> {
    cancel();
    return new Promise((resolve, reject) => {
      pending = {
        attempt: async (credential) => {
          const result = await take(credential);
          return () => resolve(result);
        },
        reject,
      };
      store.set(confirmationAtom, () => operation);
    });
  }

  function close(): void {
    pending = null;
    store.set(confirmationAtom, () => null);
  }

  function cancel(): void {
    const current = pending;
    if (current === null) return;
    close();
    current.reject(cancelled());
  }

  /** @param request null for an operation on this device alone, which needs no proof */
  async function prove(credential: Credential, request: ProvenRequest | null): Promise<string | null> {
    // The nonce comes first: once the password has been found right, nothing is left to ask.
    const given = request === null ? null : await api.createProofNonce();
    const { proof, ...keys } = await crypto.signProof(
      credential,
      request === null || given === null
        ? null
        : { ...request, nonce: given.nonce, session: given.session, replaces: given.version },
    );
    await establishProofKey(deps, keys, given?.passwordKey ?? true);
    return proof;
  }

  return {
    confirmWithPassword: (operation) => async (request) => {
      const proof = await ask(operation, (credential) => prove(credential, request));
      if (proof === null) throw new AppError('usage', t('confirmation.failed'));
      return proof;
    },

    async confirmHere(operation) {
      await ask(operation, (credential) => prove(credential, null));
    },

    confirmInWorker: ask,

    async submit(password) {
      const current = pending;
      if (current === null) return;
      try {
        const username = store.get(currentUserAtom)?.username ?? '';
        const passwordParams = await api.authParams(username);
        const succeed = await current.attempt({ password, passwordParams });
        if (pending !== current) return;
        close();
        succeed();
      } catch (error) {
        const isWrong = failureCode(error) === 'wrong-password';
        throw isWrong ? wrongPassword(error) : toAppError(error, t('confirmation.failed'));
      }
    },

    cancel,
  };
}
