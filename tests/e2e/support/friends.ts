import type { BrowserContext } from '@playwright/test';
import { becomeContacts, type Person } from './person.ts';
import type { World } from './test.ts';

/** The switch of the tests: no MQTT connection of this browser gets through. */
export async function cutMqtt(context: BrowserContext): Promise<void> {
  await context.routeWebSocket(/\/mqtt$/, (socket) => socket.close());
}

/** One of two friends may have no MQTT, so that a story goes by both ways. */
interface Ways {
  /** Alice's browser has MQTT. */
  readonly withMqtt: boolean;
  /** Bob's browser has it, as it does by default. */
  readonly bobWithMqtt?: boolean;
}

/** Two contacts, each in a browser of their own. */
export async function twoFriends(
  newBrowser: World['newBrowser'],
  { bobWithMqtt = true, withMqtt }: Ways,
): Promise<{ alice: Person; aliceBrowser: BrowserContext; bob: Person }> {
  const { person: alice, context: aliceBrowser } = await newBrowser('alice');
  const { person: bob, context: bobsBrowser } = await newBrowser('bob');
  if (!withMqtt) await cutMqtt(aliceBrowser);
  if (!bobWithMqtt) await cutMqtt(bobsBrowser);
  await alice.signUp();
  await bob.signUp();
  await becomeContacts(alice, bob);
  return { alice, aliceBrowser, bob };
}

/** Two friends with each other's chat open, in which Alice has said something and Bob has read it. */
export async function twoWhoTalk(
  newBrowser: World['newBrowser'],
  options: Ways,
  said: string,
): ReturnType<typeof twoFriends> {
  const friends = await twoFriends(newBrowser, options);
  const { alice, bob } = friends;
  await alice.openChat(bob);
  await bob.openChat(alice);
  await alice.send(said);
  await bob.sees(said);
  return friends;
}
