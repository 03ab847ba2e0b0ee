import type { FastifyInstance } from 'fastify';
import { ApiError } from '../errors.ts';
import type { Metrics } from '../metrics/metrics.ts';

/**
 * Serves the checks of process managers and load balancers, beside /api: `/healthz` says whether the process
 * answers at all, `/readyz` whether it can serve, which takes its database. A relay that drains answers
 * neither.
 * @param checkReady rejects while something that serving takes can't be reached
 */
export function serveHealth(app: FastifyInstance, checkReady: () => Promise<unknown>): void {
  const ok = { status: 'ok' };
  app.get('/healthz', (_request, reply) => reply.send(ok));
  app.get('/readyz', (request) =>
    checkReady().then(
      () => ok,
      (error: unknown) => {
        request.log.error({ err: error }, 'not ready');
        throw new ApiError('unavailable', 'The server is not ready.');
      },
    ),
  );
}

/** Counts and times every request by its route's pattern, and what is refused because of a quota. */
export function measureRequests(app: FastifyInstance, metrics: Metrics): void {
  app.addHook('onError', async (_request, _reply, error) => metrics.quotaRefused(error));
  app.addHook('onResponse', async (request, reply) => {
    metrics.requestServed({
      method: request.method,
      route: request.routeOptions.url ?? 'none',
      status: reply.statusCode,
      seconds: reply.elapsedTime / 1000,
    });
  });
}
