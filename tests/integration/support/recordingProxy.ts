import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocket, WebSocketServer } from 'ws';

export interface RecordingProxy {
  readonly url: string;
  readonly mqttUrl: string;
  readonly presenceUrl: string;
  /** Everything that passed: request lines, headers, bodies and WebSocket messages, both ways. */
  readonly traffic: () => Buffer;
  /** Request lines, status codes and headers alone, both ways. */
  readonly heads: readonly string[];
  /** Counts what passed of each kind, so that a test can tell silence from blindness. */
  readonly counts: { http: number; mqtt: number; presence: number };
  close(): Promise<void>;
}

/** Stands before the relay and sees what the relay sees, unmasked and unencrypted. */
export async function startRecordingProxy(target: { url: string; wsUrl: string }): Promise<RecordingProxy> {
  const chunks: Buffer[] = [];
  const heads: string[] = [];
  const counts = { http: 0, mqtt: 0, presence: 0 };
  const record = (data: Buffer | string): void => {
    chunks.push(Buffer.from(data), Buffer.from('\n'));
  };

  function recordHead(message: IncomingMessage, first: string): void {
    const head = [first, ...message.rawHeaders].join('\n');
    heads.push(head);
    record(head);
  }

  function forward(incoming: IncomingMessage, answer: ServerResponse): void {
    counts.http += 1;
    recordHead(incoming, `${incoming.method} ${incoming.url}`);
    const outgoing = request(
      `${target.url}${incoming.url}`,
      { method: incoming.method, headers: incoming.headers },
      (reply) => {
        recordHead(reply, String(reply.statusCode));
        answer.writeHead(reply.statusCode ?? 502, reply.headers);
        reply.on('data', record);
        reply.pipe(answer);
      },
    );
    outgoing.on('error', () => answer.destroy());
    incoming.on('data', record);
    incoming.pipe(outgoing);
  }

  const server = createServer(forward);
  // The relay's own promise to keep connections open goes through here: a shorter one would cut them in the middle.
  server.keepAliveTimeout = 0;
  const sockets = new WebSocketServer({ server, handleProtocols: (protocols) => [...protocols][0] ?? false });
  sockets.on('connection', (client, upgrade) => {
    recordHead(upgrade, `${upgrade.method} ${upgrade.url}`);
    const kind = upgrade.url?.startsWith('/mqtt') === true ? 'mqtt' : 'presence';
    const upstream = new WebSocket(
      `${target.wsUrl}${upgrade.url}`,
      client.protocol === '' ? [] : client.protocol,
    );
    const opened = new Promise<void>((resolve) => {
      upstream.once('open', resolve);
    });
    client.on('message', (data: Buffer, isBinary) => {
      counts[kind] += 1;
      record(data);
      void opened.then(() => upstream.send(data, { binary: isBinary }));
    });
    upstream.on('message', (data: Buffer, isBinary) => {
      counts[kind] += 1;
      record(data);
      client.send(data, { binary: isBinary });
    });
    client.on('close', () => upstream.terminate());
    upstream.on('close', () => client.terminate());
    upstream.on('error', () => client.terminate());
  });

  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    mqttUrl: `ws://127.0.0.1:${port}/mqtt`,
    presenceUrl: `ws://127.0.0.1:${port}/ws/presence/`,
    traffic: () => Buffer.concat(chunks),
    heads,
    counts,
    async close() {
      for (const client of sockets.clients) client.terminate();
      server.closeAllConnections();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}
