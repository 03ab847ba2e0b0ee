import { expect, it } from 'vitest';
import { type Clock, systemClock } from '../../src/lib/clock.ts';
import { bannerAtom } from '../../src/store/banners.ts';
import { chatsAtom } from '../../src/store/chats.ts';
import { devicesAtom } from '../../src/store/devices.ts';
import { draftsAtom } from '../../src/store/drafts.ts';
import { keysAwaitedAtom, keysRenewedAtom } from '../../src/store/keys.ts';
import { notificationsAtom } from '../../src/store/notifications.ts';
import { type BrowserOptions, type Tab, until, untilConnected } from './support/browser.ts';
import { annaAnd } from './support/people.ts';
import { newBrowser, relay, withRelay } from './support/world.ts';

withRelay();

const ownOf = ({ userId }: Tab) => `self:${userId}`;

async function idOf(tab: Tab): Promise<string> {
  return (await tab.crypto.openDevice()).deviceId;
}

async function devicesIn(tab: Tab): Promise<string[]> {
  const { members, status } = await tab.crypto.conversation(ownOf(tab));
  return status === 'joined' ? members.flatMap(({ deviceIds }) => deviceIds).sort() : [];
}

/** Waits until the group of the own devices is these, as each of them sees it. */
async function untilOwn(...tabs: Tab[]): Promise<void> {
  const ids = (await Promise.all(tabs.map(idOf))).sort();
  for (const tab of tabs) await until(() => devicesIn(tab), ids);
}

/** Collects the banners that a tab shows from now on. */
function bannersOf(tab: Tab): Set<string | null> {
  const shown = new Set<string | null>();
  tab.store.sub(bannerAtom, () => shown.add(tab.store.get(bannerAtom)));
  return shown;
}

/** Anna in as many browsers, whose devices are in one group. */
async function annaIn(browsers: number): Promise<Tab[]> {
  const tabs = [await newBrowser().openTab().signUp('anna')];
  for (let i = 1; i < browsers; i += 1) {
    tabs.push(await newBrowser().openTab().logIn('anna'));
    await untilConnected(...tabs);
    await untilOwn(...tabs);
  }
  return tabs;
}

it('removing a browser gives the others the new keys, without a banner or a password', async () => {
  const [anna, phone, tablet] = await annaIn(3);
  const asked = phone!.typist.asked.length;
  const shown = bannersOf(phone!);
  await until(() => anna!.store.get(devicesAtom)?.length, 3);
  await anna!.actions.revokeDevice(await idOf(tablet!));
  await until(() => phone!.crypto.vaultVersion(), 2);
  await untilOwn(anna!, phone!);
  await until(() => phone!.store.get(keysRenewedAtom), false);
  expect(shown).not.toContain('keys-renewed');
  expect(phone!.typist.asked).toHaveLength(asked);
});

it('a browser that was closed meanwhile gets them as it comes back', async () => {
  const anna = await newBrowser().openTab().signUp('anna');
  const phones = newBrowser();
  let phone = await phones.openTab().logIn('anna');
  await untilConnected(anna, phone);
  await untilOwn(anna, phone);
  phone.kill();
  await anna.setUpRecoveryKey();
  await until(async () => (await anna.crypto.outbox()).length, 0);
  phone = phones.openTab();
  const shown = bannersOf(phone);
  await phone.resume();
  await until(() => phone.crypto.vaultVersion(), 2);
  await until(() => phone.store.get(keysRenewedAtom), false);
  expect(shown).not.toContain('keys-renewed');
});

it('keys that could not be said before the tab was closed are said by the next one', async () => {
  let isCut = false;
  const annas = newBrowser({
    fetch: (input, init) => {
      const url = input instanceof Request ? input.url : String(input);
      return isCut && /self%3A|messages\/user/.test(url)
        ? Promise.reject(new TypeError('offline'))
        : fetch(input, init);
    },
  });
  const anna = await annas.openTab().signUp('anna');
  const phone = await newBrowser().openTab().logIn('anna');
  await untilConnected(anna, phone);
  await untilOwn(anna, phone);
  isCut = true;
  anna.cutMqtt();
  await anna.setUpRecoveryKey();
  await until(() => phone.store.get(keysRenewedAtom), true);
  expect(phone.store.get(keysAwaitedAtom)).toBe(true);
  expect(await phone.crypto.vaultVersion()).toBe(1);
  anna.kill();
  isCut = false;
  const reopened = annas.openTab();
  reopened.restoreMqtt();
  await reopened.resume();
  await until(() => phone.crypto.vaultVersion(), 2);
  await until(() => phone.store.get(keysRenewedAtom), false);
});

it('nothing of the keys is seen: no message, no notification, no copy, nothing unread', async () => {
  const [anna] = await annaAnd(() => newBrowser(), ['bert'] as const);
  const phone = await newBrowser().openTab().logIn('anna');
  await untilConnected(phone);
  await untilOwn(anna, phone);
  await anna.setUpRecoveryKey();
  await until(() => phone.crypto.vaultVersion(), 2);
  for (const tab of [anna, phone]) {
    await tab.actions.openChat(tab.userId);
    expect(tab.lines(tab.userId)).toEqual([]);
    expect(tab.chat(tab.userId).state).toMatchObject({ lastMessage: null, unread: 0 });
    expect(tab.store.get(notificationsAtom).items.filter(({ type }) => type === 'message')).toEqual([]);
  }
  const { db } = relay.relay.database;
  const copies = await db.selectFrom('history_items').select('conversation_id').execute();
  expect(copies.map((row) => row.conversation_id)).not.toContain(ownOf(anna));
});

const draftIn = (tab: Tab, key: string) => tab.store.get(draftsAtom)[key] ?? '';
const write = (tab: Tab, key: string, text: string) =>
  tab.store.set(draftsAtom, (drafts) => ({ ...drafts, [key]: text }));
const unreadIn = (tab: Tab, key: string) => tab.store.get(chatsAtom)[key]?.state?.unread;

it('a draft and its end reach the other browser, and leave nothing behind', async () => {
  const [anna, bert] = await annaAnd(() => newBrowser(), ['bert'] as const);
  const phone = await newBrowser().openTab().logIn('anna');
  await untilConnected(phone);
  await untilOwn(anna, phone);
  const key = bert.userId;
  write(anna, key, 'Half a');
  await until(() => draftIn(phone, key), 'Half a');
  write(phone, key, 'Half a sentence');
  await until(() => draftIn(anna, key), 'Half a sentence');
  await phone.actions.sendMessage(key, 'Half a sentence.');
  write(phone, key, '');
  await until(() => draftIn(anna, key), '');
  for (const tab of [anna, phone]) {
    expect(JSON.stringify(await tab.crypto.messages(ownOf(tab), { limit: 100 }))).not.toContain('Half');
  }
});

it('what is read in one browser is read in the other, though the relay says nothing of it', async () => {
  const annas = newBrowser({
    fetch: (input, init) =>
      /\/(delivered|read)$/.test(input instanceof Request ? input.url : String(input))
        ? Promise.resolve(new Response(null, { status: 204 }))
        : fetch(input, init),
  });
  const browsers = [annas];
  const [anna, bert] = await annaAnd(() => browsers.pop() ?? newBrowser(), ['bert'] as const);
  const phone = await newBrowser().openTab().logIn('anna');
  await untilConnected(phone);
  await untilOwn(anna, phone);
  await bert.actions.sendMessage(anna.userId, 'Read me');
  for (const tab of [anna, phone]) await until(() => unreadIn(tab, bert.userId), 1);
  await anna.actions.openChat(bert.userId);
  await until(() => unreadIn(phone, bert.userId), 0);
  expect(unreadIn(anna, bert.userId)).toBe(0);
});

/** Asks nothing again and again. */
const withoutPolling: Clock = { ...systemClock, every: () => ({ cancel: () => undefined }) };

it('drafts and what is read go by MQTT alone, without a poll and without a request', async () => {
  let isCut = false;
  const options: BrowserOptions = {
    clock: withoutPolling,
    fetch: (input, init) => (isCut ? Promise.reject(new TypeError('offline')) : fetch(input, init)),
  };
  const browsers = [newBrowser(options)];
  const [anna, bert] = await annaAnd(() => browsers.pop() ?? newBrowser(), ['bert'] as const);
  const phone = await newBrowser(options).openTab().logIn('anna');
  await untilConnected(anna, phone);
  await untilOwn(anna, phone);
  const key = bert.userId;
  await bert.actions.sendMessage(anna.userId, 'Before');
  await anna.actions.openChat(key);
  for (const tab of [anna, phone]) await until(() => unreadIn(tab, key), 0);
  // A commit goes before a device's first message, and commits are requests.
  write(anna, key, 'First');
  await until(() => draftIn(phone, key), 'First');
  write(phone, key, 'Second');
  await until(() => draftIn(anna, key), 'Second');

  isCut = true;
  write(anna, key, 'Half a');
  await until(() => draftIn(phone, key), 'Half a');
  write(phone, key, 'Half a sentence');
  await until(() => draftIn(anna, key), 'Half a sentence');
  await bert.actions.sendMessage(anna.userId, 'Read me');
  const shown = () => {
    const { lastMessage, unread } = phone.store.get(chatsAtom)[key]?.state ?? {};
    return { content: lastMessage?.content, unread };
  };
  await until(shown, { content: { kind: 'text', text: 'Read me' }, unread: 0 });
  expect(draftIn(phone, key)).toBe('Half a sentence');
});
