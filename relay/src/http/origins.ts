import type { FastifyRequest } from 'fastify';

/**
 * The keys of a person have an origin of their own, so that no script of the app can read them where they are stored. It
 * is of one site with the app, because browsers part the storage of other sites: `keys.` and the app's host, or the app's
 * host on the port after the app's. Both ends check that (workers/api/origins.ts).
 */
export const keysOriginRule =
  'must be the host of the app after "keys.", such as https://keys.chat.example.org, or the host of the app on the port after its own';

/** The origin of the app whose keys are at an origin; null if none can have its keys there. */
export function appOriginOf(keysOrigin: string): string | null {
  const { protocol, hostname, port } = new URL(keysOrigin);
  if (hostname.startsWith('keys.')) {
    return `${protocol}//${hostname.slice('keys.'.length)}${port === '' ? '' : `:${port}`}`;
  }
  return port === '' || port === '1' ? null : new URL(`${protocol}//${hostname}:${Number(port) - 1}`).origin;
}

/** The two origins that a request is about, as its browser names them. */
export interface Origins {
  readonly app: string;
  readonly keys: string;
}

export interface Ports {
  readonly port: number;
  readonly keysPort: number;
}

/**
 * Tells the origins at which a browser sees this relay. Without a configured one they follow from the host that it asked
 * for, if that is one of this machine's names: any other could be made up by whoever sent the request.
 */
export function originsOf(
  request: Pick<FastifyRequest, 'hostname'>,
  config: { readonly host: string; readonly keysOrigin: string | null },
  { keysPort, port }: Ports,
): Origins {
  const { host, keysOrigin } = config;
  if (keysOrigin !== null) return { app: appOriginOf(keysOrigin) ?? keysOrigin, keys: keysOrigin };
  const own = ['localhost', '127.0.0.1', '[::1]', host.includes(':') ? `[${host}]` : host];
  const name = own.includes(request.hostname) ? request.hostname : 'localhost';
  return { app: `http://${name}:${port}`, keys: `http://${name}:${keysPort}` };
}
