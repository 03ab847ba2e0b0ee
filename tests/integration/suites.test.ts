import { expect, it } from 'vitest';
import { directConversationId } from '#src/services/core/conversationIds.ts';
import { type ConversationKey, groupKeyOf } from '#src/store/chats.ts';
import { type Tab, until, untilConnected } from './support/browser.ts';
import { annaAnd, untilLines, untilMembers } from './support/people.ts';
import { newBrowser, relay, withRelay } from './support/world.ts';

withRelay();

const PRESENT = 0xf04d;
const FORMER = 0x004d;

const db = () => relay.relay.database.db;

/** Takes what the relay has of the present suite, as it has nothing of devices whose app is from before it. */
async function forgetPresent(...tabs: Tab[]): Promise<void> {
  const deviceIds = await Promise.all(tabs.map(async ({ crypto }) => (await crypto.openDevice()).deviceId));
  for (const table of ['key_packages', 'last_resort_key_packages'] as const)
    await db().deleteFrom(table).where('suite', '=', PRESENT).where('device_id', 'in', deviceIds).execute();
}

const suitesOf = ({ crypto }: Tab, conversationId: string) => crypto.keyPackageSuites(conversationId);
const told = (tab: Tab, key: ConversationKey) => () => tab.lines(key).at(-1);

it('chats and groups begin in the present suite, and a browser that comes later is in them', async () => {
  const [anna, bert] = await annaAnd(newBrowser, ['bert'] as const);
  const counted = await db()
    .selectFrom('key_packages')
    .select((select) => ['suite', select.fn.countAll<number>().as('count')])
    .groupBy(['device_id', 'suite'])
    .orderBy('suite')
    .execute();
  expect(counted.map(({ count, suite }) => [suite, count])).toEqual([
    [FORMER, 20],
    [FORMER, 20],
    [PRESENT, 50],
    [PRESENT, 50],
  ]);
  const direct = directConversationId(anna.userId, bert.userId);
  await bert.actions.openChat(anna.userId);
  await anna.actions.sendMessage(bert.userId, 'Hello');
  await until(told(bert, anna.userId), 'received: Hello');
  const groupId = await anna.actions.createGroup('Sailing');
  await anna.actions.addGroupMembers(groupId, [bert.userId]);
  await untilMembers(groupId, ['anna', 'bert'], anna, bert);
  const laptop = await newBrowser().openTab().logIn('bert');
  await untilConnected(laptop);
  await laptop.actions.openGroup(groupId);
  await anna.actions.sendMessage(groupKeyOf(groupId), 'To both');
  await untilLines(laptop, groupId, ['received: To both']);
  for (const id of [direct, `group:${groupId}`])
    for (const tab of [anna, bert]) expect(await suitesOf(tab, id)).toEqual([PRESENT]);
  await until(() => suitesOf(laptop, `self:${bert.userId}`), [PRESENT]);
});

it('what began with browsers from before goes on in their suite, and new chats with one of them do', async () => {
  const [anna, bert, carl] = await annaAnd(newBrowser, ['bert', 'carl'] as const);
  await forgetPresent(anna, bert);
  await anna.actions.openChat(bert.userId);
  await bert.actions.openChat(anna.userId);
  await anna.actions.sendMessage(bert.userId, 'As before');
  await until(told(bert, anna.userId), 'received: As before');
  const direct = directConversationId(anna.userId, bert.userId);
  expect(await suitesOf(bert, direct)).toEqual([FORMER]);

  // Nothing tells the relay of a suite but KeyPackages: Bert's app is a new one from here on.
  await bert.resume();
  await until(() => suitesLeft(bert), [FORMER, PRESENT]);
  await bert.actions.openChat(anna.userId);
  await bert.actions.sendMessage(anna.userId, 'And on');
  await until(told(anna, bert.userId), 'received: And on');
  const phone = await newBrowser().openTab().logIn('anna');
  await untilConnected(phone);
  await phone.actions.openChat(bert.userId);
  await until(() => phone.chat(bert.userId).state?.status, 'joined');
  await phone.actions.sendMessage(bert.userId, 'From the phone');
  await until(told(bert, anna.userId), 'received: From the phone');
  expect(await suitesOf(phone, direct)).toEqual([FORMER]);

  // Each Welcome lets a browser publish what is missing.
  await until(() => suitesLeft(anna), [FORMER, PRESENT]);
  await forgetPresent(anna);
  await anna.actions.openChat(carl.userId);
  await carl.actions.sendMessage(anna.userId, 'Hello Anna');
  await until(told(anna, carl.userId), 'received: Hello Anna');
  expect(await suitesOf(anna, directConversationId(anna.userId, carl.userId))).toEqual([FORMER]);

  await until(() => suitesLeft(anna), [FORMER, PRESENT]);
  await forgetPresent(anna, phone);
  const groupId = await carl.actions.createGroup('Sailing');
  expect(await suitesOf(carl, `group:${groupId}`)).toEqual([PRESENT]);
  await expect(carl.actions.addGroupMembers(groupId, [anna.userId])).rejects.toMatchObject({
    code: 'no-device',
  });
  await anna.resume();
  await until(() => suitesLeft(anna), [FORMER, PRESENT]);
  await carl.actions.addGroupMembers(groupId, [anna.userId]);
  await untilMembers(groupId, ['anna', 'carl'], carl, anna);
});

it('KeyPackages that are over keep their device out until its browser is opened, which publishes new ones', async () => {
  const [anna, bert] = await annaAnd(newBrowser, ['bert'] as const);
  const { deviceId } = await bert.crypto.openDevice();
  const tables = ['key_packages', 'last_resort_key_packages'] as const;
  const before = Date.now() - 89 * 24 * 60 * 60 * 1000;
  for (const table of tables)
    await db().updateTable(table).set({ created_at: before }).where('device_id', '=', deviceId).execute();
  await anna.actions.openChat(bert.userId);
  await anna.actions.sendMessage(bert.userId, 'Are you there?');
  await until(() => anna.lines(bert.userId), ['failed: Are you there?']);
  await bert.resume();
  const given = () =>
    Promise.all(
      tables.map(async (table) => {
        const rows = await db()
          .selectFrom(table)
          .select('suite')
          .where('device_id', '=', deviceId)
          .where('created_at', '>', before)
          .execute();
        return rows.length;
      }),
    );
  await until(given, [70, 2]);
  await anna.actions.sendMessage(bert.userId, 'Now?');
  await bert.actions.openChat(anna.userId);
  await until(told(bert, anna.userId), 'received: Now?');
  // The lifetime is half over for a browser that doesn't know when it has published them.
  for (const suite of [PRESENT, FORMER]) await bert.crypto.writeLocal(`key-packages:${suite}`, null);
  await bert.resume();
  await until(async () => (await given())[0]! >= 70 + 69, true);
});

/** The suites of which the relay has a last-resort KeyPackage of a tab's device. */
async function suitesLeft(tab: Tab): Promise<number[]> {
  const { deviceId } = await tab.crypto.openDevice();
  const rows = await db()
    .selectFrom('last_resort_key_packages')
    .select('suite')
    .where('device_id', '=', deviceId)
    .orderBy('suite')
    .execute();
  return rows.map(({ suite }) => suite);
}
