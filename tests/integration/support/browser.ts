import { expect, vi } from 'vitest';
import { contactsAtom, incomingRequestsAtom } from '#src/store/contacts.ts';
import { authErrorAtom, authStatusAtom, connectionBannerAtom, currentUserAtom } from '#src/store/session.ts';
import type { Browser, Tab } from '../../support/headlessBrowser.ts';

export { Browser, type BrowserOptions, Tab } from '../../support/headlessBrowser.ts';

/** Waits until an observation becomes true of the world. */
export async function until<T>(observe: () => T | Promise<T>, expected: T): Promise<void> {
  await vi.waitFor(async () => expect(await observe()).toEqual(expected), { timeout: 120_000, interval: 20 });
}

export async function untilConnected(...tabs: Tab[]): Promise<void> {
  for (const tab of tabs) await until(() => tab.isConnected, true);
}

/** Failures that a person or a developer was told of. */
export function troubles(...browsers: Browser[]): string[] {
  return browsers.flatMap(({ logLines, tabs }) => [...tabs.flatMap((tab) => tab.toastTexts), ...logLines]);
}

/** Two signed-in people become contacts, the way people do. */
export async function befriend(one: Tab, other: Tab): Promise<void> {
  const name = other.store.get(currentUserAtom)?.username ?? '';
  const [found] = await one.actions.searchUsers(name);
  await one.actions.sendContactRequest(found?.id ?? '');
  const requests = () => other.store.get(incomingRequestsAtom).items;
  await until(() => requests().length, 1);
  await other.actions.acceptContactRequest(requests()[0]?.id ?? '');
  const areContacts = () => [one, other].map((tab) => tab.store.get(contactsAtom).items.length > 0);
  await until(areContacts, [true, true]);
}

export function isSignedIn(tab: Tab): boolean {
  return tab.store.get(authStatusAtom) === 'success';
}

/**
 * Waits until a tab says that its session was ended from elsewhere. The first call that the relay refuses decides how:
 * the check of the session shows the banner, any other leads to the login page.
 */
export async function untilSessionEnded(tab: Tab): Promise<void> {
  await until(() => tab.store.get(connectionBannerAtom) || tab.store.get(authErrorAtom) !== null, true);
}
