import { rm } from 'node:fs/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { startTestRelay, type TestRelay, temporaryFolder } from '../../relay/test/helpers.ts';
import { groupKeyOf } from '../../src/store/chats.ts';
import { offlineAtom } from '../../src/store/connection.ts';
import { contactsAtom } from '../../src/store/contacts.ts';
import { draftsAtom } from '../../src/store/drafts.ts';
import { backupKeptAtom } from '../../src/store/messageBackup.ts';
import { authStatusAtom, currentUserAtom } from '../../src/store/session.ts';
import { Browser, befriend, type Tab, troubles, until, untilConnected } from './support/browser.ts';

let dataDir: string;
let relay: TestRelay;
let browsers: Browser[];
let anna: Tab;
let bert: Tab;

function newBrowser(): Browser {
  const browser = new Browser(relay);
  browsers.push(browser);
  return browser;
}

beforeEach(async () => {
  dataDir = await temporaryFolder();
  relay = await startTestRelay({ dataDir });
  browsers = [];
  anna = await newBrowser().openTab().signUp('anna');
  bert = await newBrowser().openTab().signUp('bert');
  await untilConnected(anna, bert);
  await befriend(anna, bert);
  await anna.actions.openChat(bert.userId);
  await bert.actions.openChat(anna.userId);
});

afterEach(async () => {
  for (const browser of browsers) browser.close();
  await relay.close();
  await rm(dataDir, { recursive: true });
});

/** The ids of Anna's copies at the relay. */
async function copies(): Promise<string[]> {
  const items = await relay.relay.database.db
    .selectFrom('history_items')
    .select('id')
    .where('user_id', '=', anna.userId)
    .orderBy('position')
    .execute();
  return items.map(({ id }) => id);
}

const copyCount = async () => (await copies()).length;

const lines = (tab: Tab, key: string) => () => tab.lines(key);

it('a second browser of the same person reads what was said before it came, and opens a file of then', async () => {
  await anna.actions.sendMessage(bert.userId, 'Before the phone.');
  await until(lines(bert, anna.userId), ['received: Before the phone.']);
  await bert.actions.sendMessage(anna.userId, 'Answered before the phone.');
  const groupId = await anna.actions.createGroup('Early birds');
  await anna.actions.addGroupMembers(groupId, [bert.userId]);
  await anna.actions.sendMessage(groupKeyOf(groupId), 'In the group, too.');
  await until(copyCount, 3);
  const chart = Uint8Array.from({ length: 600_000 }, (_, at) => (at * 31 + (at >> 8)) % 251);
  const facts = { name: 'chart.pdf', type: 'application/pdf', kind: 'file', description: 'A chart' } as const;
  await (await bert.actions.files()).send(anna.userId, 'And a file.', [{ source: new Blob([chart]), facts }]);
  await until(copyCount, 4);

  const phone = await newBrowser().openTab().logIn('anna');
  await untilConnected(phone);
  await phone.actions.openChat(bert.userId);
  await until(lines(phone, bert.userId), [
    'received: Before the phone.',
    'received: Answered before the phone.',
    'received: <files>',
  ]);
  const message = phone.chat(bert.userId).messages.at(-1);
  if (message?.content.kind !== 'files') throw new Error('no files');
  expect(message.content).toMatchObject({
    text: 'And a file.',
    files: [{ name: 'chart.pdf', description: 'A chart', size: 600_000 }],
  });
  const { conversationId, messageId } = message;
  const [file] = message.content.files;
  if (file === undefined) throw new Error('no file');
  const opened = await (await phone.actions.files()).read({ conversationId, messageId, index: 0 }, file);
  expect(Buffer.compare(Buffer.from(await opened.arrayBuffer()), chart)).toBe(0);
  await phone.actions.openGroup(groupId);
  await until(lines(phone, groupKeyOf(groupId)), ['received: In the group, too.']);

  await bert.actions.sendMessage(anna.userId, 'After the phone.');
  await until(() => phone.lines(bert.userId).at(-1), 'received: After the phone.');
  expect(troubles(...browsers)).toEqual([]);
});

it('a browser that comes later sees answers, edits, deletions and reactions as the others do', async () => {
  const said = (tab: Tab, key: string) => () =>
    tab
      .chat(key)
      .messages.map(({ content, isEdited, quote, reactions = [] }) => [
        content.kind === 'text' ? content.text : content.kind,
        ...(isEdited ? ['edited'] : []),
        ...(quote?.message ? [`> ${quote.message.messageId === idOf(anna, 0) ? 'first' : 'other'}`] : []),
        ...reactions.map(({ emoji, userIds }) => `${emoji} ${userIds.length}`),
      ]);
  const idOf = (tab: Tab, at: number) => tab.chat(bert.userId).messages[at]?.messageId ?? '';
  const [withBert, withAnna] = [bert.userId, anna.userId];
  await anna.actions.sendMessage(withBert, 'Shall we?');
  await anna.actions.sendMessage(withBert, 'Nobody is to know this.');
  await until(() => bert.chat(withAnna).messages.length, 2);
  await until(copyCount, 2);
  const [first, secret] = [idOf(anna, 0), idOf(anna, 1)];
  await bert.actions.sendMessage(withAnna, 'Yes.', first);
  await bert.actions.changeMessage(withAnna, { kind: 'reaction', of: first, emoji: '👍', isTaken: false });
  await anna.actions.changeMessage(withBert, { kind: 'edit', of: first, text: 'Shall we row?' });
  await anna.actions.changeMessage(withBert, { kind: 'deletion', of: secret });
  const expected = [['Shall we row?', 'edited', '👍 1'], ['deleted'], ['Yes.', '> first']];
  for (const [tab, key] of [
    [anna, withBert],
    [bert, withAnna],
  ] as const)
    await until(said(tab, key), expected);
  // Six entries, of which each has a copy by now, the deleted one's in the place of the first.
  await until(copyCount, 6);

  const tablet = await newBrowser().openTab().logIn('anna');
  await untilConnected(tablet);
  await tablet.actions.openChat(withBert);
  await until(said(tablet, withBert), expected);
  expect(troubles(...browsers)).toEqual([]);
});

it('switched off, the copies go, and a browser that comes later reads from then on', async () => {
  await anna.actions.sendMessage(bert.userId, 'Only for those who were here.');
  await until(copyCount, 1);
  const kept = await copies();
  await anna.actions.setBackupKept(false);
  // The notice that is left says that it is off.
  await until(async () => (await copies()).map((id) => kept.includes(id)), [false]);

  const phone = await newBrowser().openTab().logIn('anna');
  await untilConnected(phone);
  await until(() => phone.store.get(backupKeptAtom), false);
  await phone.actions.openChat(bert.userId);
  await until(lines(phone, bert.userId), ['received: <before-join>']);
  await bert.actions.sendMessage(anna.userId, 'And for the phone.');
  await until(() => phone.lines(bert.userId).at(-1), 'received: And for the phone.');
  expect(await phone.crypto.conversationsToBackUp()).toEqual([]);
});

it('leaving a group takes its copies along', async () => {
  await bert.actions.createGroup('Brief');
  const groupId = await anna.actions.createGroup('Short lived');
  await anna.actions.sendMessage(groupKeyOf(groupId), 'Gone with it.');
  await anna.actions.sendMessage(bert.userId, 'Stays.');
  await until(copyCount, 2);
  await anna.actions.deleteGroup(groupId);
  await until(copyCount, 1);
  expect(anna.lines(bert.userId)).toEqual(['sent: Stays.']);
});

it('without a relay the browser opens what it has, waits with what is written, and goes on', async () => {
  const bertId = bert.userId;
  await bert.actions.sendMessage(anna.userId, 'Are you there?');
  await until(lines(anna, bertId), ['received: Are you there?']);
  anna.store.set(draftsAtom, () => ({ [bertId]: 'Half a' }));
  await until(() => anna.store.get(contactsAtom).items.length, 1);
  const [annasBrowser] = browsers;
  const kept = [`draft:${bertId}`, 'answer:contacts', 'profile'];
  await until(async () => {
    const names = (await anna.crypto.localEntries()).map(({ name }) => name);
    return kept.filter((name) => !names.includes(name));
  }, []);
  anna.kill();
  const { port } = new URL(relay.url);
  await relay.close();

  const later = annasBrowser?.openTab();
  if (later === undefined) throw new Error('no browser');
  await later.resume();
  expect(later.store.get(authStatusAtom)).toBe('success');
  expect(later.store.get(offlineAtom)).toBe(true);
  expect(later.store.get(currentUserAtom)?.username).toBe('anna');
  await until(() => later.store.get(contactsAtom).items.map(({ username }) => username), ['bert']);
  await until(() => later.store.get(draftsAtom)[bertId], 'Half a');
  await later.actions.openChat(bertId);
  await later.actions.sendMessage(bertId, 'One.');
  await later.actions.sendMessage(bertId, 'Two.');
  expect(later.lines(bertId)).toEqual(['received: Are you there?', 'sending: One.', 'sending: Two.']);
  expect(later.toastTexts).toEqual([]);

  relay = await startTestRelay({ dataDir, environment: { PORT: port } });
  await until(lines(bert, later.userId), ['sent: Are you there?', 'received: One.', 'received: Two.']);
  await until(lines(later, bertId), ['received: Are you there?', 'sent: One.', 'sent: Two.']);
  await until(() => later.store.get(offlineAtom), false);
});
