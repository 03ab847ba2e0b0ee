import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ErrorCode } from '../../contract/index.ts';
import { errorCode } from '../errorCode.ts';
import { ApiError, hasCode, toApiError } from '../errors.ts';

/** Makes every answer that is not a success the contract's `{detail, code}`. */
export function answerErrors(app: FastifyInstance): void {
  app.setErrorHandler((error, request, reply) => answerError(error, request, reply));
}

export function answerError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const answer = error instanceof ApiError ? error : (fromFramework(error) ?? toApiError(error));
  if (answer.code === 'internal') request.log.error({ err: error }, 'request failed');
  // The place in the code says nothing of a full disk, and each refused message would log it.
  if (answer.code === 'storage-full') request.log.error({ code: errorCode(error) }, 'the storage is full');
  reply.header('cache-control', 'no-store');
  if (answer.status === 401) reply.header('www-authenticate', 'Bearer');
  const { retryAfter } = answer.extra;
  if (retryAfter !== undefined) reply.header('retry-after', String(retryAfter));
  return reply.code(answer.status).send(answer.toBody());
}

const otherMediaType = ['unsupported-media-type', 'Send the request body as application/json.'] as const;
const bytesOnly = [
  'unsupported-media-type',
  'Send the request body as application/octet-stream.',
] as const satisfies readonly [ErrorCode, string];

/** Fastify's own refusals in the contract's codes. */
const frameworkErrors = new Map<string | null, readonly [ErrorCode, string]>([
  ['FST_ERR_CTP_BODY_TOO_LARGE', ['payload-too-large', 'The request is too large.']],
  ['FST_ERR_CTP_INVALID_MEDIA_TYPE', otherMediaType],
  ['FST_ERR_CTP_INVALID_CONTENT_LENGTH', ['malformed-json', 'The request body ended early.']],
  ['FST_ERR_BAD_URL', ['not-found', 'There is nothing at this address.']],
  ['FST_ERR_MAX_PARAM_LENGTH', ['not-found', 'There is nothing at this address.']],
]);

function fromFramework(error: unknown): ApiError | null {
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

/** Takes JSON alone, or bytes alone where a call asks for them. An empty body is no body: calls without one may still name a content type. */
export function parseJsonOrBytes(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    'application/octet-stream',
    { parseAs: 'buffer' },
    async (request: FastifyRequest, body: Buffer) => {
      if (request.routeOptions.config.takesBytes !== true) throw new ApiError(...otherMediaType);
      return body;
    },
  );
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'string' },
    async (request: FastifyRequest, body: string) => {
      if (request.routeOptions.config.takesBytes === true) throw new ApiError(...bytesOnly);
      if (request.routeOptions.config.takesProof === true) request.provenBody = body;
      if (body === '') return undefined;
      try {
        return JSON.parse(body) as unknown;
      } catch {
        throw new ApiError('malformed-json', 'The request body is not valid JSON.');
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
