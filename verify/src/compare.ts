import { randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Destination } from './asChromium.ts';
import { sha256 } from './chain/canonical.ts';
import { Failure } from './chain/errors.ts';
import {
  commands,
  connectOf,
  contentTypeOf,
  keysPages,
  type Origins,
  settingsIn,
  workerSettings,
} from './chain/expected.ts';
import { releasesPath } from './chain/reading.ts';
import { origins as bothOrigins, type Origin, type ReleaseStatement } from './chain/statement.ts';
import type { Answer, Fetcher } from './fetching.ts';
import { headersOfRelay, waictManifest } from './manifests.ts';
import {
  manifestPath,
  type OperatorSettings,
  operatorPath,
  parseOperator,
  releasedManifest,
} from './operator.ts';

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
  /** The settings of the operator; null where that is nothing that a client reads. */
  readonly operator: OperatorSettings | null;
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
export const routes = [
  '/',
  '/login',
  '/signup',
  '/recover',
  '/dashboard',
  '/privacy-policy',
  '/terms',
  '/about',
  '/contact',
  '/prove',
];
/** Answers of a relay that belong to no release, of which the headers are looked at. */
const others: readonly string[] = [
  '/api/version',
  '/healthz',
  '/assets/none-00000000.js',
  `${releasesPath}/release.json`,
];

/** Fetches all of a client and compares it with a release, files and headers. */
export async function compareRelay(
  release: ReleaseStatement,
  origins: Origins,
  fetcher: Fetcher,
): Promise<Comparison> {
  const operator = await readOperator(origins, fetcher);
  const settings = operator.settings;
  const addresses: Origins = { ...origins, connect: settings === null ? [] : connectOf(settings) };
  const files = new Map<string, Uint8Array>();
  const page = release.files.app['/index.html'] ?? '';
  // Any address at all is a route of the client.
  const anywhere = `/${randomBytes(5).toString('hex')}`;
  const due = [
    ...bothOrigins.flatMap((origin) =>
      Object.entries(release.files[origin]).map(([path, hash]) => ({ origin, path, hash })),
    ),
    ...[...routes, anywhere].map((path) => ({ origin: 'app' as const, path, hash: page })),
    ...Object.entries(keysPages).map(([path, file]) => ({
      origin: 'keys' as const,
      path,
      hash: release.files.keys[file] ?? '',
    })),
    ...(await Promise.all(
      bothOrigins.map(async (origin) => {
        const { address, body } = waictManifest(release, origin);
        return { origin, path: address, hash: await sha256(body) };
      }),
    )),
  ];
  const compare = async (encoding?: string): Promise<Row[]> =>
    Promise.all(
      due.map(async ({ origin, path, hash }): Promise<Row> => {
        const isRoute = origin === 'app' && (routes.includes(path) || path === anywhere);
        const answer = await fetcher.get(
          `${origins[origin]}${path}`,
          isRoute ? 'document' : destinationOf(origin, path),
          encoding,
        );
        const isFilled = origin === 'app' && path === manifestPath && settings !== null;
        const content = isFilled ? releasedManifest(answer.content, settings) : answer.content;
        if (encoding === undefined) files.set(fileKey(origin, path), content);
        const expected = headersOfRelay(release, origin, path, addresses);
        const differences = [
          ...(await differencesOf({ ...answer, content }, hash)),
          ...differencesOfHeaders(answer, expected, isRoute || path in keysPages ? '/index.html' : path),
          ...commandsIn(answer, origins[origin]),
        ];
        return { origin, path: path === anywhere ? '/…' : path, differences };
      }),
    );
  // A relay keeps a compressed copy beside each file, and browsers get that one. They never ask for the plain one alone, so that is
  // asked for once the others are there.
  const asBrowser = await compare();
  const plain = await compare('identity');
  const rows = asBrowser.map((row, at): Row => {
    const differences = new Set([...row.differences, ...(plain[at]?.differences ?? [])]);
    return { ...row, differences: [...differences] };
  });
  const scripts = await Promise.all(
    bothOrigins.map((origin) => compareOperatorScript(release, addresses, origin, settings, fetcher)),
  );
  const redirects = await Promise.all(
    Object.keys(keysPages).map((path) => compareRedirect(release, addresses, path, fetcher)),
  );
  const beside = await Promise.all(others.map((path) => lookAt(origins.app, path, fetcher)));
  const told = {
    origin: 'app' as const,
    path: operatorPath,
    differences: [
      ...operator.differences,
      ...differencesOfHeaders(
        operator.answer,
        headersOfRelay(release, 'app', operatorPath, addresses),
        operatorPath,
      ),
      ...commandsIn(operator.answer, origins.app),
    ],
  };
  return { rows: [...rows, ...scripts, told, ...redirects, ...beside], files, operator: settings };
}

/** The settings of an operator at a relay, and how it is none of what a client reads. */
async function readOperator(
  { app }: Origins,
  fetcher: Fetcher,
): Promise<{
  readonly answer: Answer;
  readonly settings: OperatorSettings | null;
  readonly differences: readonly string[];
}> {
  const answer = await fetcher.get(`${app}${operatorPath}`, 'preload');
  if (answer.status !== 200) {
    return { answer, settings: null, differences: [`it answers ${answer.status}`] };
  }
  try {
    return { answer, settings: parseOperator(answer.content), differences: [] };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { answer, settings: null, differences: [error.message] };
  }
}

async function compareOperatorScript(
  release: ReleaseStatement,
  origins: Origins,
  origin: Origin,
  operator: OperatorSettings | null,
  fetcher: Fetcher,
): Promise<Row> {
  const path = '/operator.js';
  const answer = await fetcher.get(`${origins[origin]}${path}`, 'imported');
  if (answer.status !== 200) return { origin, path, differences: [`it answers ${answer.status}`] };
  const settings = settingsIn(Buffer.from(answer.content).toString('utf8'));
  const told = origin === 'app' && operator !== null ? operator : undefined;
  const isExpected = isDeepStrictEqual(settings, workerSettings(release, origins, told));
  const differences = [
    ...(isExpected ? [] : ['it gives the service worker other headers, addresses or settings']),
    ...differencesOfHeaders(answer, headersOfRelay(release, origin, path, origins), path),
    ...commandsIn(answer, origins[origin]),
  ];
  return { origin, path, differences };
}

/** Compares the way from the app to a page at the origin of the keys. */
async function compareRedirect(
  release: ReleaseStatement,
  origins: Origins,
  path: string,
  fetcher: Fetcher,
): Promise<Row> {
  const answer = await fetcher.get(`${origins.app}${path}`, path === '/keys' ? 'iframe' : 'document');
  const expected = { ...headersOfRelay(release, 'app', path, origins), 'cache-control': 'no-store' };
  const target = `${origins.keys}${path}`;
  const { location } = answer.headers;
  const differences = [
    ...(answer.status === 302 && location === target
      ? wrongHeaders(answer, { ...expected, location: target })
      : [`it doesn't lead to ${target}`]),
    ...commandsIn(answer, origins.app),
  ];
  return { origin: 'app', path, differences };
}

/** Looks at the headers of an answer that is of no release. */
async function lookAt(app: string, path: string, fetcher: Fetcher): Promise<Row> {
  const answer = await fetcher.get(`${app}${path}`, 'empty');
  const differences = commands
    .filter((name) => name in answer.headers)
    .map((name) => `${name} is sent, which the release has not`);
  return { origin: 'app', path, differences: [...differences, ...commandsIn(answer, app)] };
}

/** Says what a browser is told beside an answer: early hints, and other places from which to take the next answers. */
function commandsIn({ early, headers }: Answer, origin: string): string[] {
  const { port, protocol } = new URL(origin);
  const own = port === '' ? (protocol === 'https:' ? '443' : '80') : port;
  const services = headers['alt-svc'] ?? 'clear';
  // The same host and port by another protocol is as good as this one; another host or port is another server.
  const isOwn = services
    .split(',')
    .every((service) =>
      new RegExp(`^ *(?:clear|h[23](?:-\\d+)?=":${own}"(?:; *\\w+=\\d+)*) *$`).test(service),
    );
  return [
    ...early.map((hint) => `it is preceded by ${hint}`),
    ...(isOwn ? [] : [`alt-svc leads elsewhere: ${services}`]),
  ];
}

async function differencesOf({ content, status }: Answer, hash: string): Promise<string[]> {
  if (status === 404) return ['it is missing'];
  if (status !== 200) return [`it answers ${status}`];
  return (await sha256(content)) === hash ? [] : ['its content is another one'];
}

/** @param file whose type the answer has to be of */
function differencesOfHeaders(
  answer: Answer,
  expected: Readonly<Record<string, string>>,
  file: string,
): string[] {
  if (answer.status !== 200) return [];
  const type = mediaType(answer.headers['content-type'] ?? '');
  const isTyped = type === mediaType(contentTypeOf(file));
  return [...wrongHeaders(answer, expected), ...(isTyped ? [] : [`content-type is ${type}`])];
}

/** A release knows each header that a browser obeys: one that it doesn't have is a difference, too. */
function wrongHeaders({ headers }: Answer, expected: Readonly<Record<string, string>>): string[] {
  const { vary = '', ...others } = expected;
  const wrong = Object.entries(others)
    .filter(([name, value]) => headers[name] !== value)
    .map(([name, value]) => `${name} is ${describe(headers[name], value)}`);
  const varies = (headers.vary ?? '').toLowerCase().split(/, */);
  if (vary !== '' && !varies.includes(vary.toLowerCase())) wrong.push(`vary is without ${vary}`);
  const added = Object.keys(headers).filter((name) => !ordinary.has(name) && !Object.hasOwn(expected, name));
  return [...wrong, ...added.map((name) => `${name} is sent, which the release has not`)];
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

/** Returns how the client itself asks for a file. */
function destinationOf(origin: Origin, path: string): Destination {
  if (path === '/service-worker.js') return 'serviceworker';
  if (path.startsWith('/keys')) return 'keysFrame';
  if (path.startsWith('/storage') || path.endsWith('.html')) return 'document';
  if (origin === 'keys' && path.endsWith('.js')) return 'worker';
  return byEnding[path.slice(path.lastIndexOf('.') + 1)] ?? 'empty';
}

const byEnding: Readonly<Record<string, Destination>> = {
  js: 'script',
  css: 'style',
  woff2: 'font',
  png: 'image',
  svg: 'image',
  webp: 'image',
  webmanifest: 'manifest',
};
