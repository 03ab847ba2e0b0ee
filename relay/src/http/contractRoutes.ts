import { createHash } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify';
import * as z from 'zod/mini';
import {
  Bytes,
  bytesType,
  mediaTypeOf,
  operationOf,
  type PartNames,
  partsType,
  proofHeader,
  type Route,
  type RouteAccess,
} from '../../contract/index.ts';
import { servedRoutes as routes } from '../../contract/served.ts';
import type { Proofs } from '../auth/proofs.ts';
import { type DeviceSession, requireDevice, type Session } from '../auth/session.ts';
import type { Sessions } from '../auth/sessions.ts';
import type { Config } from '../config.ts';
import type { DiskReserve } from '../db/diskReserve.ts';
import { ApiError } from '../errors.ts';
import type { RateLimiter, Share } from '../rateLimits/rateLimiter.ts';
import {
  publicRouteQuotas,
  routeActions,
  routeAmounts,
  sharesOf,
  uploadShare,
} from '../rateLimits/routeQuotas.ts';
import { clientAddress } from './clientAddress.ts';
import { type EntityTags, etagOf, matches } from './entityTags.ts';
import { writeParts } from './parts.ts';

// The schemas bring no messages along: the client, which shows none, would have to load them.
const { localeError } = z.locales.en();

type Parsed<R extends Route, Part extends 'params' | 'query' | 'body'> =
  R extends Record<Part, infer Schema extends z.ZodMiniType> ? z.output<Schema> : undefined;

type SessionFor<Access extends RouteAccess> = {
  public: null;
  session: Session;
  device: DeviceSession;
}[Access];

/** One request, everything in it checked against the contract. */
export interface Call<R extends Route> {
  readonly params: Parsed<R, 'params'>;
  readonly query: Parsed<R, 'query'>;
  readonly body: Parsed<R, 'body'>;
  readonly session: SessionFor<R['access']>;
  /** The client's address as rate limits count it. */
  readonly address: string;
  /**
   * Checks the proof that came with the call. The contract's calls with a proof have been checked, but for those that
   * need none sometimes (`proof.unless`), which decide here.
   * @throws ApiError proof-required, proof-refused, rate-limited
   */
  readonly requireProof: () => Promise<void>;
}

type Answer<R extends Route> = R extends { response: infer Schema extends z.ZodMiniType }
  ? z.input<Schema>
  : void;

type Routes = typeof routes;
type Handler<R extends Route> = (call: Call<R>) => Promise<Answer<R>>;

/** The handlers of the contract's calls: a call without one is a type error. */
export type Handlers = { readonly [Name in keyof Routes]: Handler<Routes[Name]> };

type UncheckedCall = Record<keyof Call<Route>, unknown>;

declare module 'fastify' {
  interface FastifyRequest {
    /** Set before the body is read, on calls that need it. */
    session: Session | null;
    /** The body as it came, on calls that take a proof. */
    provenBody: string;
  }

  interface FastifyContextConfig {
    takesProof?: boolean;
    /** The one type of body that a call takes, and the fields that are bytes in it. */
    bodyType?: string;
    bodyParts?: PartNames;
  }
}

/** Bytes of the largest body that a call takes unless it names another limit. */
export const defaultBodyLimit = 64 * 1024;

/** Calls that make the database grow, which the reserve of its disk is not for. */
const growing: ReadonlySet<keyof Routes> = new Set([
  'register',
  'requestContact',
  'createGroup',
  'inviteGroupMembers',
  'addGroupMember',
  'sendUserMessage',
  'sendGroupMessage',
  'submitCommit',
  'putTreeNodes',
  'putHistory',
  'report',
]);

/** The services that admit or refuse each call. */
export interface Gate {
  readonly sessions: Pick<Sessions, 'verify'>;
  readonly proofs: Pick<Proofs, 'check'>;
  readonly rateLimiter: Pick<RateLimiter, 'take'>;
  readonly diskReserve: DiskReserve;
  readonly entityTags: Pick<EntityTags, 'match' | 'read'>;
  readonly config: Pick<Config, 'trustProxy'>;
}

/**
 * Serves every call of the contract, on all of its paths, below the prefix of `app`.
 * @param others the methods, by path, of calls at these paths that are served elsewhere
 */
export function registerContract(
  app: FastifyInstance,
  handlers: Handlers,
  gate: Gate,
  others: ReadonlyMap<string, readonly HTTPMethods[]>,
): void {
  app.decorateRequest('session', null);
  app.decorateRequest('provenBody', '');
  const methods = new Map<string, readonly HTTPMethods[]>(others);
  for (const name of Object.keys(routes) as (keyof Routes)[]) {
    const route: Route = routes[name];
    // Each handler takes the calls of its own route, which the mapped type above has checked.
    const handler = handlers[name] as (call: UncheckedCall) => Promise<unknown>;
    for (const path of route.paths) {
      const url = path.replace(/\{(\w+)\}/g, ':$1');
      methods.set(url, [...(methods.get(url) ?? []), route.method]);
      serve(app, url, { name, route, handler }, gate);
    }
  }
  for (const [url, allowed] of methods) refuseOtherMethods(app, url, allowed);
}

interface ServedRoute {
  readonly name: keyof Routes;
  readonly route: Route;
  readonly handler: (call: UncheckedCall) => Promise<unknown>;
}

function serve(app: FastifyInstance, url: string, { name, route, handler }: ServedRoute, gate: Gate): void {
  app.route({
    method: route.method,
    url,
    ...(route.bodyLimit === undefined ? {} : { bodyLimit: route.bodyLimit }),
    config: {
      takesProof: route.proof !== undefined,
      bodyType: mediaTypeOf(route.body, route.bodyParts),
      ...(route.bodyParts === undefined ? {} : { bodyParts: route.bodyParts }),
    },
    // Before the body is read, so that a stranger can't make the relay take in megabytes.
    onRequest: async (request, reply) => {
      const etag = route.conditional === true ? matchKnown(gate, name, request) : null;
      if (etag !== null) return reply.code(304).header('etag', etag).send();
      request.session = await admit(gate, name, request);
      if (growing.has(name)) gate.diskReserve.requireRoom();
      return undefined;
    },
    handler: async (request, reply) => {
      const params = check(route.params, request.params, 'path');
      const query = check(route.query, request.query, 'query');
      const address = clientAddress(request.raw, gate.config);
      const call = {
        params,
        query,
        body: check(route.body, request.body, 'body'),
        session: request.session,
        address,
        requireProof: () => checkProof(gate, request, operationOf(route, params, query), address),
      };
      await gate.rateLimiter.take(...sharesOfTheOthers(name, call));
      if (route.proof !== undefined && route.proof.unless === undefined) await call.requireProof();
      const answer = async () => {
        const unchecked = await handler(call);
        // Through the schema, so that nothing leaves which the contract doesn't name.
        return route.response?.parse(unchecked, { error: localeError });
      };
      if (route.conditional === true) return answerTagged(gate, name, { request, reply, answer });
      const { response, responseParts, status } = route;
      const answered = await answer();
      reply.code(status);
      if (responseParts !== undefined) return reply.type(partsType).send(writeParts(answered, responseParts));
      if (response === Bytes) reply.type(bytesType);
      return reply.send(answered);
    },
  });
}

/**
 * Lets a call in, or not.
 * @returns who calls; null on calls of nobody in particular
 * @throws ApiError unauthenticated, session-expired, forbidden (a recovery session), device-required, rate-limited
 */
async function admit(
  { sessions, rateLimiter, config }: Gate,
  name: keyof Routes,
  request: FastifyRequest,
): Promise<Session | null> {
  const { access, recovery }: Route = routes[name];
  const address = clientAddress(request.raw, config);
  if (access === 'public') {
    const quotas = publicRouteQuotas[name] ?? ['request.address'];
    await rateLimiter.take(...quotas.map((quota): Share => [quota, address]));
    return null;
  }
  const session = await admitPerson({ sessions, rateLimiter, config }, request, recovery === true);
  const action = routeActions[name];
  const shares = action === undefined ? [] : sharesOf(action, session.userId, address);
  await rateLimiter.take(...shares, ...uploadShares(request, routes[name], session.userId));
  return access === 'device' ? requireDevice(session) : session;
}

/**
 * Lets somebody in who is signed in.
 * @param recovery true if a session that has proven only the recovery key may come in, too
 * @throws ApiError unauthenticated, session-expired, forbidden (a recovery session), rate-limited
 */
export async function admitPerson(
  { sessions, rateLimiter, config }: Pick<Gate, 'sessions' | 'rateLimiter' | 'config'>,
  request: FastifyRequest,
  recovery: boolean,
): Promise<Session> {
  let session: Session;
  try {
    session = await sessions.verify(bearerToken(request), { recovery });
  } catch (error) {
    // Only of those who prove nothing: neighbours behind one address can't use up what signed-in people need.
    await rateLimiter.take(['request.address', clientAddress(request.raw, config)]);
    throw error;
  }
  await rateLimiter.take(['request.account', session.userId]);
  return session;
}

/** The entity tag that a request has of an answer which is known to be the present one; null if the answer must be read. */
function matchKnown({ entityTags }: Gate, name: string, { headers }: FastifyRequest): string | null {
  const token = bearer(headers.authorization);
  return token === null ? null : entityTags.match(token, name, headers['if-none-match']);
}

interface TaggedAnswer {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly answer: () => Promise<unknown>;
}

async function answerTagged(
  { entityTags }: Gate,
  name: string,
  { answer, reply, request }: TaggedAnswer,
): Promise<FastifyReply> {
  const { headers, session } = request;
  const reading = session === null ? null : await entityTags.read(bearerToken(request), session, name);
  const text = JSON.stringify(await answer());
  const etag = etagOf(text);
  reading?.done(etag);
  reply.header('etag', etag);
  const ifNoneMatch = headers['if-none-match'];
  if (ifNoneMatch !== undefined && matches(ifNoneMatch, etag)) return reply.code(304).send();
  return reply.code(200).type('application/json; charset=utf-8').send(text);
}

/** @throws ApiError proof-required, proof-refused, rate-limited */
async function checkProof(
  { proofs }: Gate,
  { headers, provenBody, session }: FastifyRequest,
  operation: string,
  address: string,
): Promise<void> {
  if (session === null) throw new ApiError('unauthenticated', 'Please log in.');
  const header = headers[proofHeader];
  await proofs.check(session, {
    operation,
    bodyHash: createHash('sha256').update(provenBody).digest(),
    header: typeof header === 'string' ? header : undefined,
    address,
  });
}

/**
 * The shares that a call of several in one takes for the others, beyond those it took when it was admitted.
 */
function sharesOfTheOthers(
  name: keyof Routes,
  { body, session, address }: Pick<UncheckedCall, 'body'> & { session: Session | null; address: string },
): Share[] {
  const action = routeActions[name];
  // Each takes the body of its own route, which has been checked.
  const amountOf = routeAmounts[name] as ((body: unknown) => number) | undefined;
  const others = amountOf === undefined ? 0 : amountOf(body) - 1;
  return others === 0 || action === undefined || session === null
    ? []
    : sharesOf(action, session.userId, address, others);
}

/**
 * The shares of the announced length, since the body has yet to be read; without one it counts as the
 * longest.
 */
function uploadShares(
  request: FastifyRequest,
  { bodyLimit = defaultBodyLimit }: Route,
  userId: string,
): Share[] {
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers;
  if (encoding !== undefined) return [uploadShare(userId, bodyLimit)];
  const bytes = Math.min(Number(length ?? 0), bodyLimit);
  return bytes > 0 ? [uploadShare(userId, bytes)] : [];
}

/** RFC 9110, section 15.5.6: the resource exists, so say what it can do. */
function refuseOtherMethods(app: FastifyInstance, url: string, allowed: readonly HTTPMethods[]): void {
  const others: HTTPMethods[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
  app.route({
    method: others.filter((method) => !allowed.includes(method)),
    url,
    onRequest: async (_request, reply) => {
      reply.header('allow', allowed.join(', '));
      throw new ApiError('method-not-allowed', `This address takes ${allowed.join(' and ')} only.`);
    },
    handler: () => undefined,
  });
}

/** The token of an Authorization header; null if there is none. */
function bearer(authorization: string | undefined): string | null {
  return /^Bearer +([^ ]+) *$/i.exec(authorization ?? '')?.[1] ?? null;
}

function bearerToken(request: FastifyRequest): string {
  const token = bearer(request.headers.authorization);
  if (token === null) throw new ApiError('unauthenticated', 'Please log in.');
  return token;
}

/** @throws ApiError invalid-request naming the first field that is wrong */
function check(schema: z.ZodMiniType | undefined, value: unknown, part: 'path' | 'query' | 'body'): unknown {
  if (schema === undefined) return undefined;
  if (schema === Bytes && !(value instanceof Uint8Array)) {
    throw new ApiError('invalid-request', `${part}: not bytes.`);
  }
  const result = schema.safeParse(value, { error: localeError });
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw new ApiError('invalid-request', `${issue?.path.join('.') || part}: ${issue?.message ?? 'invalid'}`);
}
