import { type IncomingMessage, type Server, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Config } from '../config.ts';
import { type ApiError, restarting, toApiError } from '../errors.ts';
import { clientAddress } from '../http/clientAddress.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { RateLimiter } from '../rateLimits/rateLimiter.ts';
import type { WaitingBytes } from './waitingBytes.ts';

export interface SocketEndpoint {
  readonly path: string;
  /** The WebSocket subprotocol that a client must offer, or null if there is none. */
  readonly protocol: string | null;
  /** Bytes of one WebSocket message; a longer one closes the socket with 1009. */
  readonly maxPayload: number;
  /**
   * @param address where it comes from, as rate limits count addresses
   * @param transport the connection below the socket
   * @param admitted to be called once somebody has logged in on it, and let go of then: until then little is taken
   */
  readonly onSocket: (socket: WebSocket, address: string, transport: Duplex, admitted: () => void) => void;
}

export interface Upgrades {
  add(endpoint: SocketEndpoint): void;
  /** Refuses every later upgrade with 503. Open sockets are their endpoints' to close. */
  stop(): void;
}

export interface UpgradeServices {
  readonly rateLimiter: Pick<RateLimiter, 'take'>;
  readonly metrics: Pick<Metrics, 'socketOpened' | 'socketClosed'>;
  readonly waiting: WaitingBytes;
}

interface Served {
  readonly endpoint: SocketEndpoint;
  readonly sockets: WebSocketServer;
  /** Called as one of its sockets closes. One for all, since a function of each socket's own would hold its handshake. */
  readonly socketClosed: () => void;
}

const ignoreError = () => {};

/**
 * The one handler of HTTP upgrades. Paths without an endpoint answer 404.
 *
 * A browser sends cookies and skips CORS when any page opens a WebSocket, but it always names that page's origin. Only
 * the relay's own origin and the configured ones are let in; a client that is no browser sends none.
 */
export function attachUpgrades(
  server: Server,
  config: Pick<Config, 'allowedOrigins' | 'trustProxy'>,
  services: UpgradeServices,
): Upgrades {
  const endpoints = new Map<string, Served>();
  const { waiting } = services;
  let stopped = false;

  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    if (stopped) return refuseFor(socket, restarting());
    const found = endpoints.get(pathOf(request));
    if (found === undefined) return refuse(socket, '404 Not Found');
    if (!isAllowedOrigin(request, config)) return refuse(socket, '403 Forbidden');
    const { endpoint } = found;
    if (endpoint.protocol !== null && !offeredProtocols(request).includes(endpoint.protocol)) {
      return refuse(socket, '400 Bad Request');
    }
    const address = clientAddress(request, config);
    // Without a listener a connection that breaks while it waits would be an uncaught exception.
    socket.on('error', ignoreError);
    services.rateLimiter.take(['connect.address', address]).then(
      () => accept(found, address, request, socket, head),
      (error: unknown) => refuseFor(socket, toApiError(error)),
    );
  });

  function accept(
    { endpoint, sockets, socketClosed }: Served,
    address: string,
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
  ): void {
    if (stopped) return refuseFor(socket, restarting());
    socket.off('error', ignoreError);
    sockets.handleUpgrade(request, socket, head, (webSocket) => {
      // Without a listener an oversized or broken frame would be an uncaught exception; 'close' follows in any case.
      webSocket.on('error', ignoreError);
      services.metrics.socketOpened(endpoint.path);
      webSocket.on('close', socketClosed);
      const admitted = waiting.add(socket, head.length, () => webSocket.terminate());
      endpoint.onSocket(webSocket, address, socket, admitted);
    });
  }

  return {
    add(endpoint) {
      const { path, protocol, maxPayload } = endpoint;
      const sockets = new WebSocketServer({
        noServer: true,
        clientTracking: false,
        // Ciphertext doesn't compress, and a compressor for each connection costs more memory than the connection.
        perMessageDeflate: false,
        maxPayload,
        handleProtocols: () => protocol ?? false,
      });
      endpoints.set(path, { endpoint, sockets, socketClosed: () => services.metrics.socketClosed(path) });
    },
    stop() {
      stopped = true;
    },
  };
}

function refuse(socket: Duplex, status: string, headers = ''): void {
  socket.on('error', ignoreError);
  socket.end(`HTTP/1.1 ${status}\r\n${headers}Connection: close\r\nContent-Length: 0\r\n\r\n`);
}

function refuseFor(socket: Duplex, { status, extra }: ApiError): void {
  const { retryAfter } = extra;
  const header = retryAfter === undefined ? '' : `Retry-After: ${retryAfter}\r\n`;
  refuse(socket, `${status} ${STATUS_CODES[status] ?? ''}`, header);
}

function pathOf(request: IncomingMessage): string {
  return request.url?.split('?', 1)[0] ?? '';
}

function offeredProtocols(request: IncomingMessage): string[] {
  return (request.headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim());
}

function isAllowedOrigin(
  request: IncomingMessage,
  config: Pick<Config, 'allowedOrigins' | 'trustProxy'>,
): boolean {
  const { origin } = request.headers;
  if (origin === undefined) return true;
  if (!URL.canParse(origin)) return false;
  // Only the host is compared with the relay's own: a proxy may have ended TLS, so the scheme isn't known here.
  return config.allowedOrigins.includes(origin) || new URL(origin).host === hostOf(request, config);
}

function hostOf(request: IncomingMessage, config: Pick<Config, 'trustProxy'>): string | undefined {
  const forwarded = config.trustProxy ? request.headers['x-forwarded-host'] : undefined;
  return typeof forwarded === 'string' ? forwarded : request.headers.host;
}
