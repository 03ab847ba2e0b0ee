import { expect, it } from 'vitest';
import { MemoryFile } from '#tests/support/memoryFile.ts';
import { unreadTotalAtom } from '../../src/store/chats.ts';
import { offlineAtom } from '../../src/store/connection.ts';
import { devicesAtom } from '../../src/store/devices.ts';
import { draftsAtom } from '../../src/store/drafts.ts';
import { notificationsAtom } from '../../src/store/notifications.ts';
import { type Tab, troubles, until, untilConnected } from './support/browser.ts';
import { browsers, newBrowser, relay, withRelay } from './support/world.ts';

withRelay();

const notes = (tab: Tab) => () => tab.lines(tab.userId);
const write = (tab: Tab, text: string) => tab.actions.sendMessage(tab.userId, text);
const preview = (tab: Tab) => tab.chat(tab.userId).state?.lastMessage?.content;

async function devicesIn(tab: Tab): Promise<number> {
  const { members } = await tab.crypto.conversation(`self:${tab.userId}`);
  return members.flatMap(({ deviceIds }) => deviceIds).length;
}

/** Anna in one browser, where she has opened her notes and written the first. */
async function annaWithNote(): Promise<Tab> {
  const anna = await newBrowser().openTab().signUp('anna');
  await untilConnected(anna);
  await anna.actions.openChat(anna.userId);
  await write(anna, 'milk');
  await until(notes(anna), ['sent: milk']);
  await until(async () => (await anna.crypto.outbox()).length, 0);
  return anna;
}

/** Another browser of hers, which has become a member and opened the notes. */
async function phoneOf(anna: Tab): Promise<Tab> {
  const phone = await newBrowser().openTab().logIn('anna');
  await untilConnected(phone);
  await phone.actions.openChat(phone.userId);
  for (const tab of [anna, phone]) await until(() => devicesIn(tab), 2);
  return phone;
}

it('a note of a single browser is in the log, and in a browser that comes later', async () => {
  const anna = await annaWithNote();
  const { db } = relay.relay.database;
  const copies = () => db.selectFrom('history_items').select('conversation_id').execute();
  await until(async () => (await copies()).map((row) => row.conversation_id), [`self:${anna.userId}`]);
  const phone = await phoneOf(anna);
  await until(notes(phone), ['received: milk']);
  await until(() => preview(phone), { kind: 'text', text: 'milk' });
  await write(phone, 'bread');
  await until(notes(anna), ['sent: milk', 'received: bread']);
  await write(anna, 'salt');
  await until(notes(phone), ['received: milk', 'sent: bread', 'received: salt']);
  for (const tab of [anna, phone]) {
    expect(tab.store.get(unreadTotalAtom)).toBe(0);
    expect(tab.store.get(notificationsAtom).items).toEqual([]);
    expect(tab.chat(tab.userId).state?.receipts).toEqual([]);
  }
  expect(await db.selectFrom('receipts').select('device_id').execute()).toEqual([]);
  expect(troubles(...browsers)).toEqual([]);
});

it('a note that was written offline waits through a reload, and goes with the connection', async () => {
  const browser = newBrowser();
  const first = await browser.openTab().signUp('anna');
  await untilConnected(first);
  first.setOnline(false);
  await until(() => first.store.get(offlineAtom), true);
  await first.actions.openChat(first.userId);
  await write(first, 'on the train');
  expect(notes(first)()).toEqual(['sending: on the train']);
  first.kill();
  const anna = browser.openTab();
  await anna.resume();
  await untilConnected(anna);
  await anna.actions.openChat(anna.userId);
  await until(notes(anna), ['sent: on the train']);
  expect(await devicesIn(anna)).toBe(1);
});

it('a draft of a note reaches the other browser, and keys and drafts are never shown among the notes', async () => {
  const anna = await annaWithNote();
  const phone = await phoneOf(anna);
  anna.store.set(draftsAtom, (drafts) => ({ ...drafts, [anna.userId]: 'half a' }));
  await until(() => phone.store.get(draftsAtom)[phone.userId], 'half a');
  await anna.setUpRecoveryKey();
  await until(() => phone.crypto.vaultVersion(), 2);
  await write(phone, 'bread');
  await until(notes(anna), ['sent: milk', 'received: bread']);
  await until(notes(phone), ['received: milk', 'sent: bread']);
  await phone.actions.loadOlderMessages(phone.userId);
  expect(notes(phone)()).toEqual(['received: milk', 'sent: bread']);
});

it('notes of a browser that was removed stay where it had told of them', async () => {
  const anna = await annaWithNote();
  const phone = await phoneOf(anna);
  await write(phone, 'from the phone');
  await until(notes(anna), ['sent: milk', 'received: from the phone']);
  await until(() => anna.store.get(devicesAtom)?.length, 2);
  await anna.actions.revokeDevice((await phone.crypto.openDevice()).deviceId);
  await write(anna, 'after');
  await until(notes(anna), ['sent: milk', 'received: from the phone', 'sent: after']);
  await until(() => devicesIn(anna), 1);
  expect(await anna.crypto.messageCount(`self:${anna.userId}`)).toBe(3);
});

it('notes are in the browser that stays when another logs out, and come back with the next log-in', async () => {
  const anna = await annaWithNote();
  const phone = await phoneOf(anna);
  await write(phone, 'from the phone');
  await until(notes(anna), ['sent: milk', 'received: from the phone']);
  await phone.actions.logOut();
  expect(phone.lines(anna.userId)).toEqual([]);
  await phone.logIn('anna');
  await untilConnected(phone);
  await phone.actions.openChat(phone.userId);
  await until(notes(phone), ['received: milk', 'sent: from the phone']);
  expect(notes(anna)()).toEqual(['sent: milk', 'received: from the phone']);
});

it('the data export has the notes, under their name, and nothing else that own devices have told', async () => {
  const anna = await annaWithNote();
  const phone = await phoneOf(anna);
  await anna.setUpRecoveryKey();
  await until(() => phone.crypto.vaultVersion(), 2);
  await write(phone, 'bread');
  await until(notes(anna), ['sent: milk', 'received: bread']);
  const forPrograms = new MemoryFile();
  await anna.actions.exportData('json', forPrograms, false);
  const { messages } = JSON.parse(forPrograms.text);
  expect(messages).toMatchObject([
    { content: 'milk', from_user: 'anna', to_user: 'anna', receiver_id: anna.userId, is_read: true },
    { content: 'bread', from_user: 'anna', to_user: 'anna', group_id: null, kind: 'text' },
  ]);
  expect(messages).toHaveLength(2);
  const forReading = new MemoryFile();
  await anna.actions.exportData('html', forReading, false);
  expect(forReading.text).toContain('<h2><bdi>Notes to self</bdi></h2>');
  expect(forReading.text).toContain('bread');
});
