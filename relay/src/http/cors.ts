import type { FastifyInstance } from 'fastify';
import { proofHeader } from '../../contract/index.ts';
import type { Config } from '../config.ts';

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
      'access-control-expose-headers': 'ETag, Retry-After',
    });
  });
  app.options('/*', async (_request, reply) => {
    reply.headers({
      'access-control-allow-methods': 'GET, POST, PUT, DELETE',
      'access-control-allow-headers': `Authorization, Content-Type, If-None-Match, ${proofHeader}`,
      'access-control-max-age': '86400',
    });
    return reply.code(204).send();
  });
}
