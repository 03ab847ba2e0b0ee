import { sha256 } from '../../../verify/src/chain/canonical.ts';
import { releasesPath } from '../../../verify/src/chain/reading.ts';
import { parseStatement, type ReleaseStatement } from '../../../verify/src/chain/statement.ts';
import type { CheckedFile, FilesCheck, StatedRelease } from '../../store/proof.ts';

export interface FilesDeps {
  readonly fetch: typeof globalThis.fetch;
  readonly origin: string;
  /** Addresses of what this page has loaded. */
  readonly loaded: () => readonly string[];
}

/** The browser, with its notes of this page's loading. */
export const filesOfPage = (): FilesDeps => ({
  fetch: (input, init) => fetch(input, init),
  origin: window.location.origin,
  loaded: () => performance.getEntriesByType('resource').map(({ name }) => name),
});

/**
 * Hashes every file of the client that this page has loaded, as the browser gives it now, and compares it with the release that the
 * relay states. The page's own word about itself: it proves little, and the screen says so.
 */
export async function checkFiles({ fetch, loaded, origin }: FilesDeps): Promise<FilesCheck> {
  const paths = new Set([
    '/index.html',
    '/service-worker.js',
    ...loaded().flatMap((url) => fileOf(url, origin)),
  ]);
  const release = await readRelease(fetch);
  const files = await Promise.all(
    [...paths].toSorted().map(async (file): Promise<CheckedFile> => {
      const found = await hashOf(file, fetch);
      return { path: file, hash: found, result: resultOf(file, found, release) };
    }),
  );
  return { release: typeof release === 'string' ? release : told(release), files };
}

const told = ({ files, seq, version }: ReleaseStatement): StatedRelease => ({
  version,
  seq,
  keysFiles: Object.keys(files.keys).length,
});

/** Answers of the API, and what the operator sets at run time, are no files of a release. */
function fileOf(url: string, origin: string): string[] {
  const { origin: from, pathname } = new URL(url, origin);
  const isFile = from === origin && /\.\w+$/.test(pathname) && !/^\/(?:api|\.well-known)\//.test(pathname);
  return isFile && !['/operator.json', '/manifest.webmanifest'].includes(pathname) ? [pathname] : [];
}

async function readRelease(fetch: FilesDeps['fetch']): Promise<ReleaseStatement | 'none' | 'unreadable'> {
  try {
    const answer = await fetch(`${releasesPath}/release.json`, { cache: 'no-store', credentials: 'omit' });
    if (answer.status === 404) return 'none';
    const statement = parseStatement(new Uint8Array(await answer.arrayBuffer()));
    return statement.type === 'sinetti-release' ? statement : 'unreadable';
  } catch {
    return 'unreadable';
  }
}

async function hashOf(file: string, fetch: FilesDeps['fetch']): Promise<string | null> {
  try {
    // The one in use, where the browser still has it: not what the relay would give somebody who asks anew.
    const answer = await fetch(file, { cache: 'force-cache', credentials: 'omit' });
    if (!answer.ok) return null;
    return await sha256(new Uint8Array(await answer.arrayBuffer()));
  } catch {
    return null;
  }
}

function resultOf(
  file: string,
  found: string | null,
  release: ReleaseStatement | 'none' | 'unreadable',
): CheckedFile['result'] {
  if (found === null) return 'unreadable';
  if (typeof release === 'string') return 'unknown';
  const stated = release.files.app[file];
  if (stated === undefined) return 'not-in-release';
  return stated === found ? 'same' : 'different';
}
