import type { Origin, PolicyName, ReleaseStatement } from './statement.ts';

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

/** Returns the media type of a file by its ending. */
export function contentTypeOf(path: string): string {
  return contentTypes[path.slice(path.lastIndexOf('.') + 1)] ?? 'application/octet-stream';
}

/** Returns the headers, with policy and caching, that a release has at a path of an origin. */
export function headersAt(
  release: ReleaseStatement,
  origin: Origin,
  path: string,
  origins: Origins,
): Record<string, string> {
  const fallback: PolicyName = origin === 'app' ? 'page' : 'room';
  const name = release.policyOf[origin][keysPages[path] ?? path] ?? fallback;
  return {
    ...withOrigins(release.headers[origin], origins),
    'content-security-policy': filled(release.policies[name], origins),
    'cache-control': path.startsWith('/assets/') ? release.caching.assets : release.caching.others,
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
  const kept = (origin: Origin, name: PolicyName) => ({
    ...withOrigins(release.headers[origin], origins),
    'content-security-policy': filled(release.policies[name], origins),
  });
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
    // In another spelling a script may mean something else than its JSON: `__proto__`, or a name twice.
    return JSON.stringify(settings) === text ? settings : null;
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
