import { textOf } from '../../net/base64url.ts';
import type { CheckedFile, FilesCheck, StatedRelease } from '../../store/proof.ts';

/** The address at which a relay states the release that it serves (docs/RELEASES.md). */
export const releasePath = '/.well-known/sinetti/release.json';

const filePath = /^(?:\/\w[\w.-]*)+$/;
const hashText = /^[\w-]{43}$/;
const versionText = /^\d+\.\d+\.\d+(?:-[\w.]+)?$/;

/** The part of a release that is needed here; `sinetti verify` reads all of it, and the chain that it is of. */
interface Release {
  readonly version: string;
  readonly seq: number;
  /** The hashes of files by their path. */
  readonly app: ReadonlyMap<string, string>;
  readonly keys: ReadonlyMap<string, string>;
}

/** Null for what is no release. The schemas of the client would bring their library's rarer parts to who never comes here. */
function parseRelease(value: unknown): Release | null {
  const { files, seq, type, version } = fieldsOf(value);
  const [app, keys] = [hashesOf(fieldsOf(files)['app']), hashesOf(fieldsOf(files)['keys'])];
  const isPosition = typeof seq === 'number' && Number.isSafeInteger(seq) && seq > 0;
  if (type !== 'sinetti-release' || typeof version !== 'string' || !isPosition) return null;
  return versionText.test(version) && app !== null && keys !== null ? { version, seq, app, keys } : null;
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

function hashesOf(value: unknown): Map<string, string> | null {
  const hashes = new Map<string, string>();
  for (const [path, hash] of Object.entries(fieldsOf(value))) {
    if (!filePath.test(path) || typeof hash !== 'string' || !hashText.test(hash)) return null;
    hashes.set(path, hash);
  }
  return hashes.size === 0 ? null : hashes;
}

export interface FilesDeps {
  readonly fetch: typeof globalThis.fetch;
  readonly origin: string;
  /** Addresses of what this page has loaded. */
  readonly loaded: () => readonly string[];
}

/** The browser, with its notes of this page's loading. */
export const browserFiles: FilesDeps = {
  fetch: (input, init) => fetch(input, init),
  origin: window.location.origin,
  loaded: () => performance.getEntriesByType('resource').map(({ name }) => name),
};

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

const told = ({ keys, seq, version }: Release): StatedRelease => ({ version, seq, keysFiles: keys.size });

/** Answers of the API, and what the operator sets at run time, are no files of a release. */
function fileOf(url: string, origin: string): string[] {
  const { origin: from, pathname } = new URL(url, origin);
  const isFile = from === origin && /\.\w+$/.test(pathname) && !/^\/(?:api|\.well-known)\//.test(pathname);
  return isFile && !['/operator.json', '/manifest.webmanifest'].includes(pathname) ? [pathname] : [];
}

async function readRelease(fetch: FilesDeps['fetch']): Promise<Release | 'none' | 'unreadable'> {
  try {
    const answer = await fetch(releasePath, { cache: 'no-store', credentials: 'omit' });
    if (answer.status === 404) return 'none';
    return parseRelease(await answer.json()) ?? 'unreadable';
  } catch {
    return 'unreadable';
  }
}

async function hashOf(file: string, fetch: FilesDeps['fetch']): Promise<string | null> {
  try {
    // The one in use, where the browser still has it: not what the relay would give somebody who asks anew.
    const answer = await fetch(file, { cache: 'force-cache', credentials: 'omit' });
    if (!answer.ok) return null;
    return await textOf(new Uint8Array(await crypto.subtle.digest('SHA-256', await answer.arrayBuffer())));
  } catch {
    return null;
  }
}

function resultOf(
  file: string,
  found: string | null,
  release: Release | 'none' | 'unreadable',
): CheckedFile['result'] {
  if (found === null) return 'unreadable';
  if (typeof release === 'string') return 'unknown';
  const stated = release.app.get(file);
  if (stated === undefined) return 'not-in-release';
  return stated === found ? 'same' : 'different';
}
