import { describe, expect, it } from 'vitest';
import { isOnlineAtom } from '../../src/store/connection.ts';
import { befriend, isSignedIn, type Tab, troubles, until, untilConnected } from './support/browser.ts';
import { browsers, newBrowser, relay, withRelay } from './support/world.ts';

withRelay();

async function twoFriends(options: { withoutMqtt?: boolean } = {}): Promise<{ anna: Tab; bert: Tab }> {
  const anna = await newBrowser(options).openTab().signUp('anna');
  const bert = await newBrowser(options).openTab().signUp('bert');
  if (options.withoutMqtt !== true) await untilConnected(anna, bert);
  await befriend(anna, bert);
  return { anna, bert };
}

async function untilSame(tab: Tab, userId: string, lines: readonly string[]): Promise<void> {
  await until(() => tab.lines(userId), [...lines]);
}

it('carries a conversation of two people from the first message to the next login', async () => {
  const { anna, bert } = await twoFriends();
  const [annaId, bertId] = [anna.userId, bert.userId];
  await until(() => anna.store.get(isOnlineAtom)(bertId), true);

  await anna.actions.openChat(bertId);
  await anna.actions.sendMessage(bertId, '  Hello Bert  ');
  await untilSame(anna, bertId, ['sent: Hello Bert']);
  await until(() => bert.chat(annaId).state?.unread, 1);

  await bert.actions.openChat(annaId);
  await untilSame(bert, annaId, ['received: Hello Bert']);
  await until(() => bert.chat(annaId).state?.unread, 0);
  // Bert has read it, and says so himself.
  const read = bert.chat(annaId).state?.readSeq ?? 0;
  await until(
    () => anna.chat(bertId).state?.receipts,
    [{ userId: bertId, deliveredSeq: read, readSeq: read }],
  );

  await bert.actions.sendMessage(annaId, 'Hello Anna');
  await untilSame(bert, annaId, ['received: Hello Bert', 'sent: Hello Anna']);
  await untilSame(anna, bertId, ['sent: Hello Bert', 'received: Hello Anna']);

  // All of it went over MQTT.
  expect(relay.logLines.filter((text) => text.includes('"POST"') && text.includes('/messages/'))).toEqual([]);
  expect(troubles(...browsers)).toEqual([]);

  // Both reload.
  for (const [browser, before, other, lines] of [
    [browsers[0], anna, bertId, ['sent: Hello Bert', 'received: Hello Anna']],
    [browsers[1], bert, annaId, ['received: Hello Bert', 'sent: Hello Anna']],
  ] as const) {
    before.kill();
    const tab = browser?.openTab();
    await tab?.resume();
    await tab?.actions.openChat(other);
    expect(tab?.lines(other)).toEqual(lines);

    // And log out, and log in again in the same browser.
    const name = other === bertId ? 'anna' : 'bert';
    await tab?.actions.logOut();
    // The mark that tells the relay that this browser is no stranger stays; it opens nothing.
    expect([...(browser?.storage.entries.keys() ?? [])]).toEqual(['login-proof']);
    await tab?.logIn(name);
    await tab?.actions.openChat(other);
    expect(tab?.lines(other)).toEqual(lines);
  }
});

it('a second browser of a person reads what is written from then on', async () => {
  const { anna, bert } = await twoFriends();
  const [annaId, bertId] = [anna.userId, bert.userId];
  await anna.actions.openChat(bertId);
  await bert.actions.openChat(annaId);
  await anna.actions.sendMessage(bertId, 'one');
  await untilSame(bert, annaId, ['received: one']);
  await bert.actions.sendMessage(annaId, 'two');
  await untilSame(anna, bertId, ['sent: one', 'received: two']);
  // With copies it could read what was before it: see history.test.ts.
  await anna.actions.setBackupKept(false);

  const phone = await newBrowser().openTab().logIn('anna@example.org', "anna's password");
  await untilConnected(phone);
  await phone.actions.openChat(bertId);
  await untilSame(phone, bertId, ['received: <before-join>', 'received: <before-join>']);
  await until(() => phone.chat(bertId).state?.status, 'joined');

  await phone.actions.sendMessage(bertId, 'three');
  await untilSame(anna, bertId, ['sent: one', 'received: two', 'received: three']);
  await untilSame(bert, annaId, ['received: one', 'sent: two', 'received: three']);

  anna.visible = false;
  await bert.actions.sendMessage(annaId, 'four');
  for (const tab of [anna, phone]) await until(() => tab.lines(bertId).at(-1), 'received: four');
  // A message that one of the two browsers has shown is read in both.
  await until(() => anna.chat(bertId).state?.unread, 0);

  await anna.actions.sendMessage(bertId, 'five');
  await until(() => phone.lines(bertId).at(-1), 'received: five');
  await until(() => bert.lines(annaId).at(-1), 'received: five');
  expect(troubles(...browsers)).toEqual([]);
});

describe('without MQTT', () => {
  it('sends over REST and reads by polling', async () => {
    const { anna, bert } = await twoFriends({ withoutMqtt: true });
    await anna.actions.openChat(bert.userId);
    await bert.actions.openChat(anna.userId);
    await anna.actions.sendMessage(bert.userId, 'over REST');
    await untilSame(anna, bert.userId, ['sent: over REST']);
    await untilSame(bert, anna.userId, ['received: over REST']);
    await bert.actions.sendMessage(anna.userId, 'and back');
    await untilSame(anna, bert.userId, ['sent: over REST', 'received: and back']);
    expect(anna.isConnected || bert.isConnected).toBe(false);
  });

  it('goes on when the connection breaks in the middle, and returns to it', async () => {
    const { anna, bert } = await twoFriends();
    await anna.actions.openChat(bert.userId);
    await bert.actions.openChat(anna.userId);
    await anna.actions.sendMessage(bert.userId, 'connected');
    await untilSame(bert, anna.userId, ['received: connected']);
    anna.cutMqtt();
    await until(() => anna.isConnected, false);
    await anna.actions.sendMessage(bert.userId, 'cut');
    await untilSame(bert, anna.userId, ['received: connected', 'received: cut']);
    await bert.actions.sendMessage(anna.userId, 'heard');
    await untilSame(anna, bert.userId, ['sent: connected', 'sent: cut', 'received: heard']);
    anna.restoreMqtt();
    await untilConnected(anna);
    expect(anna.toastTexts).toEqual([]);
  });
});

it('every message is there once when both people start the conversation at the same time', async () => {
  const { anna, bert } = await twoFriends();
  await Promise.all([anna.actions.openChat(bert.userId), bert.actions.openChat(anna.userId)]);
  await Promise.all([
    anna.actions.sendMessage(bert.userId, 'from Anna'),
    bert.actions.sendMessage(anna.userId, 'from Bert'),
  ]);
  await until(() => anna.lines(bert.userId).toSorted(), ['received: from Bert', 'sent: from Anna']);
  await until(() => bert.lines(anna.userId).toSorted(), ['received: from Anna', 'sent: from Bert']);
  expect(troubles(...browsers)).toEqual([]);
});

it('messages keep their order, and none is lost, while both write at once', async () => {
  const { anna, bert } = await twoFriends();
  await Promise.all([anna.actions.openChat(bert.userId), bert.actions.openChat(anna.userId)]);
  const numbers = Array.from({ length: 10 }, (_, index) => index);
  await Promise.all(
    numbers.flatMap((number) => [
      anna.actions.sendMessage(bert.userId, `a${number}`),
      bert.actions.sendMessage(anna.userId, `b${number}`),
    ]),
  );
  const of = (tab: Tab, userId: string, prefix: string) =>
    tab.lines(userId).filter((text) => text.startsWith(prefix));
  await until(
    () => of(anna, bert.userId, 'sent'),
    numbers.map((number) => `sent: a${number}`),
  );
  await until(
    () => of(bert, anna.userId, 'sent'),
    numbers.map((number) => `sent: b${number}`),
  );
  await until(
    () => of(anna, bert.userId, 'received'),
    numbers.map((number) => `received: b${number}`),
  );
  await until(
    () => of(bert, anna.userId, 'received'),
    numbers.map((number) => `received: a${number}`),
  );
  expect(troubles(...browsers)).toEqual([]);
});

it('a session that has ended at the relay ends in the browser', async () => {
  const { anna, bert } = await twoFriends();
  const bertId = bert.userId;
  await anna.actions.openChat(bertId);
  const stored = browsers[0]?.storage.entries;
  const answer = await fetch(`${relay.url}/api/logout`, {
    method: 'POST',
    headers: { authorization: `Bearer ${stored?.get('token')}` },
  });
  expect(answer.status).toBe(204);

  await until(() => stored?.has('token'), false);
  await expect(anna.actions.sendMessage(bertId, 'too late')).rejects.toMatchObject({
    code: 'unauthenticated',
  });
  await until(() => isSignedIn(anna), false);
  await expect(anna.crypto.conversations()).rejects.toMatchObject({ code: 'locked' });
});
