import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../config.ts';
import { pathOf } from './address.ts';
import { type ClientFacts, waictPath } from './clientFacts.ts';
import { type Origins, originsOf, type Ports } from './origins.ts';

const csp = (directives: Record<string, string>) =>
  Object.entries(directives)
    .map(([name, value]) => `${name} ${value}`)
    .join('; ');

/**
 * The page's policy. Everything comes from the relay's own origin, nothing runs from text (no unsafe-inline,
 * no eval, no WebAssembly) but the import map, which says the hashes of the scripts, and scripts reach the DOM's dangerous sinks through one named Trusted Types
 * policy, which makes the service worker's URL. The one frame is that of the keys. In Chromium and Firefox
 * `'self'` covers the sockets of the same origin.
 */
const pagePolicy = (connectOrigins: readonly string[], keysOrigin: string, inline: readonly string[]) =>
  csp({
    'default-src': "'none'",
    'script-src': ["'self'", ...inline].join(' '),
    'style-src': "'self'",
    // Avatars and QR codes are made in the page.
    'img-src': "'self' data: blob:",
    // The service worker answers for sound and films, piece by piece; without it they come from the page's memory.
    'media-src': "'self' blob:",
    'font-src': "'self'",
    'connect-src': ["'self'", ...connectOrigins].join(' '),
    'worker-src': "'self'",
    // The frame begins at this origin, which redirects it.
    'frame-src': `'self' ${keysOrigin}`,
    'manifest-src': "'self'",
    // Nobody may frame the page, move its relative URLs, or have it post forms anywhere.
    'frame-ancestors': "'none'",
    'base-uri': "'none'",
    'form-action': "'none'",
    'require-trusted-types-for': "'script'",
    'trusted-types': 'sinetti-service-worker',
  });

/**
 * The policy of the frame at the origin of the keys: it runs the script that was built into its page and no other, starts
 * the worker, asks for the password in one form with one stylesheet, whose content no request may carry away, and is
 * framed by its app alone. It opens no window, and takes its page nowhere.
 */
const keysFramePolicy = (appOrigin: string, scripts: readonly string[]) =>
  csp({
    'default-src': "'none'",
    'script-src': scripts.length === 0 ? "'none'" : scripts.join(' '),
    'style-src': "'self'",
    'worker-src': "'self'",
    sandbox: 'allow-forms allow-same-origin allow-scripts',
    'frame-ancestors': appOrigin,
    'base-uri': "'none'",
    'form-action': "'none'",
    'require-trusted-types-for': "'script'",
    'trusted-types': 'sinetti-worker sinetti-service-worker',
  });

/**
 * The policy of the page that asks for persistent storage, which the person opens in a tab of its own: its one script and its
 * styles, framed by nobody.
 */
const storagePagePolicy = (scripts: readonly string[]) =>
  csp({
    'default-src': "'none'",
    'script-src': scripts.length === 0 ? "'none'" : scripts.join(' '),
    'style-src': "'self'",
    'frame-ancestors': "'none'",
    'base-uri': "'none'",
    'form-action': "'none'",
    'require-trusted-types-for': "'script'",
    'trusted-types': "'none'",
  });

/**
 * The policy of the worker that holds the keys; a worker takes its policy from its own response. It may
 * compile libsodium's WebAssembly, and nothing else: it can load no script, start no worker, make no Trusted
 * Types policy and open no connection. Its way out is the port to the page.
 */
const cryptoWorkerPolicy = csp({
  'default-src': "'none'",
  'script-src': "'wasm-unsafe-eval'",
  'connect-src': "'none'",
  'worker-src': "'none'",
  'require-trusted-types-for': "'script'",
  'trusted-types': "'none'",
});

/**
 * The policy of both service workers: they may fetch the files of the build, which they compare with the
 * hashes they were built with, and import the operator's settings. That of the app also fetches sealed files of people from the API.
 */
const serviceWorkerPolicy = (connectOrigins: readonly string[]) =>
  csp({
    'default-src': "'none'",
    'script-src': "'self'",
    'connect-src': ["'self'", ...connectOrigins].join(' '),
    'worker-src': "'none'",
    'require-trusted-types-for': "'script'",
    'trusted-types': 'sinetti-operator',
  });

/** An answer of the API that a browser is tricked into showing does nothing. */
const apiPolicy = csp({ 'default-src': "'none'", 'frame-ancestors': "'none'" });

/** The page that documents the API: text and one stylesheet. */
const documentationPolicy = csp({
  'default-src': "'none'",
  'style-src': "'self'",
  'frame-ancestors': "'none'",
  'base-uri': "'none'",
  'form-action': "'none'",
});

/** The headers that every answer has, on both origins. */
const headers = {
  // Windows that the page opens, or that open it, get no handle on it.
  'cross-origin-opener-policy': 'same-origin',
  // The app and the keys get processes of their own, though they are of one site.
  'origin-agent-cluster': '?1',
  // No address of a page goes to another site.
  'referrer-policy': 'no-referrer',
  // Scripts and styles are kept compressed beside the plain ones.
  vary: 'Accept-Encoding',
  // Bytes are what their content type says.
  'x-content-type-options': 'nosniff',
} as const;

/**
 * The further header of documents, and of what else is answered under their policies (Subresource Integrity, section 3.8): no script runs
 * unless the page says its hash. A service worker under it could not import the operator's settings, whose bytes no release knows.
 */
const integrityPolicy = { 'integrity-policy': 'blocked-destinations=(script)' } as const;

/**
 * Names the manifest for WAICT (draft-waict-integrity-v2) beside it: nothing is held on to and nothing refused, and a browser that knows
 * it tells those who look at its log. Service workers answer without it, since the page that they have filled is none of the manifest's.
 */
const waictHeaders = (manifest: string | null): Record<string, string> =>
  manifest === null ? {} : { 'integrity-policy-waict-v1': `max-age=0, mode=report, manifest="${manifest}"` };

/** Features that nothing of the product needs; whatever is injected doesn't get them either. */
const forbidden = [
  'accelerometer',
  'autoplay',
  'browsing-topics',
  'display-capture',
  'geolocation',
  'gyroscope',
  'hid',
  'identity-credentials-get',
  'local-fonts',
  'magnetometer',
  'midi',
  'payment',
  // It would give a script of either origin the clock and the memory that Spectre needs.
  'cross-origin-isolated',
  'screen-wake-lock',
  'serial',
  'usb',
  'xr-spatial-tracking',
].map((feature) => `${feature}=()`);

/** The page reads the code on another person's screen and records voice messages, if the person lets it; the frame does neither. */
const permissionsPolicy = {
  app: [...forbidden, 'camera=(self)', 'microphone=(self)'].join(', '),
  keys: [...forbidden, 'camera=()', 'microphone=()'].join(', '),
} as const;

/** The app's files are for no other origin; the frame of the keys is for the app, which is of its site. */
const resourcePolicy = { app: 'same-origin', keys: 'same-site' } as const;

const twoYears = 'max-age=63072000';
const hashedName = 'public, max-age=31536000, immutable';

/** Sets the headers of every answer of the app's listener, before anything else can answer. */
export function setSecurityHeaders(
  app: FastifyInstance,
  config: Config,
  ports: () => Ports,
  client: ClientFacts,
): void {
  app.addHook('onRequest', async (request, reply) => {
    setHeaders(request, reply, config, ports(), client);
  });
}

/** The headers of whatever is answered at this request's address. An error replaces the caching by none. */
export function setHeaders(
  request: FastifyRequest,
  reply: FastifyReply,
  config: Pick<Config, 'connectOrigins' | 'host' | 'keysOrigin'>,
  ports: Ports,
  client: ClientFacts,
): void {
  const { keys } = originsOf(request, config, ports);
  const pathname = pathOf(request);
  const other = otherPolicyOf(pathname, config.connectOrigins);
  const caching = isApi(pathname) ? 'no-store' : cachingOf(pathname);
  const kind =
    other === null
      ? { ...pageHeaders(config.connectOrigins, keys, client), ...waictHeaders(client.manifests.app) }
      : answerHeaders('app', other);
  reply.headers({ ...kind, 'cache-control': caching });
  setTransportSecurity(request, reply);
}

/** The headers of whatever is answered at the origin of the keys. */
export function setKeysHeaders(
  request: FastifyRequest,
  reply: FastifyReply,
  config: Pick<Config, 'host' | 'keysOrigin'>,
  ports: Ports,
  client: ClientFacts,
): void {
  const pathname = pathOf(request);
  const { app } = originsOf(request, config, ports);
  const waict = waictHeaders(client.manifests.keys);
  const kind = isCryptoWorker(pathname)
    ? answerHeaders('keys', cryptoWorkerPolicy)
    : pathname === serviceWorkerPath
      ? answerHeaders('keys', serviceWorkerPolicy([]))
      : /^\/storage(?:\.html)?$/.test(pathname)
        ? { ...documentHeaders('keys', storagePagePolicy(client.inline.storage)), ...waict }
        : { ...frameHeaders(app, client), ...waict };
  reply.headers({ ...kind, 'cache-control': cachingOf(pathname) });
  setTransportSecurity(request, reply);
}

/** The headers that the service workers give the files that they keep, by the origin that they are of. */
export function keptHeaders(
  { app, keys }: Origins,
  config: Pick<Config, 'connectOrigins'>,
  client: ClientFacts,
) {
  return {
    app: { page: pageHeaders(config.connectOrigins, keys, client) },
    keys: { page: frameHeaders(app, client), worker: answerHeaders('keys', cryptoWorkerPolicy) },
  };
}

/**
 * All that is sent with a client, for the statement of a release: the same for every relay, so that `{app}` and `{keys}` stand
 * for its two origins, and `{connect}` for those that its operator lets the page connect to beside them.
 */
export function releaseHeaders({ inline }: Pick<ClientFacts, 'inline'>) {
  const ofOrigin = (origin: keyof typeof resourcePolicy) => {
    const { 'content-security-policy': _, ...others } = answerHeaders(origin, '');
    return others;
  };
  return {
    headers: { app: ofOrigin('app'), keys: ofOrigin('keys') },
    documents: integrityPolicy,
    caching: { assets: hashedName, others: 'no-cache' },
    policies: {
      page: pagePolicy(['{connect}'], '{keys}', inline.page),
      room: keysFramePolicy('{app}', inline.frame),
      storage: storagePagePolicy(inline.storage),
      'workers.crypto': cryptoWorkerPolicy,
      'workers.app': serviceWorkerPolicy(['{connect}']),
      'workers.keys': serviceWorkerPolicy([]),
    },
  };
}

function answerHeaders(origin: keyof typeof resourcePolicy, policy: string): Record<string, string> {
  return {
    ...headers,
    'permissions-policy': permissionsPolicy[origin],
    'cross-origin-resource-policy': resourcePolicy[origin],
    'content-security-policy': policy,
  };
}

function documentHeaders(origin: keyof typeof resourcePolicy, policy: string): Record<string, string> {
  return { ...answerHeaders(origin, policy), ...integrityPolicy };
}

function pageHeaders(connectOrigins: readonly string[], keys: string, { inline }: ClientFacts) {
  return documentHeaders('app', pagePolicy(connectOrigins, keys, inline.page));
}

function frameHeaders(app: string, { inline }: ClientFacts) {
  return documentHeaders('keys', keysFramePolicy(app, inline.frame));
}

function setTransportSecurity(request: FastifyRequest, reply: FastifyReply): void {
  // Behind TLS only: on plain HTTP browsers ignore it, and localhost must stay usable.
  if (request.protocol === 'https') reply.header('strict-transport-security', twoYears);
}

const serviceWorkerPath = '/service-worker.js';
const isCryptoWorker = (pathname: string) => /^\/assets\/crypto\.worker-[\w-]+\.js$/.test(pathname);

/** Answers of the API hold what is one person's alone, and health is that of the moment. */
const isApi = (pathname: string) => /^\/(api|healthz|readyz)(\/|$)/.test(pathname);

/** Returns the policy of answers at the app's origin that are under another one than its page; null for the others. */
function otherPolicyOf(pathname: string, connectOrigins: readonly string[]): string | null {
  if (pathname === '/api/docs') return documentationPolicy;
  if (isApi(pathname)) return apiPolicy;
  return pathname === serviceWorkerPath ? serviceWorkerPolicy(connectOrigins) : null;
}

/** Names under /assets and those of manifests hold a hash of the content; everything else must be asked for again. */
function cachingOf(pathname: string): string {
  return pathname.startsWith('/assets/') || pathname.startsWith(`${waictPath}/`) ? hashedName : 'no-cache';
}
