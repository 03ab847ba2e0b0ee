import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Failure } from '../chain/errors.ts';
import { contentTypeOf, keysPages, type Origins, operatorScript, workerSettings } from '../chain/expected.ts';
import type { Origin, ReleaseStatement } from '../chain/statement.ts';
import { fileKey } from '../compare.ts';
import { headersOfRelay, waictManifest } from '../manifests.ts';
import { filledManifest, manifestPath, type OperatorSettings, operatorPath } from '../operator.ts';
import { type Onward, passOn, passSocketOn, refuseSocket, relayPath, socketPath } from './proxy.ts';

export interface ServeOptions {
  readonly release: ReleaseStatement;
  /** The contents of its files, checked. */
  readonly files: ReadonlyMap<string, Uint8Array>;
  /** The settings of the operator, read strictly. */
  readonly operator: OperatorSettings;
  /** The origin of the relay's app, which calls and sockets are passed on to unless the operator names others. */
  readonly relay: string;
  /** The port of the app; the keys have the one after it. */
  readonly port: number;
}

export interface Served {
  /** To be opened in a browser. */
  readonly origins: Origins;
  close(): Promise<void>;
}

/** Both loopback addresses: on the one that is left out somebody else could answer for `localhost`. */
const loopbacks = ['127.0.0.1', '::1'];

/**
 * Serves a release on this machine alone, at two origins as a relay does, with the release's own headers.
 * @throws Failure `usage` if a port is taken
 */
export async function serveRelease({ files, operator, port, relay, release }: ServeOptions): Promise<Served> {
  const { apiHost, mqttUrl } = operator;
  // The page calls this program, whatever the operator says.
  const told: OperatorSettings = { ...operator, apiHost: null, mqttUrl: null };
  const calls: Onward = { address: apiHost ?? relay, page: relay };
  const origins = { app: `http://localhost:${port}`, keys: `http://localhost:${port + 1}` };
  const servers: Server[] = [];
  const sockets = new Set<{ destroy(): void }>();

  function answer(origin: Origin, request: IncomingMessage, response: ServerResponse): void {
    // A page of another name that leads to this machine would get at the app's origin otherwise.
    if (request.headers.host !== new URL(origins[origin]).host) return void response.writeHead(421).end();
    const { method = 'GET', url = '/' } = request;
    if (origin === 'app' && relayPath.test(url)) {
      if (!isOwn(request)) return void response.writeHead(403).end();
      return passOn(calls, request, response);
    }
    if (method !== 'GET' && method !== 'HEAD') return void response.writeHead(405).end();
    const [path = '/'] = url.split('?', 1);
    if (origin === 'app' && path in keysPages) {
      const location = `${origins.keys}${path}`;
      const headers = headersOfRelay(release, origin, path, origins);
      return void response.writeHead(302, { ...headers, location, 'cache-control': 'no-store' }).end();
    }
    const content = contentAt(origin, path, request);
    if (content === undefined) return void response.writeHead(404, { 'cache-control': 'no-store' }).end();
    response.writeHead(200, {
      ...headersOfRelay(release, origin, path, origins),
      'content-type': content.type,
      'content-length': content.bytes.byteLength,
    });
    response.end(method === 'HEAD' ? undefined : content.bytes);
  }

  function contentAt(
    origin: Origin,
    path: string,
    { headers }: IncomingMessage,
  ): { readonly bytes: Uint8Array; readonly type: string } | undefined {
    if (path === '/operator.js') {
      const script = operatorScript(workerSettings(release, origins, origin === 'app' ? told : undefined));
      return { bytes: Buffer.from(script), type: contentTypeOf(path) };
    }
    if (origin === 'app' && path === operatorPath) {
      return { bytes: Buffer.from(JSON.stringify(told)), type: contentTypeOf(path) };
    }
    const manifest = waictManifest(release, origin);
    if (path === manifest.address) return { bytes: manifest.body, type: contentTypeOf(path) };
    const file = origin === 'keys' ? (keysPages[path] ?? path) : path;
    const bytes = files.get(fileKey(origin, file));
    if (bytes !== undefined) {
      const isFilled = origin === 'app' && file === manifestPath;
      return { bytes: isFilled ? filledManifest(bytes, told) : bytes, type: contentTypeOf(file) };
    }
    // Every route of the app is its one page; a missing script stays missing.
    const isRoute =
      origin === 'app' &&
      !/^\/(?:assets|\.well-known)\//.test(path) &&
      /text\/html/.test(headers.accept ?? '');
    const page = isRoute ? files.get(fileKey('app', '/index.html')) : undefined;
    return page === undefined ? undefined : { bytes: page, type: contentTypeOf('/index.html') };
  }

  /** Returns whether the app's own page asks, or something that is no page. */
  function isOwn({ headers }: IncomingMessage): boolean {
    return headers.origin === undefined || headers.origin === origins.app;
  }

  async function listen(origin: Origin, host: string): Promise<void> {
    const server = createServer((request, response) => answer(origin, request, response));
    server.on('upgrade', (request: IncomingMessage, socket, head) => {
      socket.on('error', () => undefined);
      const isHere = request.headers.host === new URL(origins.app).host;
      if (origin !== 'app' || !isHere || !isOwn(request) || !socketPath.test(request.url ?? '')) {
        return refuseSocket(socket, 403);
      }
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
      const isMqtt = mqttUrl !== null && /^\/mqtt(?:[/?]|$)/.test(request.url ?? '');
      passSocketOn(isMqtt ? { ...calls, ...mqttAt(mqttUrl) } : calls, request, socket, head);
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen({ host, port: origin === 'app' ? port : port + 1 }, resolve);
    });
    servers.push(server);
  }

  async function close(): Promise<void> {
    for (const socket of sockets) socket.destroy();
    await Promise.all(
      servers.map((server) => {
        server.closeAllConnections();
        return new Promise((resolve) => server.close(resolve));
      }),
    );
  }

  try {
    for (const host of loopbacks) {
      for (const origin of ['keys', 'app'] as const) {
        await listen(origin, host).catch((error: NodeJS.ErrnoException) => {
          // A machine without IPv6 has nobody there either.
          if (host !== '::1' || !['EADDRNOTAVAIL', 'EAFNOSUPPORT'].includes(error.code ?? '')) throw error;
        });
      }
    }
  } catch (error) {
    await close();
    const reason = error instanceof Error ? error.message : String(error);
    throw new Failure(
      'usage',
      `The ports ${port} and ${port + 1} can't be had (${reason}): name another --port.`,
    );
  }
  return { origins, close };
}

/** Where a broker of its own address is asked: Node.js asks for a socket as for any other answer, by HTTP. */
function mqttAt(url: string): Pick<Onward, 'address' | 'path'> {
  const { host, pathname, protocol } = new URL(url);
  return { address: `${protocol === 'wss:' ? 'https:' : 'http:'}//${host}`, path: pathname };
}
