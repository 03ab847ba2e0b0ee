import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startTestRelay, type TestRelay } from '../../relay/test/helpers.ts';
import { activeGroupAtom, groupKeyOf } from '../../src/store/chats.ts';
import { Browser, until, untilConnected } from './support/browser.ts';
import { annaAnd, groupOf, untilLines, untilMembers, untilTogether } from './support/people.ts';

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

function newBrowser(options: { withoutMqtt?: boolean } = {}): Browser {
  const browser = new Browser(relay, options);
  browsers.push(browser);
  return browser;
}

describe.each([
  { way: 'over MQTT', options: { withoutMqtt: false } },
  { way: 'over REST alone', options: { withoutMqtt: true } },
])('$way', ({ options }) => {
  it('a group is created, grows, talks, shrinks and is deleted', async () => {
    const [anna, bert, carl] = await annaAnd(() => newBrowser(options), ['bert', 'carl'] as const, options);

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

    const posts = relay.logLines.filter((text) => text.includes('"POST"') && text.includes('/messages/'));
    expect(posts.length > 0).toBe(options.withoutMqtt);

    await anna.actions.deleteGroup(id);
    expect(groupOf(anna, id)).toBeUndefined();
    await until(() => groupOf(carl, id), undefined);
    expect(carl.store.get(activeGroupAtom)).toBeNull();
    await until(() => carl.chat(key).messages.length, 0);
    expect(await carl.crypto.messages(`group:${id}`, { limit: 10 })).toEqual([]);
  });
});

it('a second device of a member finds the group, and is added with the first where its person is', async () => {
  const [anna, bert, carl] = await annaAnd(newBrowser, ['bert', 'carl'] as const);
  const carlsPhone = await newBrowser().openTab().logIn('carl');
  await untilConnected(carlsPhone);

  const id = await anna.actions.createGroup('Sailing club');
  const key = groupKeyOf(id);
  await anna.actions.addGroupMember(id, bert.userId);
  await anna.actions.addGroupMember(id, carl.userId);
  await untilMembers(id, ['anna', 'bert', 'carl'], anna, bert, carl, carlsPhone);
  expect(groupOf(anna, id)?.members.map(({ devices }) => devices)).toEqual([1, 1, 2]);

  await anna.actions.sendMessage(key, 'before the tablet');
  const bertsTablet = await newBrowser().openTab().logIn('bert');
  await untilConnected(bertsTablet);
  await until(() => bertsTablet.chat(key).state?.status, 'joined');
  await until(() => groupOf(anna, id)?.members.map(({ devices }) => devices), [1, 2, 2]);

  // The next commit seals the name again for the device that came by itself.
  await carlsPhone.actions.sendMessage(key, 'hello everybody');
  await until(() => groupOf(bertsTablet, id)?.name, 'Sailing club');
  await bertsTablet.actions.openGroup(id);
  await until(() => bertsTablet.lines(key).at(-1), 'received: hello everybody');
  await bertsTablet.actions.sendMessage(key, 'from the tablet');
  await bert.actions.openGroup(id);
  await until(() => bert.lines(key).at(-1), 'received: from the tablet');
  await carl.actions.openGroup(id);
  await until(() => carl.lines(key).at(-1), 'received: from the tablet');
  await untilTogether(id, anna, bert, bertsTablet, carl, carlsPhone);

  // Bert leaves on one device: both of them forget the group, and both leaves go.
  await bertsTablet.actions.leaveGroup(id);
  await until(() => groupOf(bert, id), undefined);
  await untilMembers(id, ['anna', 'carl'], anna, carl, carlsPhone);
  await until(() => anna.chat(key).state?.members.length, 2);
  await untilTogether(id, anna, carl, carlsPhone);
});

it('members who write, are added and leave at once end in one epoch with every message', async () => {
  const [anna, bert, carl, dora] = await annaAnd(newBrowser, ['bert', 'carl', 'dora'] as const);
  const id = await anna.actions.createGroup('Sailing club');
  const key = groupKeyOf(id);
  await anna.actions.addGroupMember(id, bert.userId);
  await anna.actions.addGroupMember(id, carl.userId);
  await untilMembers(id, ['anna', 'bert', 'carl'], anna, bert, carl);
  for (const tab of [anna, bert, carl]) await tab.actions.openGroup(id);

  const say = (tab: typeof anna, name: string) =>
    [1, 2, 3].map((number) => tab.actions.sendMessage(key, `${name} ${number}`));
  await Promise.all([
    ...say(anna, 'anna'),
    ...say(bert, 'bert'),
    anna.actions.addGroupMember(id, dora.userId),
    carl.actions.leaveGroup(id),
  ]);
  await untilMembers(id, ['anna', 'bert', 'dora'], anna, bert, dora);
  await untilTogether(id, anna, bert, dora);
  const all = ['anna 1', 'anna 2', 'anna 3', 'bert 1', 'bert 2', 'bert 3'];
  const texts = (tab: typeof anna) => tab.lines(key).map((text) => text.replace(/^\w+: /, ''));
  for (const tab of [anna, bert]) await until(() => texts(tab).toSorted(), all);
  expect(texts(bert)).toEqual(texts(anna));
  expect(anna.toastTexts).toEqual([]);
});
