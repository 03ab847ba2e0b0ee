import { documentPolicies, type Origin, type PolicyName, type ReleaseStatement } from './statement.ts';

/** The addresses of a relay's two origins. */
export interface Origins extends Readonly<Record<Origin, string>> {
  /** The origins that its operator has the page connect to beside them; none unless said. */
  readonly connect?: readonly string[];
}

/** The pages at the origin of the keys by the address without an ending, which the app's origin redirects to it. */
export const keysPages: Readonly<Record<string, string>> = {
  '/keys': '/keys.html',
  '/storage': '/storage.html',
};

/**
 * Headers by which any answer makes a browser do something, and which no answer of a relay has. By cookies, and by dictionaries that later
 * answers are encoded with, a browser would be known, and answered otherwise than who checks.
 */
export const commands = [
  'clear-site-data',
  'link',
  'refresh',
  'service-worker-allowed',
  'set-cookie',
  'use-as-dictionary',
];

/** The folder of an origin for manifests of WAICT, which are named by their hash so that what an address holds never changes. */
export const waictPath = '/.well-known/waict/manifests';

const contentTypes: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  json: 'application/json; charset=utf-8',
  ogg: 'audio/ogg',
  png: 'image/png',
  svg: 'image/svg+xml',
  txt: 'text/plain; charset=utf-8',
  wav: 'audio/wav',
  webmanifest: 'application/manifest+json; charset=utf-8',
  webp: 'image/webp',
  woff2: 'font/woff2',
};

/** Returns the media type of a file by its ending; a manifest for WAICT has none. */
export function contentTypeOf(path: string): string {
  if (isWaictManifest(path)) return 'application/waict-integrity-manifest';
  return contentTypes[path.slice(path.lastIndexOf('.') + 1)] ?? 'application/octet-stream';
}

const isWaictManifest = (path: string) => path.startsWith(`${waictPath}/`);

/** Returns the headers, with policy and caching, that a release has at a path of an origin. */
export function headersAt(
  release: ReleaseStatement,
  origin: Origin,
  path: string,
  origins: Origins,
): Record<string, string> {
  const isNamedByHash = path.startsWith('/assets/') || isWaictManifest(path);
  return {
    ...headersUnder(release, origin, policyAt(release, origin, path), origins),
    'cache-control': isNamedByHash ? release.caching.assets : release.caching.others,
  };
}

function policyAt({ policyOf }: ReleaseStatement, origin: Origin, path: string): PolicyName {
  return policyOf[origin][keysPages[path] ?? path] ?? (origin === 'app' ? 'page' : 'room');
}

/** Returns whether an answer has the policy of a document. */
export function isOfDocument(release: ReleaseStatement, origin: Origin, path: string): boolean {
  return documentPolicies.includes(policyAt(release, origin, path));
}

/** Returns the headers that a release has under a policy, whatever the path. */
function headersUnder(
  release: ReleaseStatement,
  origin: Origin,
  name: PolicyName,
  origins: Origins,
): Record<string, string> {
  return {
    ...withOrigins(release.headers[origin], origins),
    ...(documentPolicies.includes(name) ? release.documents : {}),
    'content-security-policy': filled(release.policies[name], origins),
  };
}

/**
 * Returns the script that gives a service worker the addresses of this relay and the headers of the files that it keeps. The
 * relay makes it, so it is compared by its meaning and in this one form.
 * @param operator what the app's page is answered by its service worker; the keys are told nothing of it
 */
export function workerSettings(
  release: ReleaseStatement,
  origins: Origins,
  operator?: object,
): Record<string, unknown> {
  const kept = (origin: Origin, name: PolicyName) => headersUnder(release, origin, name, origins);
  return {
    keysOrigin: origins.keys,
    headers: {
      app: { page: kept('app', 'page') },
      keys: { page: kept('keys', 'room'), worker: kept('keys', 'workers.crypto') },
    },
    ...(operator === undefined ? {} : { operator }),
  };
}

const scriptStart = 'self.operatorSettings = ';
const scriptEnd = ';\n';

/** Returns `/operator.js` as a relay writes it. */
export function operatorScript(settings: Record<string, unknown>): string {
  return `${scriptStart}${JSON.stringify(settings)}${scriptEnd}`;
}

/** Returns the settings in an `/operator.js`; null unless it is that one assignment, written as `JSON.stringify` does. */
export function settingsIn(script: string): unknown {
  if (!script.startsWith(scriptStart) || !script.endsWith(scriptEnd)) return null;
  const text = script.slice(scriptStart.length, -scriptEnd.length);
  try {
    const settings: unknown = JSON.parse(text);
    // A script may mean something else than its JSON: by `__proto__`, and in another spelling, as of a name twice.
    return JSON.stringify(settings) === text && !text.includes('"__proto__"') ? settings : null;
  } catch {
    return null;
  }
}

function withOrigins(headers: Readonly<Record<string, string>>, origins: Origins): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, filled(value, origins)]));
}

/** Puts the addresses of a relay into a text of a release. */
export function filled(text: string, { app, connect = [], keys }: Origins): string {
  const beside = connect.map((origin) => ` ${origin}`).join('');
  return text.replaceAll('{app}', app).replaceAll('{keys}', keys).replaceAll(' {connect}', beside);
}

/** Returns the origins that an operator's settings have the page connect to, beside its own; null for an address of its own. */
export function connectOf(addresses: {
  readonly apiHost: string | null;
  readonly mqttUrl: string | null;
}): string[] {
  return [addresses.apiHost, addresses.mqttUrl]
    .filter((address) => address !== null)
    .map((address) => `${new URL(address).protocol}//${new URL(address).host}`);
}
