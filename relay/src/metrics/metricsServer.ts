import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { collectDefaultMetrics } from 'prom-client';
import { type ListenAddress, listenFailure } from '../listenFailure.ts';
import type { Metrics } from './metrics.ts';

export interface MetricsServer {
  readonly port: number;
  close(): Promise<void>;
}

/**
 * Serves GET /metrics in Prometheus' text format on a port of its own: the numbers are the operator's, not the public's.
 * @throws StartupError if the address can't be listened on
 */
export async function serveMetrics(metrics: Metrics, address: ListenAddress): Promise<MetricsServer> {
  const { registry } = metrics;
  // The process's own: memory, CPU, garbage collection, event loop delay.
  collectDefaultMetrics({ register: registry });
  const server = createServer((request, response) => {
    if (request.method !== 'GET' || request.url !== '/metrics') {
      response.writeHead(404).end();
      return;
    }
    registry.metrics().then(
      (text) => response.writeHead(200, { 'content-type': registry.contentType }).end(text),
      () => response.writeHead(500).end(),
    );
  });
  await listen(server, address);
  const bound = server.address();
  return {
    port: typeof bound === 'object' && bound !== null ? bound.port : address.port,
    async close() {
      registry.clear();
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

async function listen(server: Server, address: ListenAddress): Promise<void> {
  server.listen(address.port, address.host);
  try {
    await once(server, 'listening');
  } catch (error) {
    throw listenFailure(error, address);
  }
}
