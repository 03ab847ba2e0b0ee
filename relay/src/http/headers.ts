import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../config.ts';
import { pathOf } from './address.ts';

const csp = (directives: Record<string, string>) =>
  Object.entries(directives)
    .map(([name, value]) => `${name} ${value}`)
    .join('; ');

/**
 * The page's policy. Everything comes from the relay's own origin, nothing runs from text (no unsafe-inline,
 * no eval, no WebAssembly), and scripts reach the DOM's dangerous sinks through two named Trusted Types
 * policies, which make the workers' URLs. In Chromium and Firefox `'self'` covers the sockets of the same
 * origin.
 */
const pagePolicy = (connectOrigins: readonly string[]) =>
  csp({
    'default-src': "'none'",
    'script-src': "'self'",
    'style-src': "'self'",
    // Avatars and QR codes are made in the page.
    'img-src': "'self' data: blob:",
    'font-src': "'self'",
    'connect-src': ["'self'", ...connectOrigins].join(' '),
    'worker-src': "'self'",
    'manifest-src': "'self'",
    // Nobody may frame the page, move its relative URLs, or have it post forms anywhere.
    'frame-ancestors': "'none'",
    'base-uri': "'none'",
    'form-action': "'none'",
    'require-trusted-types-for': "'script'",
    'trusted-types': 'sinetti-worker sinetti-service-worker',
  });

/**
 * The policy of the worker that holds the keys; a worker takes its policy from its own response. It may
 * compile libsodium's WebAssembly, which the page may not, and it has no network at all: keys have no way out
 * but the page.
 */
const workerPolicy = csp({
  'default-src': "'none'",
  'script-src': "'self' 'wasm-unsafe-eval'",
  'connect-src': "'none'",
  'require-trusted-types-for': "'script'",
});

/**
 * The service worker's policy: it may fetch the files of the build, which it compares with the hashes it was
 * built with.
 */
const serviceWorkerPolicy = csp({
  'default-src': "'none'",
  'script-src': "'self'",
  'connect-src': "'self'",
  'require-trusted-types-for': "'script'",
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

const headers = {
  // Windows that the page opens, or that open it, get no handle on it.
  'cross-origin-opener-policy': 'same-origin',
  // The page is isolated from other sites' processes: nothing is embedded that did not agree to it…
  'cross-origin-embedder-policy': 'require-corp',
  // …and nothing here may be embedded by other sites.
  'cross-origin-resource-policy': 'same-origin',
  // No address of a page goes to another site.
  'referrer-policy': 'no-referrer',
  // Scripts and styles are kept compressed beside the plain ones.
  vary: 'Accept-Encoding',
  // Bytes are what their content type says.
  'x-content-type-options': 'nosniff',
  // The product needs none of these but the last; whatever is injected doesn't get them either.
  'permissions-policy': [
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
    'microphone',
    'midi',
    'payment',
    'screen-wake-lock',
    'serial',
    'usb',
    'xr-spatial-tracking',
  ]
    .map((feature) => `${feature}=()`)
    // The code on another person's screen is read with it, if the person lets it.
    .concat('camera=(self)')
    .join(', '),
} as const;

const twoYears = 'max-age=63072000';
const hashedName = 'public, max-age=31536000, immutable';

/** Sets the headers of every answer, before anything else can answer. */
export function setSecurityHeaders(app: FastifyInstance, config: Config): void {
  app.addHook('onRequest', async (request, reply) => {
    setHeaders(request, reply, config);
  });
}

/** The headers of whatever is answered at this request's address. An error replaces the caching by none. */
export function setHeaders(
  request: FastifyRequest,
  reply: FastifyReply,
  config: Pick<Config, 'connectOrigins'>,
): void {
  const { policy, caching } = kindOf(pathOf(request), config.connectOrigins);
  reply.headers({ ...headers, 'content-security-policy': policy, 'cache-control': caching });
  // Behind TLS only: on plain HTTP browsers ignore it, and localhost must stay usable.
  if (request.protocol === 'https') reply.header('strict-transport-security', twoYears);
}

function kindOf(pathname: string, connectOrigins: readonly string[]): { policy: string; caching: string } {
  if (pathname === '/api/docs') return { policy: documentationPolicy, caching: 'no-store' };
  // Answers of the API hold what is one person's alone, and health is that of the moment.
  if (/^\/(api|healthz|readyz)(\/|$)/.test(pathname)) return { policy: apiPolicy, caching: 'no-store' };
  if (/^\/assets\/crypto\.worker-[\w-]+\.js$/.test(pathname)) {
    return { policy: workerPolicy, caching: hashedName };
  }
  if (pathname === '/service-worker.js') return { policy: serviceWorkerPolicy, caching: 'no-cache' };
  // Names under /assets hold a hash of the content; everything else must be asked for again.
  const caching = pathname.startsWith('/assets/') ? hashedName : 'no-cache';
  return { policy: pagePolicy(connectOrigins), caching };
}
