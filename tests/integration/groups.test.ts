import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startTestRelay, type TestRelay } from '../../relay/test/helpers.ts';
import { activeGroupAtom, groupKeyOf } from '../../src/store/chats.ts';
import { type Group, groupsAtom } from '../../src/store/groups.ts';
import { befriend, Browser, type Tab, troubles, until, untilConnected } from './support/browser.ts';

let relay: TestRelay;
let browsers: Browser[];

beforeEach(async () => {
  relay = await startTestRelay();
  browsers = [];
});

afterEach(async () => {
  for (const browser of browsers) browser.close();
  await relay.close();
});

interface Connection {
  readonly withoutMqtt?: boolean;
}

function newBrowser(options: Connection = {}): Browser {
  const browser = new Browser(relay, options);
  browsers.push(browser);
  return browser;
}

/** Anna and her contacts, signed in and connected. */
async function annaAnd(names: readonly string[], options: Connection = {}): Promise<[Tab, ...Tab[]]> {
  const anna = await newBrowser(options).openTab().signUp('anna');
  const others: Tab[] = [];
  for (const name of names) {
    const tab = await newBrowser(options).openTab().signUp(name);
    if (options.withoutMqtt !== true) await untilConnected(anna, tab);
    await befriend(anna, tab);
    others.push(tab);
  }
  return [anna, ...others];
}

function groupOf(tab: Tab, groupId: string): Group | undefined {
  return tab.store.get(groupsAtom).items.find(({ id }) => id === groupId);
}

function names(tab: Tab, groupId: string): string[] | undefined {
  return groupOf(tab, groupId)?.members.map(({ username }) => username ?? '?');
}

async function untilMembers(groupId: string, expected: readonly string[], ...tabs: Tab[]): Promise<void> {
  for (const tab of tabs) await until(() => names(tab, groupId), [...expected]);
}

async function untilLines(tab: Tab, groupId: string, expected: readonly string[]): Promise<void> {
  await until(() => tab.lines(groupKeyOf(groupId)), [...expected]);
}

describe.each([
  { way: 'over MQTT', options: {} },
  { way: 'over REST alone', options: { withoutMqtt: true } },
])('$way', ({ options }) => {
  it('a group is created, grows, talks, shrinks and is deleted', async () => {
    const [anna, bert, carl] = await annaAnd(['bert', 'carl'], options);
    if (bert === undefined || carl === undefined) throw new Error('three people');

    const id = await anna.actions.createGroup('  Sailing club ');
    const key = groupKeyOf(id);
    expect(anna.store.get(activeGroupAtom)).toBe(id);
    await untilMembers(id, ['anna'], anna);
    expect(groupOf(anna, id)).toMatchObject({ name: 'Sailing club', creatorId: anna.userId, mismatch: null });

    await anna.actions.sendMessage(key, 'Nobody hears this');
    await anna.actions.addGroupMember(id, bert.userId);
    await untilMembers(id, ['anna', 'bert'], anna, bert);
    expect(groupOf(bert, id)).toMatchObject({ name: 'Sailing club', creatorId: anna.userId });

    await bert.actions.openGroup(id);
    await anna.actions.sendMessage(key, 'Welcome, Bert');
    await untilLines(bert, id, ['received: Welcome, Bert']);
    await bert.actions.sendMessage(key, 'Thank you');
    await untilLines(anna, id, ['sent: Nobody hears this', 'sent: Welcome, Bert', 'received: Thank you']);
    await until(() => typeof bert.chat(key).state?.joinedAt, 'string');

    // Carl has the chat closed: he is told that there is something to fetch.
    await anna.actions.addGroupMember(id, carl.userId);
    await untilMembers(id, ['anna', 'bert', 'carl'], anna, bert, carl);
    await bert.actions.sendMessage(key, 'Hello Carl');
    await until(() => carl.chat(key).state?.unread, 1);
    await carl.actions.openGroup(id);
    await untilLines(carl, id, ['received: Hello Carl']);
    await until(() => carl.chat(key).state?.unread, 0);
    expect(groupOf(bert, id)?.changes.map(({ kind, userId }) => `${kind} ${userId}`)).toEqual([
      `added ${carl.userId}`,
    ]);

    await bert.actions.leaveGroup(id);
    expect(groupOf(bert, id)).toBeUndefined();
    expect(bert.store.get(activeGroupAtom)).toBeNull();
    expect(bert.chat(key).messages).toEqual([]);
    await untilMembers(id, ['anna', 'carl'], anna, carl);
    await until(() => anna.chat(key).state?.members.length, 2);
    await carl.actions.sendMessage(key, 'Bert is gone');
    await untilLines(carl, id, ['received: Hello Carl', 'sent: Bert is gone']);
    await until(() => anna.lines(key).at(-1), 'received: Bert is gone');

    await anna.actions.deleteGroup(id);
    expect(groupOf(anna, id)).toBeUndefined();
    await until(() => groupOf(carl, id), undefined);
    expect(carl.store.get(activeGroupAtom)).toBeNull();
    await until(() => carl.chat(key).messages.length, 0);
    expect(await carl.crypto.messages(`group:${id}`, { limit: 10 })).toEqual([]);
  });
});
