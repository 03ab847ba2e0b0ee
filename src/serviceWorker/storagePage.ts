import { sha256 } from '../../verify/src/chain/canonical.ts';
import { contentTypeOf, headersAt, keysPages } from '../../verify/src/chain/expected.ts';
import { appOf } from './appOf.ts';
import { storagePath } from './navigations.ts';
import type { Release } from './pinRecord.ts';
import { readWhole } from './readWhole.ts';

interface StoragePageOptions {
  /** The origin of the keys. */
  readonly address: string;
  /** Resolves with the release that the person has agreed to last; null where none is held on to. */
  readonly agreed: () => Promise<Release | null>;
  readonly fetch: typeof globalThis.fetch;
}

const file = keysPages[storagePath] ?? '';
const refusal =
  'The page that the server has here is not that of the version that you agreed to, so it is not shown. Nothing of yours is lost.';

/**
 * Answers a navigation to the page that asks for persistent storage, which is not kept; null for all others. A script of the relay's own
 * there could read what this origin stores, and register a service worker for the frame of the keys.
 */
export function answerStoragePage(request: Request, options: StoragePageOptions): Promise<Response> | null {
  const asked = new URL(request.url);
  const isAsked = request.mode === 'navigate' && request.method === 'GET' && asked.origin === options.address;
  if (!isAsked || asked.pathname !== storagePath) return null;
  return pageOf(request, options).catch(() => Response.error());
}

async function pageOf(request: Request, { address, agreed, fetch }: StoragePageOptions): Promise<Response> {
  const release = await agreed();
  if (release === null) return fetch(request);
  const answer = await fetch(storagePath, { cache: 'no-cache', credentials: 'omit', redirect: 'error' });
  const content = await readWhole(answer, storagePath);
  if ((await sha256(content)) !== release.files.keys[file])
    return new Response(refusal, {
      status: 503,
      headers: { 'content-type': contentTypeOf('.txt'), 'cache-control': 'no-store' },
    });
  const headers = headersAt(release, 'keys', storagePath, { app: appOf(address), keys: address });
  return new Response(new Uint8Array(content), {
    headers: { ...headers, 'content-type': contentTypeOf(file) },
  });
}
