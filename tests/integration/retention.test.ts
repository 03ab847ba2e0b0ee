import { afterEach, expect, it } from 'vitest';
import { createRetentionJob } from '../../relay/src/jobs/retention.ts';
import { Metrics } from '../../relay/src/metrics/metrics.ts';
import { chatEventsAtom } from '../../src/store/chatEvents.ts';
import { groupKeyOf } from '../../src/store/chats.ts';
import { befriend, type Tab, troubles, until, untilConnected } from './support/browser.ts';
import { browsers, newBrowser, relay, withRelay } from './support/world.ts';

withRelay();

const day = 24 * 60 * 60 * 1000;
let later = 0;
afterEach(() => {
  later = 0;
});

/** Deletes what the relay keeps no longer, as it would some days later. */
const retain = (days = 90) =>
  createRetentionJob({
    database: relay.relay.database,
    retention: { days, historyDays: null },
    clock: () => Date.now() + later,
    metrics: new Metrics(),
    log: relay.relay.app.log,
  }).run();

const contents = async () => {
  const rows = await relay.relay.database.db
    .selectFrom('entries')
    .select(['content', 'conversation_id'])
    .execute();
  return rows
    .filter(({ conversation_id: id }) => !id.startsWith('self:'))
    .map(({ content }) => content.length);
};

async function copiesOf(userId: string): Promise<number> {
  const { db } = relay.relay.database;
  return (await db.selectFrom('history_items').select('id').where('user_id', '=', userId).execute()).length;
}

const eventsIn = (tab: Tab, key: string) =>
  (tab.store.get(chatEventsAtom)[key] ?? []).map(({ change }) =>
    change.kind === 'expired' ? `${change.count} expired` : change.kind,
  );

it('what both people have received is deleted at the relay, and nobody notices', async () => {
  const anna = await newBrowser().openTab().signUp('anna');
  const bert = await newBrowser().openTab().signUp('bert');
  await untilConnected(anna, bert);
  await befriend(anna, bert);
  await anna.actions.openChat(bert.userId);
  await bert.actions.openChat(anna.userId);
  await anna.actions.sendMessage(bert.userId, 'one');
  await until(() => bert.lines(anna.userId), ['received: one']);
  await bert.actions.sendMessage(anna.userId, 'two');
  await until(() => anna.lines(bert.userId), ['sent: one', 'received: two']);
  // An hour later: both browsers have acknowledged all of it.
  later = day / 24;
  await until(async () => {
    await retain();
    return (await contents()).filter((length) => length > 0);
  }, []);

  // A reload, and a browser that comes new, go on as before.
  bert.kill();
  const again = browsers[1]?.openTab();
  await again?.resume();
  await again?.actions.openChat(anna.userId);
  expect(again?.lines(anna.userId)).toEqual(['received: one', 'sent: two']);
  const phone = await newBrowser().openTab().logIn('anna');
  await untilConnected(phone);
  await phone.actions.openChat(bert.userId);
  await until(() => phone.lines(bert.userId), ['received: one', 'received: two']);
  await again?.actions.sendMessage(anna.userId, 'three');
  await until(() => phone.lines(bert.userId).at(-1), 'received: three');
  await until(() => anna.lines(bert.userId).at(-1), 'received: three');
  for (const tab of [anna, phone]) expect(eventsIn(tab, bert.userId)).toEqual([]);
  expect(troubles(...browsers)).toEqual([]);
});

it('a browser that was away for longer says how many it has missed, reads the backup, and comes back', async () => {
  const anna = await newBrowser().openTab().signUp('anna');
  const bert = await newBrowser().openTab().signUp('bert');
  await untilConnected(anna, bert);
  await befriend(anna, bert);
  const groupId = await anna.actions.createGroup('Early birds');
  const key = groupKeyOf(groupId);
  await anna.actions.addGroupMembers(groupId, [bert.userId]);
  await bert.actions.openGroup(groupId);
  await anna.actions.openGroup(groupId);
  await anna.actions.sendMessage(key, 'before');
  await until(() => bert.lines(key), ['received: before']);
  await anna.actions.openChat(bert.userId);
  await anna.actions.sendMessage(bert.userId, 'hello');
  await until(() => bert.chat(anna.userId).state?.unread, 1);

  await until(() => copiesOf(bert.userId), 2);

  // Bert's browser goes away. A new one of his changes the keys of the group, reads on, and leaves copies.
  bert.kill();
  const tablet = await newBrowser().openTab().logIn('bert');
  await untilConnected(tablet);
  await tablet.actions.openGroup(groupId);
  await until(() => tablet.lines(key).length, 1);
  await anna.actions.sendMessage(bert.userId, 'in between');
  for (const text of ['one', 'two', 'three']) await anna.actions.sendMessage(key, text);
  await until(() => tablet.lines(key).at(-1), 'received: three');
  await until(() => copiesOf(bert.userId), 6);
  // All of it was written just now, so that the browser is to be told of few days.
  later = 2 * day;
  await retain(1);
  expect((await contents()).filter((length) => length > 0)).toEqual([]);

  const back = browsers[1]?.openTab();
  if (back === undefined) throw new Error('no browser');
  await back.resume();
  await back.actions.openGroup(groupId);
  await until(() => eventsIn(back, key), ['3 expired', 'rejoined']);
  await back.actions.openChat(anna.userId);
  await until(() => eventsIn(back, anna.userId), ['1 expired', 'rejoined']);
  await back.actions.sendMessage(key, 'I am back');
  await until(() => anna.lines(key).at(-1), 'received: I am back');
  await anna.actions.sendMessage(key, 'Good to hear');
  await until(() => back.lines(key).at(-1), 'received: Good to hear');
  await back.actions.sendMessage(anna.userId, 'Here, too');
  await until(() => anna.lines(bert.userId).at(-1), 'received: Here, too');
  for (const tab of [anna, tablet]) {
    for (const chat of [key, tab === anna ? bert.userId : anna.userId])
      expect(eventsIn(tab, chat).filter((kind) => kind !== 'members')).toEqual([]);
  }
  // The copies of the other browser are there, once the chat is opened again.
  back.kill();
  const reloaded = browsers[1]?.openTab();
  await reloaded?.resume();
  await reloaded?.actions.openGroup(groupId);
  await until(
    () => reloaded?.lines(key),
    ['before', 'one', 'two', 'three', 'I am back', 'Good to hear'].map((text) =>
      text === 'I am back' ? `sent: ${text}` : `received: ${text}`,
    ),
  );
  expect(troubles(...browsers)).toEqual([]);
});

it('what the relay deletes before its days are over did not arrive, and is asked about', async () => {
  const anna = await newBrowser().openTab().signUp('anna');
  const bert = await newBrowser().openTab().signUp('bert');
  await untilConnected(anna, bert);
  await befriend(anna, bert);
  await anna.actions.openChat(bert.userId);
  await anna.actions.sendMessage(bert.userId, 'one');
  await until(() => bert.chat(anna.userId).state?.unread, 1);
  bert.kill();
  await anna.actions.sendMessage(bert.userId, 'do not pay it');
  await until(() => anna.lines(bert.userId).at(-1), 'sent: do not pay it');
  // A clock that runs ahead, or a relay that lies: the browser can't tell the two apart.
  later = 91 * day;
  await retain();
  const back = browsers[1]?.openTab();
  if (back === undefined) throw new Error('no browser');
  await back.resume();
  await back.actions.openChat(anna.userId);
  await until(() => eventsIn(back, anna.userId), ['withheld']);
  expect(back.chat(anna.userId).state?.isDoubted).toBe(true);
});
