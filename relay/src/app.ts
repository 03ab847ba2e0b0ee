import Fastify, { type FastifyInstance } from 'fastify';
import { openBackplane } from './backplane/openBackplane.ts';
import { createBlobFiles } from './blobs/blobFiles.ts';
import type { BlobStore } from './blobs/blobStore.ts';
import type { Config } from './config.ts';
import { openDatabase } from './db/database.ts';
import { createDiskReserve } from './db/diskReserve.ts';
import type { OpenDatabase } from './db/openDatabase.ts';
import { reachDatabase } from './db/reach.ts';
import { diskSpace } from './diskSpace.ts';
import { restarting } from './errors.ts';
import { trustedProxies } from './http/clientAddress.ts';
import { factsOf } from './http/clientFacts.ts';
import { defaultBodyLimit, registerContract } from './http/contractRoutes.ts';
import { allowOrigins } from './http/cors.ts';
import { answerError, answerErrors, parseBodies, refuseBrokenRequest } from './http/errors.ts';
import { setHeaders, setSecurityHeaders } from './http/headers.ts';
import { measureRequests, serveHealth } from './http/health.ts';
import { createKeysListener } from './http/keysListener.ts';
import { createLog, type LogStream, RequestLog } from './http/logging.ts';
import { readOperator } from './http/operatorFile.ts';
import type { Ports } from './http/origins.ts';
import { RequestsUnderWay } from './http/requestsUnderWay.ts';
import { serveWebClient } from './http/static.ts';
import { announcesBody, boundStrangersBody } from './http/strangersBodies.ts';
import { keepWebClient } from './http/webCopies.ts';
import { createBlobJob } from './jobs/blobs.ts';
import { createNameJob } from './jobs/names.ts';
import { createOperatorNewsJob } from './jobs/operatorNews.ts';
import { createPurgeJob } from './jobs/purge.ts';
import { createRetentionJob } from './jobs/retention.ts';
import { listenFailure } from './listenFailure.ts';
import { createMailer } from './mail/mailer.ts';
import { createAppender } from './messaging/append/appender.ts';
import { threadEntry } from './messaging/append/threadEntry.ts';
import { Metrics } from './metrics/metrics.ts';
import { type MetricsServer, serveMetrics } from './metrics/metricsServer.ts';
import { attachMqtt } from './mqtt/gateway.ts';
import { serveDocumentation } from './openapi/serve.ts';
import { attachPresence } from './presence/presence.ts';
import { attachUpgrades } from './realtime/upgrade.ts';
import { WaitingBytes } from './realtime/waitingBytes.ts';
import { methodsOfBlobs, serveBlobs } from './routes/blobs.ts';
import { createHandlers } from './routes/index.ts';
import { loadSecrets, makeDataFolder } from './secrets.ts';
import { createServices, type Services } from './services.ts';

export interface RelayOptions {
  readonly config: Config;
  /** Takes the log lines in place of standard output. */
  readonly logStream?: LogStream;
  /** Milliseconds since the epoch. */
  readonly clock?: () => number;
  /** Keeps the files that people have sent in place of the folder that the settings name. */
  readonly blobStore?: BlobStore;
  /** Answers the bytes that the database's disk can still take, in the place of that disk. */
  readonly freeBytes?: () => Promise<number>;
}

export interface ListeningPorts {
  readonly port: number;
  /** Null if no web client is served, which is what has keys. */
  readonly keysPort: number | null;
  /** Null if no metrics are served. */
  readonly metricsPort: number | null;
}

export interface Relay {
  readonly app: FastifyInstance;
  readonly services: Services;
  readonly database: OpenDatabase;
  /** Counts the bytes that strangers have sent and that wait. */
  readonly waiting: WaitingBytes;
  /** @throws StartupError if the address can't be listened on */
  listen(): Promise<ListeningPorts>;
  /**
   * Drains: takes no more requests, ends the sockets with a reason, finishes what runs, closes the database.
   * Later calls wait for the first.
   */
  close(): Promise<void>;
}

/** The longest a request may take to arrive; slower ones only hold a connection. */
const requestTimeout = 120_000;
/** Milliseconds that a drain waits for requests under way before it cuts them off. */
const drainTimeout = 10_000;

/**
 * The relay, ready but not listening.
 * @throws StartupError if the data folder can't be used
 */
export async function buildApp({
  config,
  logStream,
  clock = Date.now,
  blobStore: givenBlobStore,
  freeBytes = async () => (await diskSpace(config.dataDir)).free,
}: RelayOptions): Promise<Relay> {
  await makeDataFolder(config.dataDir);
  const log = createLog(config.logLevel, logStream);
  const database = await openDatabase({ config, log, threadEntry });
  const opened: Closable[] = [database];
  try {
    let ports: Ports = config;
    const web = await keepWebClient(config, log);
    const client = factsOf(web);
    const app: FastifyInstance = Fastify({
      loggerInstance: log,
      logController: new RequestLog(),
      trustProxy: trustedProxies(config),
      bodyLimit: defaultBodyLimit,
      requestTimeout,
      requestIdHeader: false,
      // Fastify's own answers are not in the contract's form; the hook below answers instead.
      return503OnClosing: false,
      // These answers are given before any hook runs.
      frameworkErrors: (error, request, reply) => {
        setHeaders(request, reply, config, ports, client);
        answerError(error, request, reply);
      },
      clientErrorHandler: refuseBrokenRequest,
    });
    const secrets = await loadSecrets(config.dataDir);
    const metrics = new Metrics();
    await metrics.watchDatabase(() => database.size());
    metrics.watchDisks({ data: config.dataDir, files: config.blobs.dir });
    const backplane = await openBackplane({ config, secrets, clock, log, metrics });
    opened.push(backplane);
    const { hub, onlineUsers, rateLimitStore } = backplane;
    const mailer = config.smtp === null ? null : createMailer({ smtp: config.smtp, log, metrics });
    if (mailer !== null) opened.push(mailer);
    const blobStore = givenBlobStore ?? (await createBlobFiles(config.blobs.dir, database.db));
    await blobStore.open();
    const services = await createServices({
      config,
      hub,
      onlineUsers,
      clock,
      log: app.log,
      db: database.db,
      names: database.names,
      appender: await createAppender(database),
      secrets,
      blobStore,
      diskReserve: await createDiskReserve({ free: config.databaseUrl === null ? freeBytes : null, log }),
      rateLimitStore,
      metrics,
      mailer,
    });

    const purgeJob = createPurgeJob({ db: database.db, clock, log });
    opened.push(purgeJob);
    const { retention } = config;
    const retentionJob = createRetentionJob({ database, retention, clock, metrics, log });
    opened.push(retentionJob);
    const { blobs } = services;
    const blobJob = createBlobJob({
      db: database.db,
      store: blobStore,
      blobs,
      settings: config.blobs,
      clock,
      metrics,
      log,
    });
    opened.push(blobJob, blobs);
    const nameJob = createNameJob({ db: database.db, names: database.names, log });
    opened.push(nameJob);
    const operatorNewsJob = createOperatorNewsJob({ db: database.db, hub, log });
    opened.push(operatorNewsJob);

    let closed: Promise<void> | undefined;
    const underWay = new RequestsUnderWay();
    const waiting = new WaitingBytes();
    metrics.watchWaiting(() => waiting.bytes);
    app.addHook('onRequest', async (_request, reply) => {
      if (closed !== undefined) throw restarting();
      underWay.add(reply);
    });
    app.addHook('onSend', async (_request, reply) => {
      // A connection that stays open after its answer would hold up the drain.
      if (closed !== undefined) reply.header('connection', 'close');
    });
    app.addHook('preParsing', (request, reply, payload, done) => {
      const isBounded = !request.session && announcesBody(request.headers);
      done(null, isBounded ? boundStrangersBody(payload, reply.raw, waiting) : payload);
    });
    setSecurityHeaders(app, config, () => ports, client);
    allowOrigins(app, config);
    answerErrors(app);
    measureRequests(app, metrics);
    parseBodies(app);
    await app.register(
      async (api) => {
        serveBlobs(api, services);
        registerContract(api, createHandlers(services), services, methodsOfBlobs);
        serveDocumentation(api);
      },
      { prefix: '/api' },
    );
    serveHealth(app, async () => {
      backplane.check();
      await reachDatabase(database.db);
    });
    await serveWebClient(app, web, client, config, await readOperator(config, log), () => ports);
    const keys = await createKeysListener({ web, client, config, log, ports: () => ports });
    if (keys !== null) opened.push(keys);

    const upgrades = attachUpgrades(app.server, config, { ...services, metrics, waiting });
    const mqtt = attachMqtt(upgrades, services);
    const presence = attachPresence(upgrades, services);
    app.addHook('preClose', async () => {
      upgrades.stop();
      // New requests are answered as long as anything is under way: nobody listens once this is done.
      await Promise.all([mqtt.close(), presence.close(), blobs.close(), underWay.settled(drainTimeout)]);
    });
    await app.ready();

    let metricsServer: MetricsServer | null = null;
    return {
      app,
      services,
      database,
      waiting,
      async listen() {
        const { host, port } = config.metrics;
        const settings = { hostSetting: 'METRICS_HOST', portSetting: 'METRICS_PORT' };
        if (port !== null) metricsServer = await serveMetrics(metrics, { host, port, ...settings });
        purgeJob.start();
        retentionJob.start();
        blobJob.start();
        nameJob.start();
        operatorNewsJob.start();
        // Browsers name both ports, so the one of the keys is taken before anything is answered at the app's.
        if (keys !== null) ports = await keys.listen();
        return {
          port: await listen(app, config.host, ports.port),
          keysPort: keys === null ? null : ports.keysPort,
          metricsPort: metricsServer?.port ?? null,
        };
      },
      close() {
        closed ??= drain(app, metricsServer === null ? opened : [...opened, metricsServer]);
        return closed;
      },
    };
  } catch (error) {
    await closeAll(opened);
    throw error;
  }
}

async function drain(app: FastifyInstance, opened: readonly Closable[]): Promise<void> {
  const cutOff = setTimeout(() => app.server.closeAllConnections(), drainTimeout);
  try {
    await app.close();
  } finally {
    clearTimeout(cutOff);
    await closeAll(opened);
  }
}

interface Closable {
  close(): Promise<void>;
}

/** The last one opened is closed first. */
async function closeAll(opened: readonly Closable[]): Promise<void> {
  for (const item of opened.toReversed()) await item.close();
}

async function listen(app: FastifyInstance, host: string, port: number): Promise<number> {
  try {
    await app.listen({ host, port });
  } catch (error) {
    throw listenFailure(error, { host, port, hostSetting: 'HOST', portSetting: 'PORT' });
  }
  const address = app.server.address();
  return typeof address === 'object' && address !== null ? address.port : port;
}
