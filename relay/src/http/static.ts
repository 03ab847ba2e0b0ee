import { existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import fastifyStatic, { type FastifyStaticOptions } from '@fastify/static';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type Operator, operatorPath } from '../../contract/operator.ts';
import type { Config } from '../config.ts';
import { ApiError } from '../errors.ts';
import { pathOf } from './address.ts';
import { type ClientFacts, keysPages, waictPath } from './clientFacts.ts';
import { answerError } from './errors.ts';
import { keptHeaders, setKeysHeaders } from './headers.ts';
import { originsOf, type Ports } from './origins.ts';
import type { WebClient } from './webCopies.ts';

/**
 * Serves the built web client beside the API. Addresses that are no file are routes of the client and answer its page,
 * but only to who asks for HTML: a missing script stays a 404. Without a built client the API runs alone.
 */
export async function serveWebClient(
  app: FastifyInstance,
  web: WebClient | null,
  client: ClientFacts,
  config: Config,
  operator: Operator,
  ports: () => Ports,
): Promise<void> {
  app.setNotFoundHandler((request, reply) => {
    if (web !== null && asksForPage(request)) return reply.sendFile('index.html');
    return answerError(new ApiError('not-found', 'There is nothing at this address.'), request, reply);
  });
  if (web === null) {
    app.log.warn({ webDir: config.webDir }, 'no built web client: serving the API alone');
    return;
  }
  // The page is static: where the keys are depends on the address by which the browser has come.
  for (const path of Object.keys(keysPages)) {
    app.get(path, async (request, reply) => {
      reply.header('cache-control', 'no-store');
      return reply.redirect(`${originsOf(request, config, ports()).keys}${path}`);
    });
  }
  const settings = JSON.stringify(operator);
  app.get(operatorPath, (_request, reply) => reply.type('application/json').send(settings));
  serveOperatorScript(app, config, ports, client, { operator });
  serveManifest(app, web, operator);
  serveWaictManifest(app, web, 'app', client);
  await app.register(fastifyStatic, filesOf(web, 'app', [manifestPath]));
}

/**
 * Serves the frame of the keys with its files and the page for its storage, and nothing else: no API, and no page in the place of what isn't there.
 */
export async function serveKeys(
  keys: FastifyInstance,
  web: WebClient,
  client: ClientFacts,
  config: Config,
  ports: () => Ports,
): Promise<void> {
  keys.addHook('onRequest', async (request, reply) =>
    setKeysHeaders(request, reply, config, ports(), client),
  );
  keys.setNotFoundHandler((_request, reply) =>
    // Another relay behind this address may have it already: a cache would keep that it is gone.
    reply.code(404).header('cache-control', 'no-store').type('text/plain').send('Not found'),
  );
  for (const [path, file] of Object.entries(keysPages)) {
    keys.get(path, (_request, reply) => reply.sendFile(file));
  }
  serveOperatorScript(keys, config, ports, client);
  serveWaictManifest(keys, web, 'keys', client);
  await keys.register(fastifyStatic, filesOf(web, 'keys'));
}

const manifestPath = '/manifest.webmanifest';

/** The manifest of the installed app: the built one, with the operator's name of the product in the two places for it. */
function serveManifest(app: FastifyInstance, { current }: WebClient, { productName }: Operator): void {
  const file = path.join(current, 'app', manifestPath);
  if (!existsSync(file)) return;
  app.get(manifestPath, async (_request, reply) => {
    const built = await readFile(file, 'utf8');
    const named = built.replaceAll('"%productName%"', () => JSON.stringify(productName));
    return reply.type('application/manifest+json').send(named);
  });
}

/** The manifest of an origin for browsers that know WAICT, by the media type of draft-waict-integrity-v2 (Fetching Manifests). */
function serveWaictManifest(
  server: FastifyInstance,
  { current }: WebClient,
  part: 'app' | 'keys',
  { manifests }: ClientFacts,
): void {
  const address = manifests[part];
  if (address === null) return;
  const manifest = readFileSync(path.join(current, part, address));
  server.get(address, (_request, reply) => reply.type('application/waict-integrity-manifest').send(manifest));
}

/**
 * The operator's settings, as a script that a service worker imports when it is installed: a page can't write those, as
 * it can whatever else its origin stores. That of the app answers its page by them, also offline; the keys are told nothing
 * that an operator has written.
 */
function serveOperatorScript(
  server: FastifyInstance,
  config: Config,
  ports: () => Ports,
  client: ClientFacts,
  told: { readonly operator?: Operator } = {},
): void {
  server.get('/operator.js', (request, reply) => {
    const origins = originsOf(request, config, ports());
    const settings = { keysOrigin: origins.keys, headers: keptHeaders(origins, config, client), ...told };
    return reply.type('text/javascript').send(`self.operatorSettings = ${JSON.stringify(settings)};\n`);
  });
}

/** A name with a leading dot, but for the folder in which the release is stated (RFC 8615). */
const hiddenName = /^\/\.(?!well-known\/)|.\/\./;

/** @param answered addresses of files that have a route of their own, beside the manifests for WAICT */
function filesOf(
  { current, former }: WebClient,
  part: 'app' | 'keys',
  answered: readonly string[] = [],
): FastifyStaticOptions {
  const root = path.join(current, part);
  const formerRoot = former === null ? null : path.join(former, part);
  return {
    // The present version's file is served where both have one.
    root: formerRoot === null ? root : [root, formerRoot],
    // Pages of the version before need its hashed files; its other files have successors.
    allowedPath: (pathname, from) =>
      !hiddenName.test(pathname) && (pathname.startsWith('/assets/') || path.resolve(from) !== formerRoot),
    // One route for each file that is there now: no address can name a file outside.
    wildcard: false,
    globIgnore: [...answered, `${waictPath}/*`].map((address) => address.slice(1)),
    // For `/.well-known` alone.
    serveDotFiles: true,
    // Caching is set by address, with the other headers.
    cacheControl: false,
    acceptRanges: false,
    // The build lays a .br file beside each script and style.
    preCompressed: true,
  };
}

function asksForPage(request: FastifyRequest): boolean {
  return (
    (request.method === 'GET' || request.method === 'HEAD') &&
    (request.headers.accept ?? '').includes('text/html') &&
    !/^\/(api|assets|\.well-known)(\/|$)/.test(pathOf(request))
  );
}
