import type { PasswordKeys } from '../../crypto/client.ts';
import type { Prove } from '../../net/api.ts';
import { currentUserAtom } from '../../store/session.ts';
import type { Deps } from './deps.ts';

/** The local entry of the public half of the password's proof key, by which a former password is told from the present one. */
const proofKeyEntry = 'proof-key';

type ProofDeps = Pick<Deps, 'api' | 'crypto' | 'store'>;

/** Keeps the proof key of the password that has just logged in or been set. */
export async function keepProofKey({ crypto }: Pick<Deps, 'crypto'>, proofKey: string): Promise<void> {
  await crypto.writeLocal(proofKeyEntry, proofKey);
}

/** Returns the proof key that this browser keeps; null in a session from before there were proofs. */
export function knownProofKey({ crypto }: Pick<Deps, 'crypto'>): Promise<string | null> {
  return crypto.readLocal(proofKeyEntry);
}

/** Proves a request by the password that the person has just confirmed its operation with. */
export function provePending(deps: ProofDeps, keys: PasswordKeys): Prove {
  return async (request) => {
    const { nonce, passwordKey, session, version } = await deps.api.createProofNonce();
    if (!passwordKey) await tellProofKey(deps, keys);
    return deps.crypto.signPendingProof({ ...request, nonce, session, replaces: version });
  };
}

/** Proves a request by the recovery key that the worker was given just before. */
export function proveByRecoveryKey({ api, crypto }: Pick<Deps, 'api' | 'crypto'>): Prove {
  return async (request) => {
    const { nonce, session, version } = await api.createProofNonce();
    return crypto.signPendingProof({ ...request, nonce, session, replaces: version });
  };
}

/** Tells the relay, by a log-in, the proof key of an account from before there were proofs. */
async function tellProofKey(deps: ProofDeps, { authKey, proofKey }: PasswordKeys): Promise<void> {
  const { api, store } = deps;
  const email = store.get(currentUserAtom)?.username ?? '';
  const { access_token } = await api.login({ email, password: authKey, passwordProofKey: proofKey });
  await api.logout(access_token);
  await keepProofKey(deps, proofKey);
}
