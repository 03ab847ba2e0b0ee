import { describe, expect, it } from 'vitest';
import { chatEventsAtom } from '../../src/store/chatEvents.ts';
import { activeGroupAtom, groupKeyOf } from '../../src/store/chats.ts';
import { nameOfAtom } from '../../src/store/names.ts';
import { type Tab, until, untilConnected } from './support/browser.ts';
import {
  annaAnd,
  groupOf,
  textsOf,
  untilLines,
  untilMembers,
  untilSent,
  untilTogether,
} from './support/people.ts';
import { browsers, newBrowser, relay, withRelay } from './support/world.ts';

withRelay();

/** Returns what happened in a chat that was opened, beside messages. */
function changesIn(tab: Tab, key: string) {
  return tab.store.get(chatEventsAtom)[key]?.map(({ change }) => change);
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
    await anna.actions.addGroupMembers(id, [bert.userId]);
    await untilMembers(id, ['anna', 'bert'], anna, bert);
    expect(groupOf(bert, id)).toMatchObject({ name: 'Sailing club', creatorId: anna.userId });

    await bert.actions.openGroup(id);
    await anna.actions.sendMessage(key, 'Welcome, Bert');
    await untilLines(bert, id, ['received: Welcome, Bert']);
    await bert.actions.sendMessage(key, 'Thank you');
    await untilLines(anna, id, ['sent: Nobody hears this', 'sent: Welcome, Bert', 'received: Thank you']);
    await until(() => typeof bert.chat(key).state?.joinedAt, 'string');

    // Carl has the chat closed: he is told that there is something to fetch.
    await anna.actions.addGroupMembers(id, [carl.userId]);
    await untilMembers(id, ['anna', 'bert', 'carl'], anna, bert, carl);
    await bert.actions.sendMessage(key, 'Hello Carl');
    await until(() => carl.chat(key).state?.unread, 1);
    await carl.actions.openGroup(id);
    await untilLines(carl, id, ['received: Hello Carl']);
    await until(() => carl.chat(key).state?.unread, 0);
    expect(changesIn(bert, key)).toEqual([{ kind: 'members', added: [carl.userId], removed: [] }]);

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
    // Carl has only the relay's word for it: what he has read stays his until he gives it up.
    await until(() => groupOf(carl, id)?.ended, true);
    expect(groupOf(carl, id)?.left).toBe(false);
    expect(carl.store.get(activeGroupAtom)).toBe(id);
    expect(carl.lines(key)).toEqual(['received: Hello Carl', 'sent: Bert is gone']);
    expect(changesIn(carl, key)).toEqual([{ kind: 'members', added: [], removed: [bert.userId] }]);
    expect(carl.store.get(nameOfAtom)(bert.userId)).toBe('bert');
    await carl.actions.removeGroup(id);
    expect(groupOf(carl, id)).toBeUndefined();
    expect(carl.store.get(activeGroupAtom)).toBeNull();
    expect(carl.chat(key).messages).toEqual([]);
    expect(await carl.crypto.messages(`group:${id}`, { limit: 10 })).toEqual([]);
  });
});

it('a second device of a member finds the group, and is added with the first where its person is', async () => {
  const [anna, bert, carl] = await annaAnd(newBrowser, ['bert', 'carl'] as const);
  const carlsPhone = await newBrowser().openTab().logIn('carl');
  await untilConnected(carlsPhone);

  const id = await anna.actions.createGroup('Sailing club');
  const key = groupKeyOf(id);
  await anna.actions.addGroupMembers(id, [bert.userId]);
  await anna.actions.addGroupMembers(id, [carl.userId]);
  await untilMembers(id, ['anna', 'bert', 'carl'], anna, bert, carl, carlsPhone);
  expect(groupOf(anna, id)?.members.map(({ devices }) => devices)).toEqual([1, 1, 2]);

  await anna.actions.sendMessage(key, 'before the tablet');
  const bertsTablet = await newBrowser().openTab().logIn('bert');
  await untilConnected(bertsTablet);
  await until(() => bertsTablet.chat(key).state?.status, 'joined');
  await until(() => groupOf(anna, id)?.members.map(({ devices }) => devices), [1, 2, 2]);

  // A member seals the name for the device that came by itself, and no commit is needed for it.
  const epoch = () => bertsTablet.chat(key).state?.epoch;
  const entered = epoch();
  await until(() => groupOf(bertsTablet, id)?.name, 'Sailing club');
  expect(epoch()).toBe(entered);
  for (const tab of [anna, bert, carl, carlsPhone]) {
    await until(() => tab.chat(key).state?.group?.nameDue, false);
  }
  await carlsPhone.actions.sendMessage(key, 'hello everybody');
  await bertsTablet.actions.openGroup(id);
  await until(() => bertsTablet.lines(key).at(-1), 'received: hello everybody');
  await bertsTablet.actions.sendMessage(key, 'from the tablet');
  await bert.actions.openGroup(id);
  await until(() => bert.lines(key).at(-1), 'received: from the tablet');
  await carl.actions.openGroup(id);
  await until(() => carl.lines(key).at(-1), 'received: from the tablet');
  await untilTogether(id, anna, bert, bertsTablet, carl, carlsPhone);

  // Bert leaves on one device: both leaves go, and the other device keeps what it has read.
  await bertsTablet.actions.leaveGroup(id);
  expect(groupOf(bertsTablet, id)).toBeUndefined();
  await until(() => groupOf(bert, id)?.ended, true);
  expect(groupOf(bert, id)?.left).toBe(true);
  expect(bert.lines(key).at(-1)).toBe('received: from the tablet');
  await untilMembers(id, ['anna', 'carl'], anna, carl, carlsPhone);
  await until(() => anna.chat(key).state?.members.length, 2);
  await untilTogether(id, anna, carl, carlsPhone);
});

it('a person who left on one device and is added again is back on the other, which says what it cannot read', async () => {
  const [anna, bert] = await annaAnd(newBrowser, ['bert'] as const);
  const tablet = await newBrowser().openTab().logIn('bert');
  await untilConnected(tablet);
  const id = await anna.actions.createGroup('Sailing club');
  const key = groupKeyOf(id);
  await anna.actions.addGroupMembers(id, [bert.userId]);
  await untilMembers(id, ['anna', 'bert'], anna, bert, tablet);
  await bert.actions.openGroup(id);
  await anna.actions.sendMessage(key, 'before');
  await untilLines(bert, id, ['received: before']);

  // The phone is away while its owner leaves, and while the leaves are taken out.
  const [, bertsBrowser] = browsers;
  bert.kill();
  await tablet.actions.leaveGroup(id);
  await untilMembers(id, ['anna'], anna);
  await until(() => anna.chat(key).state?.members.length, 1);
  await anna.actions.sendMessage(key, 'in between');
  const phone = bertsBrowser?.openTab();
  if (phone === undefined) throw new Error('no browser');
  await phone.resume();
  await phone.actions.openGroup(id);
  await until(() => [groupOf(phone, id)?.ended, groupOf(phone, id)?.left], [true, true]);

  await anna.actions.addGroupMembers(id, [bert.userId]);
  await untilMembers(id, ['anna', 'bert'], anna, phone, tablet);
  expect(groupOf(anna, id)?.members.map(({ devices }) => devices)).toEqual([1, 2]);
  await anna.actions.sendMessage(key, 'after');
  await untilLines(phone, id, ['received: before', 'received: after']);
  expect(groupOf(phone, id)).toMatchObject({ ended: false, left: false, mismatch: null });
  await until(() => changesIn(phone, key), [{ kind: 'returned' }]);
  await phone.actions.sendMessage(key, 'back again');
  await until(() => anna.lines(key).at(-1), 'received: back again');
  await tablet.actions.openGroup(id);
  await untilLines(tablet, id, ['received: after', 'received: back again']);
  expect(changesIn(tablet, key)).toBeUndefined();
  await untilTogether(id, anna, phone, tablet);
});

it('members who write, are added and leave at once end in one epoch with every message', async () => {
  const [anna, bert, carl, dora] = await annaAnd(newBrowser, ['bert', 'carl', 'dora'] as const);
  const id = await anna.actions.createGroup('Sailing club');
  const key = groupKeyOf(id);
  await anna.actions.addGroupMembers(id, [bert.userId]);
  await anna.actions.addGroupMembers(id, [carl.userId]);
  await untilMembers(id, ['anna', 'bert', 'carl'], anna, bert, carl);
  for (const tab of [anna, bert, carl]) await tab.actions.openGroup(id);

  const say = (tab: typeof anna, name: string) =>
    [1, 2, 3].map((number) => tab.actions.sendMessage(key, `${name} ${number}`));
  await Promise.all([
    ...say(anna, 'anna'),
    ...say(bert, 'bert'),
    anna.actions.addGroupMembers(id, [dora.userId]),
    carl.actions.leaveGroup(id),
  ]);
  await untilMembers(id, ['anna', 'bert', 'dora'], anna, bert, dora);
  await untilTogether(id, anna, bert, dora);
  const all = ['anna 1', 'anna 2', 'anna 3', 'bert 1', 'bert 2', 'bert 3'];
  await untilSent(key, anna, bert);
  for (const tab of [anna, bert]) await until(() => textsOf(tab, key).toSorted(), all);
  expect(textsOf(bert, key)).toEqual(textsOf(anna, key));
  expect(anna.toastTexts).toEqual([]);
});
