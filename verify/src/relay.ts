import { sha256 } from './canonical.ts';
import { type Chain, type Place, type SignedStep, verifyChain } from './chain.ts';
import { Failure } from './errors.ts';
import type { Origins } from './expected.ts';
import type { Fetcher } from './fetching.ts';
import { rememberPlace, seenPlace } from './seen.ts';
import { parseStatement, type ReleaseStatement } from './statement.ts';

/** The folder of the app's origin in which a relay serves the releases. */
export const releasesPath = '/.well-known/sinetti';

/** The most steps that a chain is followed for: a relay that never ends it gains nothing. */
const mostSteps = 10_000;

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

/** Reads a file of the folder of releases; null for one that isn't there. */
export type ReleasesReader = (name: string) => Promise<Uint8Array | null>;

/** Reads the releases that a relay serves. */
export function servedReleases(app: string, fetcher: Fetcher): ReleasesReader {
  return async (name) => {
    const url = `${app}${releasesPath}/${name}`;
    const answer = await fetcher.get(url);
    if (answer.status === 404) return null;
    if (answer.status !== 200) throw new Failure('unreachable', `${url} answers ${answer.status}.`);
    return answer.content;
  };
}

/**
 * Reads the chain of releases and verifies it.
 * @param root the SHA-256 of its first step
 * @param seen where its end was before, for this reader
 * @throws Failure `unsigned` where there is none; otherwise as `verifyChain`
 */
export async function chainOf(read: ReleasesReader, root: string, seen: Place | null): Promise<Chain> {
  const newest = await read('release.json');
  if (newest === null) throw new Failure('unsigned', 'There is no signed release here.');
  const last = parseStatement(newest).seq;
  const steps: SignedStep[] = [];
  const holders = new Set<string>();
  for (let seq = 1; ; seq += 1) {
    const name = `chain/${seq}.json`;
    const bytes = await read(name);
    // Keys may have been replaced after the newest release.
    if (bytes === null && seq > last) break;
    if (bytes === null || seq > mostSteps) throw new Failure('chain', `Step ${seq} of the chain is missing.`);
    const statement = parseStatement(bytes);
    if (statement.type === 'sinetti-release-keys') {
      for (const holder of Object.keys(statement.keys)) holders.add(holder);
    }
    steps.push({ bytes, signatures: await signaturesOf(read, name, holders) });
  }
  const chain = verifyChain(steps, root, seen);
  if (chain.release === null || chain.release.hash !== sha256(newest)) {
    throw new Failure('chain', 'The release that is served is not the newest one of the chain.');
  }
  return chain;
}

async function signaturesOf(
  read: ReleasesReader,
  statement: string,
  holders: ReadonlySet<string>,
): Promise<Record<string, string>> {
  const signatures: Record<string, string> = {};
  for (const holder of holders) {
    const armored = await read(`${statement}.${holder}.sig`);
    if (armored !== null) signatures[holder] = Buffer.from(armored).toString('latin1');
  }
  return signatures;
}

/** Which relay is asked, and what its reader knows beforehand. */
export interface Asked {
  readonly target: string;
  readonly root: string;
  readonly stateFolder: string;
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
