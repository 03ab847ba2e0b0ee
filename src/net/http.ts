import ky from 'ky';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import {
  Bytes,
  jsonType,
  mediaTypeOf,
  operationOf,
  proofHeader,
  type Route,
  type RouteBody,
  type RouteParams,
  type RouteQuery,
  type RouteResponse,
} from './contract.ts';
import { readErrorAnswer } from './errorAnswer.ts';
import { ApiError, type ApiErrorCode, isServerFailure, isUnknownPath, NetworkError } from './errors.ts';
import { claimsOf } from './tokenClaims.ts';

export const requestTimeoutMs = 30_000;

/** Only the parts that the route's schemas ask for. */
type Part<Name extends string, T> = [T] extends [undefined]
  ? { [K in Name]?: undefined }
  : { [K in Name]: T };

/** A request as far as its proof signs it: the operation as the contract names it, and the body as it is sent. */
export interface ProvenRequest {
  readonly operation: string;
  /** Empty for a request without one. */
  readonly body: string;
}

/** Makes the proof that a request is sent with, the value of its header. */
export type Prove = (request: ProvenRequest) => Promise<string>;

export type CallInput<R extends Route> = Part<'params', RouteParams<R>> &
  Part<'query', RouteQuery<R>> &
  Part<'body', RouteBody<R>> & {
    /** Try the route's further paths while {@link mayTryNextPath}. */
    readonly fallback?: boolean;
    /**
     * The party that acts on a 401: the session ends at once (`session`, the default), or the caller decides
     * (`caller`).
     */
    readonly unauthenticated?: 'session' | 'caller';
    /** In place of the stored one: the call that ends a session is made when nothing else has its token any more. */
    readonly token?: string | undefined;
    /** For a call that takes a proof. */
    readonly prove?: Prove | undefined;
  };

export interface HttpOptions {
  /** Origin of the API without `/api`; empty for the page's own. */
  readonly host: string;
  readonly token: () => string | null;
  /** A signed-in call was answered 401: the token it carried is worth nothing any more. */
  readonly onUnauthenticated: (token: string, handledBy: 'session' | 'caller', code: ApiErrorCode) => void;
  readonly clock: Clock;
  readonly log: Log;
  readonly fetch?: typeof globalThis.fetch;
}

export interface Http {
  /**
   * One call of the contract.
   * @returns the answer, parsed by the route's schema
   * @throws ApiError for any answer but a success; `invalid-response` for a success that breaks the schema;
   *   `unauthenticated` unasked where the call needs a token and there is none
   * @throws NetworkError without an answer
   * @throws AggregateError of these, in their order, when several paths were tried
   */
  call<R extends Route>(route: R, input: CallInput<R>): Promise<RouteResponse<R>>;
  /** The id of the relay's session; null when nobody is signed in. */
  sessionId(): string | null;
}

function fillPath(pattern: string, params: unknown): string {
  const values = new Map(Object.entries(params ?? {}));
  return pattern.replace(/\{(\w+)\}/g, (_match, name: string) =>
    encodeURIComponent(String(values.get(name))),
  );
}

function searchParams(query: unknown): URLSearchParams {
  const defined = Object.entries(query ?? {}).filter(([, value]) => value !== undefined);
  return new URLSearchParams(defined.map(([name, value]): [string, string] => [name, String(value)]));
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Loaded when it is asked for: what is seen first needs none. */
const parts = () => import('./parts.ts');

async function bodyOf(route: Route, body: unknown): Promise<BodyInit> {
  if (route.body === Bytes) return body as Uint8Array<ArrayBuffer>;
  if (route.bodyParts === undefined) return JSON.stringify(body);
  return (await parts()).writeParts(body, route.bodyParts);
}

/**
 * Returns whether another path may do better: nothing was reached, the call is unknown there, or the server failed. Any
 * other answer is about what was asked, and who has waited until the time was out isn't made to wait as long again.
 */
function mayTryNextPath(error: unknown): boolean {
  if (error instanceof NetworkError) return error.code === 'unreachable';
  return isServerFailure(error) || isUnknownPath(error);
}

/** An answer that may be asked for again by its entity tag, which only the session that got it may do. */
interface TaggedAnswer {
  readonly token: string | null;
  readonly etag: string;
  readonly body: unknown;
}

interface Exchanged {
  readonly status: number;
  readonly ok: boolean;
  readonly text: string;
  /** In place of the text, where the call answers bytes. */
  readonly bytes: Uint8Array | null;
  readonly etag: string | null;
}

export function createHttp(options: HttpOptions): Http {
  const { clock, log } = options;
  /** By path. */
  const tagged = new Map<string, TaggedAnswer>();
  const client = ky.create({
    retry: 0,
    // The deadline below covers the body as well; ky's ends with the headers.
    timeout: false,
    throwHttpErrors: false,
    // Nothing here goes by cookies; and a header of such an answer can't have the browser delete what the app has stored.
    credentials: 'omit',
    ...(options.fetch === undefined ? {} : { fetch: options.fetch }),
  });

  function logFailure(route: Route, path: string, error: ApiError | NetworkError): void {
    const fields = { method: route.method, route: path, code: error.code };
    if (error instanceof NetworkError) return log.warn('server-unreachable', fields);
    const answered = { ...fields, status: error.status };
    if (error.code === 'invalid-response') return log.warn('invalid-response', answered);
    if (error.status === 401) return log.warn('authentication-error', answered);
    if (error.status === 403) return log.warn('permission-error', answered);
    if (error.status === 404) {
      const hint = path.startsWith('/messages') ? { hint: 'no such conversation or message' } : {};
      return log.warn('resource-not-found', { ...answered, ...hint });
    }
    if (error.status >= 500) log.warn('server-error', answered);
  }

  /** Sends and reads the whole answer within the deadline. */
  async function exchange(
    route: Route,
    path: string,
    input: CallInput<Route>,
    token: string | null,
    etag: string | undefined,
  ): Promise<Exchanged> {
    // Before the deadline begins: a person may be typing a password for it.
    const proof = await input.prove?.({
      operation: operationOf(route, input.params, input.query),
      body: input.body === undefined ? '' : JSON.stringify(input.body),
    });
    const deadline = new AbortController();
    const timer = clock.after(requestTimeoutMs, () => deadline.abort());
    try {
      // The code that reads the answer may be out of reach, as the relay may: it is asked for before anything is done there.
      if (route.responseParts !== undefined) await parts();
      const query = searchParams(input.query);
      const response = await client(`${options.host}/api${fillPath(path, input.params)}`, {
        method: route.method,
        signal: deadline.signal,
        headers: {
          ...(token === null ? {} : { authorization: `Bearer ${token}` }),
          ...(input.body === undefined ? {} : { 'content-type': mediaTypeOf(route.body, route.bodyParts) }),
          ...(proof === undefined ? {} : { [proofHeader]: proof }),
          ...(etag === undefined ? {} : { 'if-none-match': etag }),
        },
        ...(query.size === 0 ? {} : { searchParams: query }),
        ...(input.body === undefined ? {} : { body: await bodyOf(route, input.body) }),
      });
      const { headers, ok, status } = response;
      const isJson = !ok || mediaTypeOf(route.response, route.responseParts) === jsonType;
      const bytes = isJson ? null : new Uint8Array(await response.arrayBuffer());
      return {
        status,
        ok,
        bytes,
        text: bytes === null ? await response.text() : '',
        etag: headers.get('etag'),
      };
    } catch (cause) {
      throw new NetworkError(deadline.signal.aborted ? 'timeout' : 'unreachable', undefined, { cause });
    } finally {
      timer.cancel();
    }
  }

  async function readAnswer(route: Route, answer: Exchanged): Promise<unknown> {
    const { bytes, ok, text } = answer;
    if (!ok) throw readErrorAnswer(answer.status, parseJson(text));
    if (route.response === undefined) return undefined;
    const { responseParts } = route;
    const hasParts = bytes !== null && responseParts !== undefined;
    const read = hasParts ? (await parts()).readParts(bytes, responseParts) : (bytes ?? parseJson(text));
    const body = route.response.safeParse(await read);
    if (!body.success) throw new ApiError({ status: answer.status, code: 'invalid-response', detail: null });
    return body.data;
  }

  async function callPath(route: Route, path: string, input: CallInput<Route>): Promise<unknown> {
    const isPublic = route.access === 'public';
    const token = isPublic ? null : (input.token ?? options.token());
    // The answer is known, and asking would only write an error into the console.
    if (!isPublic && token === null)
      throw new ApiError({ status: 401, code: 'unauthenticated', detail: null });
    // Somebody signs in or out.
    if (isPublic || input.token !== undefined) tagged.clear();
    const known = tagged.get(path);
    const before = known?.token === token ? known : undefined;
    try {
      const answer = await exchange(route, path, input, token, before?.etag);
      if (answer.status === 304 && before !== undefined) return before.body;
      const body = await readAnswer(route, answer);
      if (route.conditional === true && answer.etag !== null) {
        tagged.set(path, { token, etag: answer.etag, body });
      }
      return body;
    } catch (error) {
      if (error instanceof ApiError || error instanceof NetworkError) logFailure(route, path, error);
      if (error instanceof ApiError && error.status === 401 && token !== null) {
        options.onUnauthenticated(token, input.unauthenticated ?? 'session', error.code);
      }
      throw error;
    }
  }

  return {
    sessionId() {
      const token = options.token();
      return token === null ? null : (claimsOf(token)?.sid ?? null);
    },

    async call<R extends Route>(route: R, input: CallInput<R>): Promise<RouteResponse<R>> {
      const paths = input.fallback === true ? route.paths : route.paths.slice(0, 1);
      const failures: unknown[] = [];
      for (const path of paths) {
        try {
          // The schema that has just parsed the answer is the one this type is inferred from.
          return (await callPath(route, path, input as CallInput<Route>)) as RouteResponse<R>;
        } catch (error) {
          failures.push(error);
          if (!mayTryNextPath(error)) break;
        }
      }
      if (failures.length === 1) throw failures[0];
      throw new AggregateError(failures, 'no path succeeded');
    },
  };
}
