import { describe, expect, it } from 'vitest';
import { groupKeyOf } from '../../src/store/chats.ts';
import { contactsAtom } from '../../src/store/contacts.ts';
import { authErrorAtom, currentUserAtom, signedOutPathAtom } from '../../src/store/session.ts';
import { accountDatabaseName } from '../../workers/storage/db.ts';
import { MemoryFile } from '../support/memoryFile.ts';
import { isSignedIn, type Tab, until, untilConnected, untilSessionEnded } from './support/browser.ts';
import { annaAnd, groupOf, untilLines, untilMembers } from './support/people.ts';
import { browsers, newBrowser, relay, startRelay, withRelay } from './support/world.ts';

withRelay();

const nameIn = (tab: Tab) => tab.store.get(currentUserAtom)?.username;
const contactsOf = (tab: Tab) => tab.store.get(contactsAtom).items.map(({ username }) => username);

describe('new names', () => {
  const names = { username: 'annika', email: 'annika@example.org' };
  const password = "anna's password";

  it('are what one logs in with, by the same password; the former are nobody’s', async () => {
    const anna = await newBrowser().openTab().signUp('anna');
    await anna.actions.updateProfile(names);
    expect(nameIn(anna)).toBe('annika');
    await anna.actions.logOut();
    await anna.logIn('annika', password);
    await anna.actions.logOut();
    await newBrowser().openTab().logIn('annika@example.org', password);
    await expect(anna.logIn('anna', password)).rejects.toMatchObject({ code: 'wrong-credentials' });

    const other = await newBrowser().openTab().signUp('anna');
    expect(isSignedIn(other)).toBe(true);
  });

  it('are seen by the other devices, and after a start without the relay', async () => {
    const anna = await newBrowser().openTab().signUp('anna');
    const phone = await newBrowser().openTab().logIn('anna');
    await anna.actions.updateProfile(names);
    await phone.checkSession();
    expect(nameIn(phone)).toBe('annika');

    const browser = browsers[1];
    phone.kill();
    await relay.close();
    const again = browser?.openTab();
    await again?.resume();
    expect(again === undefined ? null : nameIn(again)).toBe('annika');
    await startRelay();
  });

  it('can not be somebody else’s', async () => {
    const [anna] = await annaAnd(newBrowser, ['bert'] as const);
    const change = (username: string, email: string) => anna.actions.updateProfile({ username, email });
    await expect(change('BERT', 'anna@example.org')).rejects.toMatchObject({ code: 'username-taken' });
    await expect(change('anna', 'bert@example.org')).rejects.toMatchObject({ code: 'email-taken' });
    expect(nameIn(anna)).toBe('anna');
  });
});

describe('a deleted account', () => {
  it('takes its groups and memberships along, and leaves nothing in its browser', async () => {
    const [anna, bert, carl] = await annaAnd(newBrowser, ['bert', 'carl'] as const);
    const own = await anna.actions.createGroup('Own');
    await anna.actions.addGroupMembers(own, [bert.userId]);
    const shared = await bert.actions.createGroup('Shared');
    await bert.actions.addGroupMembers(shared, [anna.userId]);
    await untilMembers(shared, ['anna', 'bert'], anna, bert);
    await untilMembers(own, ['anna', 'bert'], bert);
    await anna.actions.sendMessage(bert.userId, 'Goodbye');
    await bert.actions.openChat(anna.userId);
    await until(() => bert.lines(anna.userId), ['received: Goodbye']);

    const browser = browsers[0];
    const { userId } = anna;
    const secondTab = browser?.openTab();
    await secondTab?.resume();
    const phone = await newBrowser().openTab().logIn('anna');

    await anna.actions.deleteAccount();

    expect(isSignedIn(anna)).toBe(false);
    expect(anna.store.get(authErrorAtom)).toBeNull();
    expect(anna.store.get(signedOutPathAtom)).toBe('/?deleted=true');
    expect([...(browser?.storage.entries.keys() ?? [])]).toEqual([]);
    const databases = await browser?.indexedDB.databases();
    expect(databases?.map(({ name }) => name)).not.toContain(accountDatabaseName(userId));

    secondTab?.onTokenChanged();
    expect(secondTab === undefined || isSignedIn(secondTab)).toBe(false);
    await untilSessionEnded(phone);
    expect(browsers.at(-1)?.storage.getItem('token')).toBeNull();

    // The others: the contact and the own group are gone, the shared group goes on without her in its keys.
    await until(() => contactsOf(bert), []);
    await untilMembers(shared, ['bert'], bert);
    await until(() => groupOf(bert, own)?.ended ?? true, true);
    await bert.actions.openGroup(shared);
    await bert.actions.sendMessage(groupKeyOf(shared), 'Still here');
    await untilLines(bert, shared, ['sent: Still here']);
    expect(bert.lines(userId)).toEqual(['received: Goodbye']);
    await until(() => contactsOf(carl), []);

    await expect(newBrowser().openTab().logIn('anna')).rejects.toMatchObject({ code: 'wrong-credentials' });
  });
});

describe('the data export', () => {
  it('has what was written and received, and what the relay holds', async () => {
    const [anna, bert] = await annaAnd(newBrowser, ['bert'] as const);
    await untilConnected(anna, bert);
    await anna.actions.openChat(bert.userId);
    await bert.actions.openChat(anna.userId);
    for (const text of ['one', 'two <b>&</b>', 'three']) await anna.actions.sendMessage(bert.userId, text);
    await until(() => bert.lines(anna.userId).length, 3);
    const groupId = await anna.actions.createGroup('Fog');
    await anna.actions.sendMessage(groupKeyOf(groupId), 'in the group');
    await untilLines(anna, groupId, ['sent: in the group']);

    const forPrograms = new MemoryFile();
    expect(await anna.actions.exportData('json', forPrograms, false)).not.toBeNull();
    const data = JSON.parse(forPrograms.text);
    expect(data).toMatchObject({
      profile: { username: 'anna', email: 'anna@example.org', id: anna.userId },
      contacts: [{ username: 'bert' }],
      groups: [{ id: groupId, name: 'Fog', creator_id: anna.userId, members: [{ username: 'anna' }] }],
      devices: [{ name: 'A test', current: true }],
      account: { sessions: [{ current: true }] },
    });
    const lines = data.messages.map(
      (message: Record<string, string>) =>
        `${message.from_user} to ${message.to_user ?? message.group_name}: ${message.content}`,
    );
    expect(lines.toSorted()).toEqual([
      'anna to Fog: in the group',
      'anna to bert: one',
      'anna to bert: three',
      'anna to bert: two <b>&</b>',
    ]);
    const forReading = new MemoryFile();
    expect(await anna.actions.exportData('html', forReading, false)).not.toBeNull();
    expect(forReading.text).toContain('two &lt;b&gt;&amp;&lt;/b&gt;');
    expect([forPrograms.outcome, forReading.outcome]).toEqual(['closed', 'closed']);
  });
});
