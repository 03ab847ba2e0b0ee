import { t } from '../../i18n/i18n.ts';
import { AppError } from '../../lib/appError.ts';
import type { Prove } from '../../net/api.ts';
import { currentUserAtom } from '../../store/session.ts';
import type { Deps } from './deps.ts';
import { failureCode } from './failures.ts';

/** The local entry of the public half of the password's proof key, by which a wrong password is known without the relay. */
const proofKeyEntry = 'proof-key';

type ProofDeps = Pick<Deps, 'api' | 'crypto' | 'store'>;

/** The values that a typed password gives for the relay. */
interface PasswordKeys {
  readonly authKey: string;
  readonly proofKey: string;
}

/** Keeps the proof key of the password that has just logged in or been set. */
export async function keepProofKey({ crypto }: Pick<Deps, 'crypto'>, proofKey: string): Promise<void> {
  await crypto.writeLocal(proofKeyEntry, proofKey);
}

/**
 * Checks a typed password by the proof key that this browser keeps. Where this browser or the relay knows none, because
 * the session or the account is from before there were proofs, a log-in tells both.
 * @param knownAtRelay whether the relay has the account's proof key
 * @throws AppError `wrong-password`
 */
export async function establishProofKey(
  { api, crypto, store }: ProofDeps,
  { authKey, proofKey }: PasswordKeys,
  knownAtRelay: boolean,
): Promise<void> {
  const known = await crypto.readLocal(proofKeyEntry);
  if (known !== null && known !== proofKey) throw wrongPassword();
  if (known !== null && knownAtRelay) return;
  const email = store.get(currentUserAtom)?.username ?? '';
  try {
    const { access_token } = await api.login({ email, password: authKey, passwordProofKey: proofKey });
    await api.logout(access_token);
  } catch (error) {
    throw failureCode(error) === 'wrong-credentials' ? wrongPassword(error) : error;
  }
  await keepProofKey({ crypto }, proofKey);
}

/** Proves a request by the recovery key or the password that the worker was given just before. */
export function provePending({ api, crypto }: Pick<Deps, 'api' | 'crypto'>): Prove {
  return async (request) => {
    const { nonce, session, version } = await api.createProofNonce();
    return crypto.signPendingProof({ ...request, nonce, session, replaces: version });
  };
}

export function wrongPassword(cause?: unknown): AppError {
  return new AppError('wrong-password', t('confirmation.wrongPassword'), { cause });
}
