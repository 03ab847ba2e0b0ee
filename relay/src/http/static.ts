import { existsSync } from 'node:fs';
import path from 'node:path';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Config } from '../config.ts';
import { ApiError } from '../errors.ts';
import { pathOf } from './address.ts';
import { answerError } from './errors.ts';

/**
 * Serves the built web client beside the API. Addresses that are no file are routes of the client and answer its page,
 * but only to who asks for HTML: a missing script stays a 404. Without a built client the API runs alone.
 */
export async function serveWebClient(app: FastifyInstance, config: Config): Promise<void> {
  const built = existsSync(path.join(config.webDir, 'index.html'));
  app.setNotFoundHandler((request, reply) => {
    if (built && asksForPage(request)) return reply.sendFile('index.html');
    return answerError(new ApiError('not-found', 'There is nothing at this address.'), request, reply);
  });
  if (!built) {
    app.log.warn({ webDir: config.webDir }, 'no built web client: serving the API alone');
    return;
  }
  await app.register(fastifyStatic, {
    root: config.webDir,
    // One route for each file that is there now: no address can name a file outside, or one with a leading dot.
    wildcard: false,
    // Caching is set by address, with the other headers.
    cacheControl: false,
    acceptRanges: false,
    // The build lays a .br file beside each script and style.
    preCompressed: true,
  });
}

function asksForPage(request: FastifyRequest): boolean {
  return (
    (request.method === 'GET' || request.method === 'HEAD') &&
    (request.headers.accept ?? '').includes('text/html') &&
    !/^\/(api|assets)(\/|$)/.test(pathOf(request))
  );
}
