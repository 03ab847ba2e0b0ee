/** Proofs: signatures by which the person, not the session alone, changes who owns the account (PROTOCOL section 2). */
import { hashProofBody, signProof } from '@sinetti/crypto-core/account';
import type { ProofRequest } from '../api/arguments.ts';
import { toBase64Url } from '../codec/base64url.ts';
import type { Guarded } from '../codec/guards.ts';
import { encodeJson } from '../codec/json.ts';

/** Writes the relay's `x-proof` header: base64url of JSON. */
export function proofOf(
  key: 'password' | 'recovery',
  proofSeed: Uint8Array,
  { operation, body, replaces, session, nonce }: Guarded<typeof ProofRequest>,
): string {
  const claims = { operation, bodyHash: hashProofBody(body), replaces, session, nonce };
  return toBase64Url(
    encodeJson({
      key,
      nonce: toBase64Url(nonce),
      replaces,
      signature: toBase64Url(signProof(proofSeed, claims)),
    }),
  );
}
