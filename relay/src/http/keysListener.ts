import { createServer } from 'node:net';
import Fastify, { type FastifyBaseLogger } from 'fastify';
import type { Config } from '../config.ts';
import { errorCode } from '../errorCode.ts';
import { StartupError } from '../errors.ts';
import { listenFailure } from '../listenFailure.ts';
import { trustedProxies } from './clientAddress.ts';
import type { ClientFacts } from './clientFacts.ts';
import { RequestLog } from './logging.ts';
import type { Ports } from './origins.ts';
import { serveKeys } from './static.ts';
import type { WebClient } from './webCopies.ts';

export interface KeysListener {
  /**
   * Takes the port of the keys.
   * @returns the port that the app has to take, which the system chooses if none is configured
   * @throws StartupError if the address can't be listened on
   */
  listen(): Promise<Ports>;
  close(): Promise<void>;
}

export interface KeysListenerOptions {
  /** Null without a built client, whose keys the listener would serve. */
  readonly web: WebClient | null;
  readonly client: ClientFacts;
  readonly config: Config;
  readonly log: FastifyBaseLogger;
  readonly ports: () => Ports;
}

/** Number of times that two ports in a row are looked for, when the system chooses. */
const attempts = 20;
const requestTimeout = 30_000;

/**
 * The listener at the origin of the keys. Null without a built client, whose keys it would serve.
 * @throws StartupError behind a proxy whose second address isn't configured
 */
export async function createKeysListener({
  web,
  client,
  config,
  log,
  ports,
}: KeysListenerOptions): Promise<KeysListener | null> {
  if (web === null) return null;
  if (config.trustProxy && config.keysOrigin === null) {
    throw new StartupError(
      'KEYS_ORIGIN must be set behind a proxy: a second address that leads to KEYS_PORT, such as https://keys.chat.example.org for https://chat.example.org.',
    );
  }
  const keys = Fastify({
    loggerInstance: log,
    logController: new RequestLog(),
    trustProxy: trustedProxies(config),
    requestTimeout,
    requestIdHeader: false,
    clientErrorHandler: (_error, socket) => {
      socket.destroy();
    },
  });
  await serveKeys(keys, web, client, config, ports);
  await keys.ready();

  const listenAt = (port: number) => keys.listen({ host: config.host, port });
  return {
    async listen() {
      if (config.port !== 0) {
        const address = { host: config.host, port: config.keysPort };
        const settings = { hostSetting: 'HOST', portSetting: 'PORT (the keys have the port after it)' };
        await listenAt(config.keysPort).catch((error: unknown) => {
          throw listenFailure(error, { ...address, ...settings });
        });
        return config;
      }
      for (let attempt = 1; ; attempt += 1) {
        const port = await freePort(config.host);
        try {
          await listenAt(port + 1);
          return { port, keysPort: port + 1 };
        } catch (error) {
          if (errorCode(error) !== 'EADDRINUSE' || attempt === attempts) throw error;
        }
      }
    },
    close: () => keys.close(),
  };
}

/** A port that nobody listens on at this moment, with one after it. */
async function freePort(host: string): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port: 0 }, resolve);
  });
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return port === 65_535 ? freePort(host) : port;
}
