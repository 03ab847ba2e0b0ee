import type { Chain } from './chain/chain.ts';
import { Failure } from './chain/errors.ts';
import type { Origins } from './chain/expected.ts';
import { chainOf, type ReleasesReader, releasesPath } from './chain/reading.ts';
import type { ReleaseStatement } from './chain/statement.ts';
import type { Fetcher } from './fetching.ts';
import { type OperatorSettings, operatorPath, parseOperator } from './operator.ts';
import { rememberPlace, seenPlace } from './seen.ts';

/**
 * Reads the address of a relay.
 * @returns the origin of its app
 * @throws Failure `usage`
 */
export function relayOrigin(text: string): string {
  const address = /^https?:\/\//.test(text) ? text : `https://${text}`;
  if (!URL.canParse(address)) throw new Failure('usage', `${text} is no address of a relay.`);
  const { origin, pathname, username } = new URL(address);
  if (pathname !== '/' || username !== '') {
    throw new Failure('usage', `A relay is named by its origin, such as ${origin}.`);
  }
  return origin;
}

/**
 * Asks a relay for the origin of its keys, to which it redirects the address of the frame.
 * @throws Failure `different` where that is not of the app, as the client itself would find
 */
export async function originsOf(app: string, fetcher: Fetcher): Promise<Origins> {
  const answer = await fetcher.get(`${app}/keys`, 'iframe');
  const { location = '' } = answer.headers;
  if (answer.status !== 302 || !URL.canParse(location)) {
    throw new Failure('different', `${app}/keys leads nowhere: this is no relay, or none with a client.`);
  }
  const keys = new URL(location);
  if (keys.href !== `${keys.origin}/keys` || !isKeysOriginOf(new URL(app), keys)) {
    throw new Failure('different', `${app}/keys leads to ${location}, which is not the app's own.`);
  }
  return { app, keys: keys.origin };
}

/** Returns whether keys are at `keys.` and the app's host, or on the port after it: no other address is taken by a client. */
function isKeysOriginOf(app: URL, keys: URL): boolean {
  const portOf = ({ port, protocol }: URL) =>
    port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port);
  if (app.protocol !== keys.protocol) return false;
  if (keys.hostname === app.hostname) return portOf(keys) === portOf(app) + 1;
  return keys.hostname === `keys.${app.hostname}` && portOf(keys) === portOf(app);
}

/** Reads the releases that a relay serves. */
export function servedReleases(app: string, fetcher: Fetcher): ReleasesReader {
  return async (name) => {
    const url = `${app}${releasesPath}/${name}`;
    const answer = await fetcher.get(url, 'empty');
    if (answer.status === 404) return null;
    if (answer.status !== 200) throw new Failure('unreachable', `${url} answers ${answer.status}.`);
    return answer.content;
  };
}

/** Which relay is asked, and what its reader knows beforehand. */
export interface Asked {
  readonly target: string;
  readonly root: string;
  readonly stateFolder: string;
}

/**
 * Reads what the operator of a relay says.
 * @throws Failure `different` for what no client reads, and for plain HTTP at a relay of HTTPS: no browser calls it from there, and
 *   this program in its place would send passwords' proofs and tokens for everybody on the way to read
 */
export async function operatorOf(app: string, fetcher: Fetcher): Promise<OperatorSettings> {
  const { content, status } = await fetcher.get(`${app}${operatorPath}`, 'preload');
  if (status !== 200) throw new Failure('different', `${operatorPath} answers ${status}.`);
  const settings = parseOperator(content);
  const isPlain = [settings.apiHost, settings.mqttUrl].some((address) => /^(?:http|ws):/.test(address ?? ''));
  if (isPlain && app.startsWith('https:'))
    throw new Failure('different', `${operatorPath} leads from HTTPS to plain HTTP.`);
  return settings;
}

/**
 * Verifies the chain that a relay serves, and remembers its end for the next time.
 * @throws Failure
 */
export async function releaseOf(
  { root, stateFolder, target }: Asked,
  fetcher: Fetcher,
): Promise<{ readonly chain: Chain; readonly origins: Origins; readonly release: ReleaseStatement }> {
  const app = relayOrigin(target);
  const origins = await originsOf(app, fetcher);
  const seen = await seenPlace(stateFolder, app, root);
  const chain = await chainOf(servedReleases(app, fetcher), root, seen);
  await rememberPlace(stateFolder, app, root, chain);
  return { chain, origins, release: newestRelease(chain) };
}

/** @throws Failure `unsigned` for a chain of keys alone */
export function newestRelease({ release }: Chain): ReleaseStatement {
  if (release === null) throw new Failure('unsigned', 'There is no release in the chain.');
  return release;
}

/** Returns what a reader is told of a release that is checked. */
export function describeRelease({ release, seq, keys }: Chain): string {
  if (release === null) return 'no release';
  const { source, version } = release;
  const holders = Object.keys(keys.keys).join(', ');
  return `release ${version} (step ${release.seq} of ${seq}), commit ${source.commit}, keys of ${holders}`;
}
