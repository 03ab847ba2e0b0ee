import { rm } from 'node:fs/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { startTestRelay, type TestRelay, temporaryFolder } from '../../relay/test/helpers.ts';
import { relayTroubleAtom } from '../../src/store/connection.ts';
import { Browser, befriend, type Tab, until, untilConnected } from './support/browser.ts';
import { dyingAfter } from './support/dying.ts';
import { textsOf, untilSent } from './support/people.ts';

let dataDir: string;
let relay: TestRelay;
let annasBrowser: Browser;
let bertsBrowser: Browser;
let anna: Tab;
let bert: Tab;

beforeEach(async () => {
  dataDir = await temporaryFolder();
  relay = await startTestRelay({ dataDir });
  annasBrowser = new Browser(relay);
  bertsBrowser = new Browser(relay);
  anna = await annasBrowser.openTab().signUp('anna');
  bert = await bertsBrowser.openTab().signUp('bert');
  await untilConnected(anna, bert);
  await befriend(anna, bert);
  await anna.actions.openChat(bert.userId);
  await bert.actions.openChat(anna.userId);
  await anna.actions.sendMessage(bert.userId, 'first');
  await until(() => bert.lines(anna.userId), ['received: first']);
});

afterEach(async () => {
  annasBrowser.close();
  bertsBrowser.close();
  await relay.close();
  await rm(dataDir, { recursive: true });
});

/** The same relay again: the same folder and the same port. */
async function restartRelay(): Promise<void> {
  const { port } = new URL(relay.url);
  relay = await startTestRelay({ dataDir, environment: { PORT: port } });
}

it('a message that no relay took is kept, and sent once when it is retried', async () => {
  const bertId = bert.userId;
  await relay.close();
  await until(() => anna.isConnected, false);
  await anna.actions.sendMessage(bertId, 'into the void');
  await until(() => anna.lines(bertId), ['sent: first', 'failed: into the void']);
  expect(anna.toastTexts).toEqual(['Network error. Please check your internet connection and try again.']);

  await restartRelay();
  await untilConnected(anna, bert);
  // A reload loses nothing of it.
  anna.kill();
  anna = annasBrowser.openTab();
  await anna.resume();
  await anna.actions.openChat(bertId);
  expect(anna.lines(bertId)).toEqual(['sent: first', 'failed: into the void']);

  const failed = anna.chat(bertId).messages.at(-1);
  await anna.actions.retryMessage(bertId, failed?.messageId ?? '');
  await until(() => anna.lines(bertId), ['sent: first', 'sent: into the void']);
  await until(() => bert.lines(anna.userId), ['received: first', 'received: into the void']);
  expect(bert.chat(anna.userId).messages.at(-1)?.messageId).toBe(failed?.messageId);

  await bert.actions.sendMessage(anna.userId, 'after the restart');
  await until(() => anna.lines(bertId).at(-1), 'received: after the restart');
});

it('the page says that the relay does not answer until it does', async () => {
  const trouble = () => anna.store.get(relayTroubleAtom);
  expect(trouble()).toBeNull();
  await relay.close();
  await until(trouble, 'silent');
  await restartRelay();
  await until(trouble, null);
  await untilConnected(anna, bert);
  await bert.actions.sendMessage(anna.userId, 'there again');
  await until(() => anna.lines(bert.userId).at(-1), 'received: there again');
  expect(anna.toastTexts).toEqual([]);
});

it('discards a failed message for good', async () => {
  const bertId = bert.userId;
  await relay.close();
  await until(() => anna.isConnected, false);
  await anna.actions.sendMessage(bertId, 'regretted');
  await until(() => anna.lines(bertId).at(-1), 'failed: regretted');
  await anna.actions.discardMessage(anna.chat(bertId).messages.at(-1)?.messageId ?? '');
  expect(anna.lines(bertId)).toEqual(['sent: first']);

  await restartRelay();
  anna.kill();
  anna = annasBrowser.openTab();
  await anna.resume();
  await anna.actions.openChat(bertId);
  await untilConnected(anna, bert);
  await anna.actions.sendMessage(bertId, 'meant');
  await until(() => bert.lines(anna.userId), ['received: first', 'received: meant']);
  await until(() => anna.lines(bertId), ['sent: first', 'sent: meant']);
});

it.each(['queueMessage', 'prepareMessage', 'messageAccepted'] as const)(
  'delivers a message once although its tab died after %s',
  async (method) => {
    const bertId = bert.userId;
    anna.kill();
    const { died, wrapCrypto } = dyingAfter(method);
    const dying = annasBrowser.openTab(wrapCrypto);
    await dying.resume();
    // A message that nothing waits before is prepared as it is written.
    const texts = method === 'prepareMessage' ? ['last words', 'and more'] : ['last words'];
    const sent = Promise.all(
      texts.map((text) => dying.actions.sendMessage(bertId, text).catch(() => undefined)),
    );
    await died;
    dying.kill();
    // The browser releases the locks of a tab that is gone.
    annasBrowser.locks.releaseAll();
    if (method !== 'queueMessage') await sent;

    anna = annasBrowser.openTab();
    await anna.resume();
    await anna.actions.openChat(bertId);
    const all = ['first', ...texts];
    await until(
      () => anna.lines(bertId),
      all.map((text) => `sent: ${text}`),
    );
    await until(
      () => bert.lines(anna.userId),
      all.map((text) => `received: ${text}`),
    );
    await bert.actions.sendMessage(anna.userId, 'heard');
    await until(() => anna.lines(bertId).at(-1), 'received: heard');
    expect(anna.toastTexts).toEqual([]);
  },
);

it('two tabs that both write show the same conversation', async () => {
  const [annaId, bertId] = [anna.userId, bert.userId];
  const second = annasBrowser.openTab();
  await second.resume();
  await untilConnected(second);
  await second.actions.openChat(bertId);

  const numbers = Array.from({ length: 5 }, (_, index) => index);
  await Promise.all(
    numbers.flatMap((number) => [
      anna.actions.sendMessage(bertId, `one-${number}`),
      second.actions.sendMessage(bertId, `two-${number}`),
      bert.actions.sendMessage(annaId, `bert-${number}`),
    ]),
  );
  const all = ['first', ...numbers.flatMap((number) => [`one-${number}`, `two-${number}`, `bert-${number}`])];
  for (const tab of [anna, second]) await until(() => textsOf(tab, bertId).toSorted(), all.toSorted());
  await until(() => textsOf(bert, annaId).toSorted(), all.toSorted());
  await untilSent(bertId, anna, second);
  await untilSent(annaId, bert);
  // In one order, which is the log's.
  expect(textsOf(second, bertId)).toEqual(textsOf(anna, bertId));
  expect(textsOf(bert, annaId)).toEqual(textsOf(anna, bertId));
});

it('signs the other tabs out with the first', async () => {
  const second = annasBrowser.openTab();
  await second.resume();
  await anna.actions.logOut();
  expect(second.onTokenChanged()).toBe('signed-out');
  await expect(second.actions.openChat(bert.userId)).rejects.toMatchObject({ code: 'unauthenticated' });
});
