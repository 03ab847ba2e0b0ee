import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { uploadType } from '../../contract/blobs.ts';
import { bytesType, type ErrorCode, partsType } from '../../contract/index.ts';
import { errorCode } from '../errorCode.ts';
import { ApiError, hasCode, toApiError } from '../errors.ts';
import { readParts } from './parts.ts';

/** Makes every answer that is not a success the contract's `{detail, code}`. */
export function answerErrors(app: FastifyInstance): void {
  app.setErrorHandler((error, request, reply) => answerError(error, request, reply));
}

export function answerError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const answer = error instanceof ApiError ? error : (fromFramework(error, request) ?? toApiError(error));
  if (answer.code === 'internal') request.log.error({ err: error }, 'request failed');
  // The place in the code says nothing of a full disk, and each refused message would log it.
  if (answer.code === 'storage-full') request.log.error({ code: errorCode(error) }, 'the storage is full');
  reply.header('cache-control', 'no-store');
  if (answer.status === 401) reply.header('www-authenticate', 'Bearer');
  const { retryAfter } = answer.extra;
  if (retryAfter !== undefined) reply.header('retry-after', String(retryAfter));
  return reply.code(answer.status).send(answer.toBody());
}

/** Fastify's own refusals in the contract's codes. */
const frameworkErrors = new Map<string | null, readonly [ErrorCode, string]>([
  ['FST_ERR_CTP_BODY_TOO_LARGE', ['payload-too-large', 'The request is too large.']],
  ['FST_ERR_CTP_INVALID_CONTENT_LENGTH', ['malformed', 'The request body ended early.']],
  ['FST_ERR_BAD_URL', ['not-found', 'There is nothing at this address.']],
  ['FST_ERR_MAX_PARAM_LENGTH', ['not-found', 'There is nothing at this address.']],
]);

function fromFramework(error: unknown, request: FastifyRequest): ApiError | null {
  if (hasCode(error, 'FST_ERR_CTP_INVALID_MEDIA_TYPE')) return otherMediaType(request);
  const known = frameworkErrors.get(errorCode(error));
  if (known !== undefined) return new ApiError(...known);
  if (!isFaultOfClient(error)) return null;
  return new ApiError('invalid-request', "The request can't be served as it was sent.");
}

/** Returns whether Fastify or its static files refuse the request, such as for a failed precondition. */
function isFaultOfClient(error: unknown): boolean {
  const { statusCode, status = statusCode } = Object(error) as { statusCode?: unknown; status?: unknown };
  return typeof status === 'number' && status >= 400 && status < 500;
}

function otherMediaType({ routeOptions }: FastifyRequest): ApiError {
  const type = routeOptions.config.bodyType ?? 'application/json';
  return new ApiError('unsupported-media-type', `Send the request body as ${type}.`);
}

/** Takes the one media type that a call takes. An empty body is no body: calls without one may still name JSON. */
export function parseBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    bytesType,
    { parseAs: 'buffer' },
    async (request: FastifyRequest, body: Buffer) => {
      if (request.routeOptions.config.bodyType !== bytesType) throw otherMediaType(request);
      return body;
    },
  );
  app.addContentTypeParser(
    partsType,
    { parseAs: 'buffer' },
    async (request: FastifyRequest, body: Buffer) => {
      const { bodyParts, bodyType } = request.routeOptions.config;
      if (bodyType !== partsType) throw otherMediaType(request);
      return readParts(body, bodyParts ?? []);
    },
  );
  // Read by the call itself, as it comes: it may be larger than what fits into memory.
  app.addContentTypeParser(uploadType, async (request: FastifyRequest, body: IncomingMessage) => {
    if (request.routeOptions.config.bodyType !== uploadType) throw otherMediaType(request);
    return body;
  });
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'string' },
    async (request: FastifyRequest, body: string) => {
      const { bodyType } = request.routeOptions.config;
      const takesNone = bodyType === uploadType && body === '';
      const takesOther = bodyType === bytesType || bodyType === partsType || bodyType === uploadType;
      if (takesOther && !takesNone) throw otherMediaType(request);
      if (request.routeOptions.config.takesProof === true) request.provenBody = body;
      if (body === '') return undefined;
      try {
        return JSON.parse(body) as unknown;
      } catch {
        throw new ApiError('malformed', 'The request body is not valid JSON.');
      }
    },
  );
}

/** The statuses of what Node's parser refuses, by its code; 400 for all others. */
const brokenRequests = new Map<string | null, string>([
  ['HPE_HEADER_OVERFLOW', '431 Request Header Fields Too Large'],
  ['ERR_HTTP_REQUEST_TIMEOUT', '408 Request Timeout'],
]);

/** Milliseconds that a client has to close its side after the relay has closed its own. */
const closeTimeoutMs = 2000;

/** Answers bytes that are no HTTP request, or one that is broken off, and closes their connection. */
export function refuseBrokenRequest(error: Error, socket: Socket): void {
  // Nothing follows an answer that has begun, or a connection that was reset.
  const isAnswered = Boolean((socket as Socket & { _httpMessage?: unknown })._httpMessage);
  if (!socket.writable || isAnswered || hasCode(error, 'ECONNRESET')) {
    socket.destroy();
    return;
  }
  const status = brokenRequests.get(errorCode(error)) ?? '400 Bad Request';
  // A client that doesn't close its side would hold the connection for minutes. More bytes of it end it at once.
  socket.setTimeout(closeTimeoutMs, () => socket.destroy());
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}
