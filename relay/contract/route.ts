import type * as z from 'zod/mini';
import type { ErrorCode } from './errors.ts';

/** The callers that a route admits: anybody, signed-in people, or people on a registered device. */
export type RouteAccess = 'public' | 'session' | 'device';

/** One call of the contract: what the relay validates, the client types itself by, and OpenAPI is made from. */
export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Paths below /api; the first is the canonical one, the others are the specification's fallbacks. `{id}` marks a parameter. */
  readonly paths: readonly [string, ...string[]];
  readonly access: RouteAccess;
  readonly params?: z.ZodMiniType;
  readonly query?: z.ZodMiniType;
  readonly body?: z.ZodMiniType;
  /** Names of the fields of the body, and of the answer, that travel as bytes, where those are large: contract/primitives.ts. */
  readonly bodyParts?: readonly string[];
  readonly responseParts?: readonly string[];
  /**
   * True if a session that has proven only the recovery key may call it too: its one use is a new password.
   */
  readonly recovery?: true;
  /**
   * Present if the call takes a proof beside the session (contract/proofs.ts): always, or but for what `unless` says in
   * the middle of a sentence.
   */
  readonly proof?: { readonly unless?: string };
  /**
   * True if the answer has an entity tag: it is asked for again and again, and is 304 without a body while the request has
   * the tag of the present one (RFC 9110, section 13.1.2).
   */
  readonly conditional?: true;
  /** Success status; 204 has no body. */
  readonly status: 200 | 201 | 204;
  readonly response?: z.ZodMiniType;
  /** Codes this call can answer beyond those every call can. */
  readonly errors: readonly ErrorCode[];
  /** Largest accepted body in bytes; the default is 64 KiB. */
  readonly bodyLimit?: number;
}

export function defineRoute<const R extends Route>(route: R): R {
  return route;
}

export type RouteParams<R extends Route> = R['params'] extends z.ZodMiniType
  ? z.input<R['params']>
  : undefined;
export type RouteQuery<R extends Route> = R['query'] extends z.ZodMiniType ? z.input<R['query']> : undefined;
export type RouteBody<R extends Route> = R['body'] extends z.ZodMiniType ? z.input<R['body']> : undefined;
export type RouteResponse<R extends Route> = R['response'] extends z.ZodMiniType
  ? z.output<R['response']>
  : undefined;
