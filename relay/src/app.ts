import Fastify, { type FastifyInstance } from 'fastify';
import type { Config } from './config.ts';
import { openDatabase } from './db/database.ts';
import type { OpenDatabase } from './db/tables.ts';
import { ApiError, errorCode, StartupError } from './errors.ts';
import { registerContract } from './http/contractRoutes.ts';
import { allowOrigins } from './http/cors.ts';
import { answerError, answerErrors, parseJsonOnly } from './http/errors.ts';
import { setHeaders, setSecurityHeaders } from './http/headers.ts';
import { createLog, type LogStream, RequestLog } from './http/logging.ts';
import { serveWebClient } from './http/static.ts';
import { attachMqtt } from './mqtt/gateway.ts';
import { attachPresence } from './presence/presence.ts';
import { Hub } from './realtime/hub.ts';
import { MemoryRateLimitStore } from './rateLimits/store.ts';
import { attachUpgrades } from './realtime/upgrade.ts';
import { createHandlers } from './routes/index.ts';
import { loadSecrets, makeDataFolder } from './secrets.ts';
import { createServices, type Services } from './services.ts';

export interface RelayOptions {
  readonly config: Config;
  /** Where log lines go instead of standard output. */
  readonly logStream?: LogStream;
  /** Milliseconds since the epoch. */
  readonly clock?: () => number;
}

export interface Relay {
  readonly app: FastifyInstance;
  readonly services: Services;
  /** @throws StartupError if the address can't be listened on */
  listen(): Promise<{ port: number }>;
  /**
   * Drains: takes no more requests, ends the sockets with a reason, finishes what runs, closes the database.
   * Later calls wait for the first.
   */
  close(): Promise<void>;
}

/** The longest a request may take to arrive; slower ones only hold a connection. */
const requestTimeout = 120_000;
/** How long a drain waits for requests under way before it cuts them off. */
const drainTimeout = 10_000;

/**
 * The relay, ready but not listening.
 * @throws StartupError if the data folder can't be used
 */
export async function buildApp({ config, logStream, clock = Date.now }: RelayOptions): Promise<Relay> {
  await makeDataFolder(config.dataDir);
  const log = createLog(config.logLevel, logStream);
  const database = await openDatabase(config, log);
  try {
    const app: FastifyInstance = Fastify({
      loggerInstance: log,
      logController: new RequestLog(),
      // One proxy: the values before the last are the visitor's own claims.
      trustProxy: config.trustProxy && ((_address: string, hop: number) => hop === 0),
      bodyLimit: 64 * 1024,
      requestTimeout,
      requestIdHeader: false,
      // Fastify's own answers are not in the contract's form; the hook below answers instead.
      return503OnClosing: false,
      // These answers are given before any hook runs.
      frameworkErrors: (error, request, reply) => {
        setHeaders(request, reply, config);
        answerError(error, request, reply);
      },
      // No answer can follow what is not HTTP.
      clientErrorHandler: (_error, socket) => {
        socket.destroy();
      },
    });
    const hub = new Hub((error) => app.log.error({ err: error }, 'a listener failed'));
    const secrets = await loadSecrets(config.dataDir);
    const rateLimitStore = new MemoryRateLimitStore(clock);
    const services = await createServices({
      config,
      hub,
      clock,
      log: app.log,
      db: database.db,
      secrets,
      rateLimitStore,
    });

    let closed: Promise<void> | undefined;
    app.addHook('onRequest', async () => {
      if (closed !== undefined) throw new ApiError('unavailable', 'The server is restarting.');
    });
    app.addHook('onSend', async (_request, reply) => {
      // A connection that stays open after its answer would hold up the drain.
      if (closed !== undefined) reply.header('connection', 'close');
    });
    setSecurityHeaders(app, config);
    allowOrigins(app, config);
    answerErrors(app);
    parseJsonOnly(app);
    await app.register(async (api) => registerContract(api, createHandlers(services), services), {
      prefix: '/api',
    });
    await serveWebClient(app, config);

    const upgrades = attachUpgrades(app.server, config, services.rateLimiter);
    const mqtt = attachMqtt(upgrades, services);
    const presence = attachPresence(upgrades, services);
    app.addHook('preClose', async () => {
      upgrades.stop();
      await Promise.all([mqtt.close(), presence.close()]);
    });
    await app.ready();

    return {
      app,
      services,
      listen: () => listen(app, config),
      close() {
        closed ??= drain(app, database);
        return closed;
      },
    };
  } catch (error) {
    await database.close();
    throw error;
  }
}

async function drain(app: FastifyInstance, database: OpenDatabase): Promise<void> {
  const cutOff = setTimeout(() => app.server.closeAllConnections(), drainTimeout);
  try {
    await app.close();
  } finally {
    clearTimeout(cutOff);
    await database.close();
  }
}

async function listen(app: FastifyInstance, { host, port }: Config): Promise<{ port: number }> {
  try {
    await app.listen({ host, port });
  } catch (error) {
    throw listenFailure(error, host, port);
  }
  const address = app.server.address();
  return { port: typeof address === 'object' && address !== null ? address.port : port };
}

function listenFailure(error: unknown, host: string, port: number): unknown {
  const code = errorCode(error);
  if (code === 'EADDRINUSE') {
    return new StartupError(`Port ${port} is already in use. Set PORT to another one.`);
  }
  if (code === 'EACCES') {
    return new StartupError(`Port ${port} needs more rights than this process has. Set PORT to another one.`);
  }
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
    return new StartupError(`This machine has no address ${host} to listen on. Set HOST to another one.`);
  }
  return error;
}
