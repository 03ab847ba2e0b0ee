import { sha256 } from '../../../verify/src/chain/canonical.ts';
import { notedAnswers } from '../../lib/notedAnswers.ts';
import type { CheckedFile, FilesCheck } from '../../store/proof.ts';
import { compared, type ReadFile, releaseInUse } from './releaseInUse.ts';

export interface FilesDeps {
  readonly fetch: typeof globalThis.fetch;
  readonly origin: string;
  /** Addresses of what this page has loaded, as far as the browser has noted them. */
  readonly loaded: () => readonly string[];
  /**
   * Asks the service worker that answers this page for the release that it holds on to: a statement in canonical JSON, or null. Null where
   * the relay answers this page itself.
   */
  readonly worker: (() => Promise<string | null>) | null;
}

const page = '/index.html';
const workerScript = '/service-worker.js';

/**
 * Hashes every file of the client that this page has loaded, as the browser gives it now, and compares it with the release in use, which
 * need not be the one that the relay states now. The page's own word about itself: it proves little, and the screen says so.
 */
export async function checkFiles(deps: FilesDeps): Promise<FilesCheck> {
  const { fetch, origin, worker } = deps;
  const addresses = deps.loaded();
  const isKept = worker !== null;
  const paths = new Set([page, workerScript, ...addresses.flatMap((url) => fileOf(url, origin))]);
  const read = await Promise.all(
    [...paths].toSorted().map(async (path): Promise<ReadFile> => {
      // No page can read the script of the service worker in use.
      const isAnew = path === workerScript || (path === page && !isKept);
      return { path, isAnew, hash: await hashOf(path, isAnew, fetch) };
    }),
  );
  const { inUse, isHeld, relation, stated } = await releaseInUse(fetch, worker, read);
  return {
    release: inUse && {
      version: inUse.version,
      seq: inUse.seq,
      keysFiles: Object.keys(inUse.files.keys).length,
      isHeld,
    },
    stated: relation,
    isKept,
    isCut: addresses.length >= notedAnswers,
    files: read.map((file): CheckedFile => {
      const { hash, path } = file;
      return { path, hash, result: compared(file, inUse, stated) };
    }),
  };
}

/** Answers of the API, and what the operator sets at run time, are no files of a release. */
function fileOf(url: string, origin: string): string[] {
  const { origin: from, pathname } = new URL(url, origin);
  const isFile = from === origin && /\.\w+$/.test(pathname) && !/^\/(?:api|\.well-known)\//.test(pathname);
  return isFile && !['/operator.json', '/manifest.webmanifest'].includes(pathname) ? [pathname] : [];
}

async function hashOf(path: string, isAnew: boolean, fetch: FilesDeps['fetch']): Promise<string | null> {
  try {
    // The one in use, where the browser still has it: not what the relay would give somebody who asks anew.
    const cache = isAnew ? 'no-store' : 'force-cache';
    const answer = await fetch(path, { cache, credentials: 'omit' });
    if (!answer.ok) return null;
    return await sha256(new Uint8Array(await answer.arrayBuffer()));
  } catch {
    return null;
  }
}
