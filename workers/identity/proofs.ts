/** Proofs: signatures by which the person, not the session alone, changes who owns the account (PROTOCOL section 2). */
import { hashProofBody, ready, signProof, wipe } from '@sinetti/crypto-core';
import { check, PasswordCredential, ProofRequest } from '../api/arguments.ts';
import type { CryptoApi } from '../api/cryptoApi.ts';
import { CryptoApiError } from '../api/errors.ts';
import { toBase64Url } from '../codec/base64url.ts';
import { type Guarded, nullable } from '../codec/guards.ts';
import { encodeJson } from '../codec/json.ts';
import { derivePasswordKeys, type PasswordDeps } from './passwordKeys.ts';

type ProofsApi = Pick<CryptoApi, 'signProof' | 'signPendingProof'>;
type ProofKind = 'password' | 'recovery';

/** The proof seed of a password or a recovery key that was just given, for the one request that it was given for. */
export class PendingProof {
  #pending: { readonly kind: ProofKind; readonly proofSeed: Uint8Array } | null = null;

  keep(kind: ProofKind, proofSeed: Uint8Array): void {
    this.forget();
    this.#pending = { kind, proofSeed };
  }

  forget(): void {
    if (this.#pending !== null) wipe(this.#pending.proofSeed);
    this.#pending = null;
  }

  /** Signs the request, and forgets the seed. @throws CryptoApiError `usage` when none is kept */
  sign(request: Guarded<typeof ProofRequest>): string {
    if (this.#pending === null) throw new CryptoApiError('usage', 'no password or recovery key was given');
    try {
      return proofOf(this.#pending.kind, this.#pending.proofSeed, request);
    } finally {
      this.forget();
    }
  }
}

export function createProofs(deps: PasswordDeps, pendingProof: PendingProof): ProofsApi {
  return {
    async signProof(credential, input) {
      const { password, passwordParams } = check('signProof', PasswordCredential, credential);
      const request = check('signProof', nullable(ProofRequest), input);
      await ready();
      const { authKey, proofKey, proofSeed, wrapKey } = derivePasswordKeys(deps, password, passwordParams);
      wipe(wrapKey);
      try {
        const proof = request === null ? null : proofOf('password', proofSeed, request);
        return { authKey, proofKey, proof };
      } finally {
        wipe(proofSeed);
      }
    },

    async signPendingProof(input) {
      const request = check('signPendingProof', ProofRequest, input);
      await ready();
      return pendingProof.sign(request);
    },
  };
}

/** Writes the relay's `x-proof` header: base64url of JSON. */
function proofOf(
  kind: ProofKind,
  proofSeed: Uint8Array,
  { operation, body, replaces, session, nonce }: Guarded<typeof ProofRequest>,
): string {
  const claims = { operation, bodyHash: hashProofBody(body), replaces, session, nonce };
  return toBase64Url(
    encodeJson({
      key: kind,
      nonce: toBase64Url(nonce),
      replaces,
      signature: toBase64Url(signProof(proofSeed, claims)),
    }),
  );
}
