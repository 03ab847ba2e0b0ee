import { request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Duplex } from 'node:stream';

/** The addresses that reach the relay: its calls, and no page of it. */
export const relayPath = /^\/(?:api|healthz|readyz)(?:[/?]|$)/;
/** The sockets of the relay: messages by MQTT, and presence. */
export const socketPath = /^\/(?:mqtt|ws)(?:[/?]|$)/;

/** Headers of a request that are between a browser and this program, or say where its page came from. */
const notPassedOn =
  /^(?:host|origin|referer|cookie|connection|keep-alive|te|trailer|transfer-encoding|upgrade|forwarded|x-forwarded-.*|proxy-.*|sec-(?:fetch|ch)-.*)$/;
/** Headers of an answer that the client reads. With any other one a relay could have a browser do something. */
const passedBack =
  /^(?:content-length|content-encoding|content-range|accept-ranges|etag|retry-after|location|upload-[a-z]+|tus-[a-z-]+|allow)$/;
/** Media types that a browser shows as no page and runs as no script, as they are passed on: nothing of the relay's own wording is. */
const inertTypes: Readonly<Record<string, string>> = {
  'application/json': 'application/json; charset=utf-8',
  'application/problem+json': 'application/problem+json',
  'text/plain': 'text/plain; charset=utf-8',
};
const anyBytes = 'application/octet-stream';
/** Headers of every answer of the relay: opened as a document, it may do nothing. */
const inert = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
  'cross-origin-resource-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
} as const;

/** Milliseconds without a byte. */
const silence = 120_000;

/** Where calls and sockets are passed on to. */
export interface Onward {
  /** The origin that is asked. */
  readonly address: string;
  /** The origin of the relay's own page, for which this one stands. */
  readonly page: string;
  /** The path that is asked for, if not the browser's. */
  readonly path?: string;
}

/** Passes a call on to the relay, and its answer back as data that no browser takes for a page. */
export function passOn(to: Onward, request: IncomingMessage, response: ServerResponse): void {
  const fail = () => {
    if (response.headersSent) response.destroy();
    else response.writeHead(502, inert).end();
  };
  // Without its framing, a body would be taken for the next request on the connection.
  const framing =
    request.headers['transfer-encoding'] === undefined ? {} : { 'transfer-encoding': 'chunked' };
  const onward = ask(to, request, framing);
  onward.setTimeout(silence, () => onward.destroy());
  onward.on('error', fail);
  response.on('close', () => onward.destroy());
  onward.on('response', (answer) => {
    const status = answer.statusCode ?? 502;
    answer.on('error', fail);
    // The relay would send the browser elsewhere, which none of its calls does.
    if (status < 200 || (status >= 300 && status < 400 && status !== 304)) {
      answer.destroy();
      return fail();
    }
    const headers = Object.entries(answer.headers).filter(
      ([name]) => passedBack.test(name) && (name !== 'location' || status === 201),
    );
    const { 'content-type': type } = answer.headers;
    const [essence = ''] = (type ?? '').split(/[;,]/, 1);
    const safeType =
      type === undefined ? {} : { 'content-type': inertTypes[essence.trim().toLowerCase()] ?? anyBytes };
    response.writeHead(status, { ...Object.fromEntries(headers), ...safeType, ...inert });
    answer.pipe(response);
  });
  request.pipe(onward);
}

/** Passes a socket on to the relay, frame by frame as they come. */
export function passSocketOn(to: Onward, request: IncomingMessage, socket: Duplex, head: Buffer): void {
  const end = () => void socket.destroy();
  socket.on('error', end);
  const { 'sec-websocket-extensions': _, ...offered } = request.headers;
  const onward = ask(
    to,
    { method: 'GET', url: request.url, headers: offered },
    {
      connection: 'Upgrade',
      upgrade: 'websocket',
    },
  );
  onward.on('error', end);
  socket.on('close', () => onward.destroy());
  onward.on('response', (answer) => {
    answer.resume();
    const { 'retry-after': wait } = answer.headers;
    refuseSocket(socket, answer.statusCode ?? 502, wait === undefined ? '' : `Retry-After: ${wait}\r\n`);
  });
  onward.on('upgrade', (answer, relaySocket, relayHead) => {
    const { 'sec-websocket-accept': accept = '', 'sec-websocket-protocol': protocol } = answer.headers;
    const chosen = protocol === undefined ? '' : `Sec-WebSocket-Protocol: ${protocol}\r\n`;
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n${chosen}\r\n`,
    );
    relaySocket.on('error', end);
    relaySocket.on('close', end);
    socket.on('close', () => relaySocket.destroy());
    socket.write(relayHead);
    relaySocket.write(head);
    relaySocket.pipe(socket);
    socket.pipe(relaySocket);
  });
  onward.end();
}

/** Ends a socket that is no WebSocket yet. */
export function refuseSocket(socket: Duplex, status: number, headers = ''): void {
  socket.end(`HTTP/1.1 ${status} Refused\r\n${headers}Connection: close\r\nContent-Length: 0\r\n\r\n`);
}

function ask(
  { address: server, page, path }: Onward,
  { headers, method, url = '/' }: Pick<IncomingMessage, 'headers' | 'method' | 'url'>,
  added: Readonly<Record<string, string>>,
) {
  const passed = Object.fromEntries(Object.entries(headers).filter(([name]) => !notPassedOn.test(name)));
  // The relay lets in sockets and calls of its own page's origin, whose client this is.
  const origin = headers.origin === undefined ? {} : { origin: page };
  const options = { method: method ?? 'GET', headers: { ...passed, ...origin, ...added } };
  const address = `${server}${path ?? url}`;
  return server.startsWith('https:') ? httpsRequest(address, options) : httpRequest(address, options);
}
