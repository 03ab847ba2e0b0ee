import * as z from 'zod/mini';
import { base64Url, Id, intFrom } from './primitives.ts';
import { defineRoute, type Route } from './route.ts';

/** The header that carries a proof: base64url of a {@link Proof} in JSON. */
export const proofHeader = 'x-proof';

/** Milliseconds for which a nonce may be used. */
export const proofNonceLifetime = 2 * 60 * 1000;

/** The Ed25519 public key of a proof key, whose seed only the password or the recovery key gives. */
export const ProofKey = base64Url(32, 32);

/**
 * A person's word for one operation, by the password or the recovery key, which a session alone doesn't have. The
 * signature is Ed25519 over SignContent of RFC 9420 (section 5.1.2) with the label `SinettiAccountProof`; its content is
 * in TLS presentation language:
 *
 * ```
 * struct {
 *   uint8 version = 1;
 *   opaque operation<V>;   // see operationOf
 *   opaque bodyHash<V>;    // SHA-256 of the body's bytes, of none for a call without a body
 *   uint32 replaces;
 *   opaque session<V>;     // the id of the session, as text
 *   opaque nonce<V>;
 * } AccountProof;
 * ```
 */
export const Proof = z.object({
  /** The key that signed. */
  key: z.enum(['password', 'recovery']),
  nonce: base64Url(32, 32),
  /** The vault's version when the proof was made: another one since then, and the proof is refused. */
  replaces: intFrom(0).check(z.maximum(0xffff_ffff)),
  signature: base64Url(64, 64),
});
export type Proof = z.infer<typeof Proof>;

/**
 * The operation that a proof signs: the method, a space, and the call's canonical path below /api with its parameters
 * filled in, followed by the query if there is one.
 */
export function operationOf(
  { method, paths: [path] }: Pick<Route, 'method' | 'paths'>,
  params: unknown,
  query: unknown,
): string {
  const values = new Map(Object.entries(params ?? {}));
  const target = path.replace(/\{(\w+)\}/g, (_match, name: string) => String(values.get(name)));
  const asked = Object.entries(query ?? {})
    .filter(([, value]) => value !== undefined)
    .map(([name, value]): [string, string] => [name, String(value)]);
  return `${method} ${target}${asked.length === 0 ? '' : `?${new URLSearchParams(asked).toString()}`}`;
}

export const createProofNonce = defineRoute({
  method: 'POST',
  paths: ['/proof-nonce'],
  access: 'session',
  recovery: true,
  status: 201,
  response: z.object({
    /** Good once, for two minutes. */
    nonce: base64Url(32, 32),
    /** The id of this session. */
    session: Id,
    /** The version of the vault; 0 before the first. */
    version: intFrom(0),
    /** True if the relay knows the password's proof key. If not, logging in with one stores it. */
    passwordKey: z.boolean(),
  }),
  errors: [],
});
