import { type BrowserContext, expect, type Locator, type Page, type Route } from '@playwright/test';
import type { Person } from './person.ts';

/** The answer that a call meets instead of the relay's: a status, with or without the relay's words, or none at all. */
export type Failure =
  | number
  | { readonly status: number; readonly code: string; readonly detail: string }
  | 'no answer';

/**
 * Lets some calls of a browser fail, until the function that is returned is called.
 * @param path without `/api`
 */
export async function failCalls(
  context: BrowserContext,
  method: string,
  path: RegExp,
  failure: Failure,
): Promise<() => Promise<void>> {
  const isMeant = ({ pathname }: URL) => pathname.startsWith('/api/') && path.test(pathname.slice(4));
  const answer = async (route: Route) => {
    if (route.request().method() !== method) return route.fallback();
    if (failure === 'no answer') return route.abort('connectionfailed');
    if (typeof failure === 'number') return route.fulfill({ status: failure, body: '' });
    const { code, detail, status } = failure;
    return route.fulfill({ status, json: { code, detail } });
  };
  await context.route(isMeant, answer);
  return () => context.unroute(isMeant, answer);
}

/** While something is done, those calls fail: see {@link failCalls}. */
export async function whileFailing(
  context: BrowserContext,
  method: string,
  path: RegExp,
  failure: Failure,
  act: () => Promise<void>,
): Promise<void> {
  const mend = await failCalls(context, method, path, failure);
  await act();
  await mend();
}

export function alertOn(page: Page, text: string): Locator {
  return page.getByRole('alert').filter({ hasText: text });
}

/** Reads a toast and takes away all there are, from what they may stand above. */
export async function reads(person: Person, text: string): Promise<void> {
  await expect(person.toast(text)).toBeVisible();
  await person.page
    .getByRole('region', { name: 'Notifications' })
    .getByRole('button', { name: 'Dismiss', includeHidden: true })
    .evaluateAll((buttons) => {
      for (const button of buttons) button.dispatchEvent(new MouseEvent('click', { bubbles: true }));
    });
}

/** From now on: whether a text has stood on the page, however briefly. */
export async function watchFor(page: Page, text: string): Promise<() => Promise<boolean>> {
  const watch = await page.evaluateHandle((wanted) => {
    const seen = { it: false };
    const look = () => {
      seen.it ||= document.body.textContent.includes(wanted);
    };
    new MutationObserver(look).observe(document.body, {
      childList: true,
      subtree: true,
      characterData: true,
    });
    return seen;
  }, text);
  return () => watch.evaluate((seen) => seen.it);
}

/** Records where the calls of a page have gone, without `/api`. */
export function callsOf(page: Page): string[] {
  const calls: string[] = [];
  page.on('request', (request) => {
    const { pathname } = new URL(request.url());
    if (pathname.startsWith('/api/')) calls.push(`${request.method()} ${pathname.slice(4)}`);
  });
  return calls;
}

/** Records what a page's sockets of this path have sent, as far as it is text. */
export function sentOver(page: Page, path: string): () => string {
  const sent: string[] = [];
  page.on('websocket', (socket) => {
    if (new URL(socket.url()).pathname !== path) return;
    socket.on('framesent', ({ payload }) => sent.push(payload.toString('latin1')));
  });
  return () => sent.join('\n');
}

/** Records what a page has logged. */
export function logOf(page: Page): () => string {
  const lines: string[] = [];
  page.on('console', (message) => lines.push(message.text()));
  return () => lines.join('\n');
}

/** The session token, where the specification has it. */
export function tokenIn(page: Page) {
  return {
    read: () => page.evaluate(() => localStorage.getItem('token')),
    remove: () => page.evaluate(() => localStorage.removeItem('token')),
    store: (token: string) => page.evaluate((given) => localStorage.setItem('token', given), token),
  };
}
