import { isDeepStrictEqual } from 'node:util';
import { sha256 } from './canonical.ts';
import {
  contentTypeOf,
  headersAt,
  keysPages,
  type Origins,
  operatorSettings,
  settingsIn,
} from './expected.ts';
import type { Answer, Destination, Fetcher } from './fetching.ts';
import { origins as bothOrigins, type Origin, type ReleaseStatement } from './statement.ts';

/** One row of the table: a file of an origin, and each way in which it is not the release's. */
export interface Row {
  readonly origin: Origin;
  readonly path: string;
  /** Empty where file and headers are the release's. */
  readonly differences: readonly string[];
}

/** The files of a client as they were fetched, which are those of the release where no row has a difference. */
export interface Comparison {
  readonly rows: readonly Row[];
  readonly files: ReadonlyMap<string, Uint8Array>;
}

/** Under which {@link Comparison.files} has a file. */
export const fileKey = (origin: Origin, path: string): string => `${origin}:${path}`;

/** Headers that say how an answer came, and not what may be done with it. */
const ordinary = new Set(
  'accept-ranges age alt-svc connection content-encoding content-length content-type date etag keep-alive last-modified server strict-transport-security transfer-encoding vary via'.split(
    ' ',
  ),
);
/** Addresses of the app that are no files: each answers with the one page. */
const routes = ['/', '/login', '/dashboard'];

/** Fetches all of a client and compares it with a release, files and headers. */
export async function compareRelay(
  release: ReleaseStatement,
  origins: Origins,
  fetcher: Fetcher,
): Promise<Comparison> {
  const files = new Map<string, Uint8Array>();
  const due = [
    ...bothOrigins.flatMap((origin) =>
      Object.entries(release.files[origin]).map(([path, hash]) => ({ origin, path, hash })),
    ),
    ...routes.map((path) => ({ origin: 'app' as const, path, hash: release.files.app['/index.html'] ?? '' })),
    ...Object.entries(keysPages).map(([path, file]) => ({
      origin: 'keys' as const,
      path,
      hash: release.files.keys[file] ?? '',
    })),
  ];
  const rows = await Promise.all(
    due.map(async ({ origin, path, hash }): Promise<Row> => {
      const url = `${origins[origin]}${path}`;
      const destination = destinationOf(origin, path);
      const encoded = await fetcher.get(url, destination);
      // A relay keeps a compressed copy beside each file, and browsers get that one.
      const plain = await fetcher.get(url, destination, 'identity');
      const expected = headersAt(release, origin, path, origins);
      files.set(fileKey(origin, path), encoded.content);
      const differences = new Set(
        [encoded, plain].flatMap((answer) => [
          ...differencesOf(answer, hash),
          ...differencesOfHeaders(answer, expected, path),
        ]),
      );
      return { origin, path, differences: [...differences] };
    }),
  );
  const scripts = await Promise.all(
    bothOrigins.map((origin) => compareOperatorScript(release, origins, origin, fetcher)),
  );
  return { rows: [...rows, ...scripts], files };
}

async function compareOperatorScript(
  release: ReleaseStatement,
  origins: Origins,
  origin: Origin,
  fetcher: Fetcher,
): Promise<Row> {
  const path = '/operator.js';
  const answer = await fetcher.get(`${origins[origin]}${path}`, 'script');
  if (answer.status !== 200) return { origin, path, differences: [`it answers ${answer.status}`] };
  const settings = settingsIn(Buffer.from(answer.content).toString('utf8'));
  const isExpected = isDeepStrictEqual(settings, operatorSettings(release, origins));
  const differences = [
    ...(isExpected ? [] : ['it gives the service worker other headers or addresses']),
    ...differencesOfHeaders(answer, headersAt(release, origin, path, origins), path),
  ];
  return { origin, path, differences };
}

function differencesOf({ content, status }: Answer, hash: string): string[] {
  if (status === 404) return ['it is missing'];
  if (status !== 200) return [`it answers ${status}`];
  return sha256(content) === hash ? [] : ['its content is another one'];
}

/** A release knows each header that a browser obeys: one that it doesn't have is a difference, too. */
function differencesOfHeaders(
  { headers, status }: Answer,
  expected: Readonly<Record<string, string>>,
  path: string,
): string[] {
  if (status !== 200) return [];
  const { vary = '', ...others } = expected;
  const wrong = Object.entries(others)
    .filter(([name, value]) => headers[name] !== value)
    .map(([name, value]) => `${name} is ${describe(headers[name], value)}`);
  const varies = (headers.vary ?? '').toLowerCase().split(/, */);
  if (vary !== '' && !varies.includes(vary.toLowerCase())) wrong.push(`vary is without ${vary}`);
  const added = Object.keys(headers).filter((name) => !ordinary.has(name) && !Object.hasOwn(expected, name));
  const type = mediaType(headers['content-type'] ?? '');
  const isPage = path in keysPages || routes.includes(path);
  const isTyped = type === mediaType(contentTypeOf(isPage ? '/index.html' : path));
  return [
    ...wrong,
    ...added.map((name) => `${name} is sent, which the release has not`),
    ...(isTyped ? [] : [`content-type is ${type}`]),
  ];
}

/** Names the directives of a policy that differ, or the value of any other header. */
function describe(found: string | undefined, expected: string): string {
  if (found === undefined) return 'not sent';
  if (!expected.includes('; ')) return found;
  const wanted = expected.split('; ');
  const sent = found.split(/; ?/);
  const without = wanted.filter((directive) => !sent.includes(directive));
  const beside = sent.filter((directive) => !wanted.includes(directive));
  return [...without.map((each) => `without "${each}"`), ...beside.map((each) => `with "${each}"`)].join(
    ', ',
  );
}

/** A media type in one spelling, where the two names of JavaScript are one, and UTF-8 is what a type without a charset has. */
function mediaType(contentType: string): string {
  return contentType
    .toLowerCase()
    .replaceAll(' ', '')
    .replace(/;charset="?utf-8"?$/, '')
    .replace(/^application\/javascript$/, 'text/javascript');
}

function destinationOf(origin: Origin, path: string): Destination {
  if (path === '/service-worker.js') return 'serviceworker';
  if (origin === 'keys' && (path in keysPages || path.endsWith('.html'))) return 'iframe';
  if (routes.includes(path) || path.endsWith('.html')) return 'document';
  if (origin === 'keys' && path.endsWith('.js')) return 'worker';
  return path.endsWith('.js') ? 'script' : path.endsWith('.css') ? 'style' : 'empty';
}
