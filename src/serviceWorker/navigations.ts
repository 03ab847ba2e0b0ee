import { nudgePath } from './messages.ts';

/** The relay answers these by itself, also to a navigation. */
const relayPath = /^\/(?:api|healthz|readyz|metrics|mqtt|ws)(?:\/|$)/;
/** The address of the frame of the keys, at either origin. */
export const keysPath = '/keys';
/** The address of the page that asks for persistent storage, likewise. */
export const storagePath = '/storage';

/** Returns whether a navigation to a path ends in the one page that every route of the client is. */
export function isPageOfApp(pathname: string): boolean {
  return !relayPath.test(pathname);
}

/**
 * Puts the address of the frame into the page of the app: by the redirect that answers {@link keysPath} the browser would
 * only then look for another process.
 */
export function withKeysOrigin(page: string, keysOrigin: string): string {
  return page.replace(`src="${keysPath}"`, () => `src="${keysOrigin}${keysPath}"`);
}

/**
 * Answers a navigation to what is the relay's alone. Where a release is held on to, no page of the relay's runs at this origin, beside
 * the app's storage: such an address, which anybody may send as a link, leads nowhere there. Neither does a form that any site may post
 * to one of the app's own addresses.
 * @param isOurs tells which paths are answered here; null is returned for GET requests to these, as for all that is no navigation
 */
export function answerForeignPage(
  request: Request,
  origin: string,
  isOurs: (pathname: string) => boolean,
  { fetch, isPinned }: { readonly fetch: typeof globalThis.fetch; readonly isPinned: () => Promise<boolean> },
): Promise<Response> | null {
  const asked = new URL(request.url);
  if (request.mode !== 'navigate' || asked.origin !== origin) return null;
  if (request.method === 'GET' && isOurs(asked.pathname)) return null;
  const notFound = () => new Response(null, { status: 404 });
  return isPinned()
    .then((isHeld) => (isHeld ? notFound() : fetch(request)))
    .catch(() => Response.error());
}

/** Answers a navigation that ends in no page of the app; null for all others. */
export function answerWithoutPage(
  { mode, url }: Pick<Request, 'mode' | 'url'>,
  origin: string,
  keysOrigin: string,
): Response | null {
  const asked = new URL(url);
  if (mode !== 'navigate' || asked.origin !== origin) return null;
  if (asked.pathname === nudgePath) return new Response(null, { status: 204 });
  // As the relay does it, for when the relay can't be reached.
  const { pathname } = asked;
  return pathname === keysPath || pathname === storagePath
    ? Response.redirect(`${keysOrigin}${pathname}`)
    : null;
}
