import type { FastifyInstance } from 'fastify';
import { blobHeaders } from '../../contract/blobs.ts';
import { proofHeader } from '../../contract/index.ts';
import type { Config } from '../config.ts';

const { resumable, length, offset, expires, version, extension, maxSize } = blobHeaders;
const requestHeaders = ['authorization', 'content-type', 'if-none-match', 'if-range', 'range', proofHeader];
const answerHeaders = ['etag', 'retry-after', 'location', 'accept-ranges', 'content-range'];

/**
 * Lets pages of the configured origins call the API, for clients that are served from elsewhere. The token travels in a
 * header of its own, never in a cookie, so credentials are not allowed. Without configured origins nothing is sent, and
 * browsers keep every other site out.
 */
export function allowOrigins(app: FastifyInstance, config: Config): void {
  if (config.allowedOrigins.length === 0) return;
  app.addHook('onRequest', async (request, reply) => {
    reply.header('vary', 'Origin, Accept-Encoding');
    const { origin } = request.headers;
    if (origin === undefined || !config.allowedOrigins.includes(origin)) return;
    reply.headers({
      'access-control-allow-origin': origin,
      'access-control-expose-headers': [
        ...answerHeaders,
        resumable,
        version,
        extension,
        maxSize,
        length,
        offset,
        expires,
      ].join(', '),
    });
    if (request.method !== 'OPTIONS') return;
    reply.headers({
      'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
      'access-control-allow-headers': [...requestHeaders, resumable, length, offset].join(', '),
      'access-control-max-age': '86400',
    });
  });
  app.options('/*', async (_request, reply) => reply.code(204).send());
}
