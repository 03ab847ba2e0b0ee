import { t } from '../../i18n/i18n.ts';
import { AppError, cancelled } from '../../lib/appError.ts';
import type { Prove, ProvenRequest } from '../../net/api.ts';
import { confirmationAtom, type Operation } from '../../store/confirmation.ts';
import { currentUserAtom } from '../../store/session.ts';
import type { Deps } from './deps.ts';
import { toAppError } from './failures.ts';
import { establishProofKey } from './proofs.ts';

/** Asks the person for the password before an operation that a session alone may not do. */
export interface Confirmation {
  /**
   * Returns the way to prove a request of this operation: the person types the password into the dialog, and the worker
   * signs the request. It rejects with `cancelled` when the person doesn't.
   */
  confirmWithPassword(operation: Operation): Prove;
  /** Asks for the password for an operation on this device alone. @throws AppError `cancelled` */
  confirmHere(operation: Operation): Promise<void>;
  /** Takes the password from the dialog. @throws AppError `wrong-password`: the dialog stays open then */
  submit(password: string): Promise<void>;
  cancel(): void;
}

interface Pending {
  readonly request: ProvenRequest | null;
  readonly resolve: (proof: string | null) => void;
  readonly reject: (error: AppError) => void;
}

export function createConfirmation(deps: Pick<Deps, 'api' | 'crypto' | 'store'>): Confirmation {
  const { api, crypto, store } = deps;
  let pending: Pending | null = null;

  /** @param request null for an operation on this device alone, which needs no proof */
  function ask(operation: Operation, request: ProvenRequest | null): Promise<string | null> {
    cancel();
    return new Promise((resolve, reject) => {
      pending = { request, resolve, reject };
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

  /** @returns null without a request */
  async function prove(password: string, request: ProvenRequest | null): Promise<string | null> {
    const username = store.get(currentUserAtom)?.username ?? '';
    const passwordParams = await api.authParams(username);
    // The nonce comes first: once the password has been found right, nothing is left to ask.
    const given = request === null ? null : await api.createProofNonce();
    const { proof, ...keys } = await crypto.signProof(
      { password, passwordParams },
      request === null || given === null
        ? null
        : { ...request, nonce: given.nonce, session: given.session, replaces: given.version },
    );
    await establishProofKey(deps, keys, given?.passwordKey ?? true);
    return proof;
  }

  return {
    confirmWithPassword: (operation) => async (request) => {
      const proof = await ask(operation, request);
      if (proof === null) throw new AppError('usage', t('confirmation.failed'));
      return proof;
    },

    async confirmHere(operation) {
      await ask(operation, null);
    },

    async submit(password) {
      const current = pending;
      if (current === null) return;
      try {
        const proof = await prove(password, current.request);
        if (pending !== current) return;
        close();
        current.resolve(proof);
      } catch (error) {
        throw toAppError(error, t('confirmation.failed'));
      }
    },

    cancel,
  };
}
