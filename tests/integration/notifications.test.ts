import { expect, it } from 'vitest';
import { notificationsAtom, unreadNotificationsAtom } from '../../src/store/notifications.ts';
import { type Tab, until } from './support/browser.ts';
import { annaAnd } from './support/people.ts';
import { newBrowser, withRelay } from './support/world.ts';

withRelay();

const notifications = (tab: Tab) => tab.store.get(notificationsAtom).items;
const lines = (tab: Tab) => notifications(tab).map(({ content, type }) => `${type} of ${content}`);
const unread = (tab: Tab) => tab.store.get(unreadNotificationsAtom);

it('notifications tell of requests, acceptances and messages, until they are read and removed', async () => {
  const [anna, bert] = await annaAnd(newBrowser, ['bert'] as const);
  await until(() => lines(anna), ['contact_accepted of bert']);
  await until(() => lines(bert), ['contact_request of anna']);
  await anna.actions.sendMessage(bert.userId, 'the secret of the heron');
  await until(() => lines(bert), ['message of anna', 'contact_request of anna']);
  // Answering the request was reading it.
  expect(unread(bert)).toBe(1);
  expect(JSON.stringify(notifications(bert))).not.toContain('heron');

  const [message, request] = notifications(bert);
  await bert.actions.readNotification(message?.id ?? '');
  expect(unread(bert)).toBe(0);
  await bert.actions.deleteNotification(request?.id ?? '');
  expect(lines(bert)).toEqual(['message of anna']);

  // Another browser of the same person is told the same.
  const phone = await newBrowser().openTab().logIn('bert');
  await until(() => lines(phone), ['message of anna']);
  expect(unread(phone)).toBe(0);
  await anna.actions.sendMessage(bert.userId, 'once more');
  await until(() => [unread(bert), unread(phone)], [1, 1]);
  expect(lines(phone)).toEqual(['message of anna']);
  await phone.actions.readAllNotifications();
  await until(() => unread(bert), 0);
});
