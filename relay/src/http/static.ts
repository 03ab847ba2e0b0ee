import { existsSync } from 'node:fs';
import path from 'node:path';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance } from 'fastify';
import type { Config } from '../config.ts';
import { ApiError } from '../errors.ts';
import { answerError } from './errors.ts';
import { workerPolicy } from './headers.ts';

const year = 'public, max-age=31536000, immutable';

/**
 * Serves the built web client beside the API. Addresses that are no file are routes of the client and answer its page,
 * but only to who asks for HTML: a missing script stays a 404. Without a built client the API runs alone.
 */
export async function serveWebClient(app: FastifyInstance, config: Config): Promise<void> {
  const built = existsSync(path.join(config.webDir, 'index.html'));
  app.setNotFoundHandler((request, reply) => {
    const isPage =
      built &&
      (request.method === 'GET' || request.method === 'HEAD') &&
      !/^\/(api|assets)(\/|$)/.test(request.url.split('?', 1)[0] ?? '') &&
      (request.headers.accept ?? '').includes('text/html');
    if (isPage) return reply.sendFile('index.html');
    return answerError(new ApiError('not-found', 'There is nothing at this address.'), request, reply);
  });
  if (!built) {
    app.log.warn({ webDir: config.webDir }, 'no built web client: serving the API alone');
    return;
  }
  await app.register(fastifyStatic, {
    root: config.webDir,
    cacheControl: false,
    setHeaders: (response, file) => {
      const name = path.relative(config.webDir, file).split(path.sep).join('/');
      // Names under assets/ hold a hash of the content; everything else must be asked for again.
      response.setHeader('cache-control', name.startsWith('assets/') ? year : 'no-cache');
      if (/^assets\/crypto\.worker-[\w-]+\.js$/.test(name)) {
        response.setHeader('content-security-policy', workerPolicy);
      }
    },
  });
}
