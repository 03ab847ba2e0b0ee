/** Asking for the password in the frame, and signing the proof that it allows (PROTOCOL section 9). */
import { ready, wipe } from '@sinetti/crypto-core';
import { createRecoveryKey, encodeRecoveryKey } from '@sinetti/crypto-core/account';
import { check, Operation, PasswordOwner, ProofRequest } from '../api/arguments.ts';
import type { CryptoApi } from '../api/cryptoApi.ts';
import { CryptoApiError } from '../api/errors.ts';
import type { Prompt } from '../api/prompt.ts';
import type { Session } from '../session/session.ts';
import type { Confirmations } from './confirmations.ts';
import { type DerivedKeys, derivePasswordKeys, type PasswordDeps } from './passwordKeys.ts';
import { safetyNumberInQuestion } from './safetyNumbers.ts';

export interface ConfirmingDeps extends PasswordDeps {
  readonly prompt: Prompt;
}

export function createConfirming(deps: ConfirmingDeps, session: Session, confirmations: Confirmations) {
  /**
   * The caller of the worker may be a script in the page, so the worker checks itself that who types knows the password.
   * @throws CryptoApiError `wrong-password`
   */
  async function requirePassword({ proofKey, proofSeed, wrapKey }: DerivedKeys): Promise<void> {
    if (await session.isPassword(proofKey)) return;
    wipe(proofSeed, wrapKey);
    throw new CryptoApiError('wrong-password');
  }

  return {
    async confirm(input, owner) {
      const operation = check('confirm', Operation, input);
      const { username, passwordParams } = check('confirm', PasswordOwner, owner);
      const { kind, target } = operation;
      session.account();
      await ready();
      const isRecoveryKey = kind === 'create-recovery-key' || kind === 'replace-recovery-key';
      const recoveryKey = isRecoveryKey ? createRecoveryKey(deps.env) : null;
      const safetyNumber = await safetyNumberInQuestion(session, operation);
      const shown = recoveryKey === null ? null : encodeRecoveryKey(recoveryKey);
      const { keys, newPassword } = await deps.prompt.ask(
        { kind, target, username, recoveryKey: shown, safetyNumber },
        async (typed) => {
          const derived = derivePasswordKeys(deps, typed.password, passwordParams);
          await requirePassword(derived);
          return { keys: derived, newPassword: typed.newPassword };
        },
      );
      // Nothing of it goes to the page: with the authKey a script could log in elsewhere.
      confirmations.keep({ operation, keys, newPassword, recoveryKey, safetyNumber });
    },

    async signPendingProof(input) {
      const request = check('signPendingProof', ProofRequest, input);
      await ready();
      return confirmations.sign(request);
    },
  } satisfies Partial<CryptoApi>;
}
