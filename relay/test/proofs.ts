import { createHash, sign } from 'node:crypto';
import { operationOf, proofHeader, type Route } from '../contract/index.ts';
import { servedRoutes as routes } from '../contract/served.ts';
import { proofMessage } from '../src/auth/proofs.ts';
import { call } from './call.ts';
import { privateKeyOf, publicKeyOf } from './devices.ts';

/** The relay that is called, at a URL without a slash at the end. */
interface Called {
  readonly url: string;
}

/** The proof key of a password or recovery key, made from the authKey that stands for it in these tests. */
const proofPrivateKeyOf = (authKey: string) => privateKeyOf('proof', authKey);

/** The public half, base64url. */
export const proofKeyOf = (authKey: string) => publicKeyOf(proofPrivateKeyOf(authKey)).toString('base64url');

export interface Nonce {
  readonly nonce: string;
  readonly session: string;
  readonly version: number;
  readonly passwordKey: boolean;
}

export interface Proving {
  readonly token: string;
  /** The authKey of the key that signs, and which one that is; the password's unless it is said. */
  readonly authKey: string;
  readonly key?: 'password' | 'recovery';
}

export interface ProvenRequest {
  readonly operation: string;
  readonly body?: unknown;
}

/** The header's value for a request, with a nonce of the relay's. @throws Error without one */
export async function proofFor(
  relay: Called,
  { token, ...proving }: Proving,
  request: ProvenRequest,
): Promise<string> {
  const answer = await call<Nonce>(relay, 'POST', '/proof-nonce', { token });
  if (answer.status !== 201) throw new Error(`the nonce answered ${answer.status}`);
  return signedProof(proving, request, answer.body);
}

/** The header's value for a request. */
export function signedProof(
  { authKey, key = 'password' }: Omit<Proving, 'token'>,
  { operation, body }: ProvenRequest,
  { nonce, session, version }: Omit<Nonce, 'passwordKey'>,
): string {
  const claims = {
    operation,
    bodyHash: createHash('sha256')
      .update(body === undefined ? '' : JSON.stringify(body))
      .digest(),
    replaces: version,
    session,
    nonce: Buffer.from(nonce, 'base64url'),
  };
  const signature = sign(null, proofMessage(claims), proofPrivateKeyOf(authKey)).toString('base64url');
  const proof = { key, nonce, replaces: version, signature };
  return Buffer.from(JSON.stringify(proof)).toString('base64url');
}

/** The headers of a call as its person makes it: with a proof, where the contract has the call take one. */
export async function proofHeaders(
  relay: Called,
  proving: Proving,
  { method, path, body }: { method: string; path: string; body?: unknown },
): Promise<Record<string, string>> {
  const [pathname = '', query] = path.split('?');
  const route = Object.values(routes).find(
    (one: Route) => one.proof !== undefined && one.method === method && matches(one.paths[0], pathname),
  );
  if (route === undefined) return {};
  const operation = operationOf({ method: route.method, paths: [pathname] }, {}, queryOf(query));
  const proof = await proofFor(relay, proving, { operation, body }).catch(() => null);
  return proof === null ? {} : { [proofHeader]: proof };
}

function matches(pattern: string, pathname: string): boolean {
  return new RegExp(`^${pattern.replace(/\{\w+\}/g, '[^/]+')}$`).test(pathname);
}

function queryOf(query: string | undefined): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(query));
}
