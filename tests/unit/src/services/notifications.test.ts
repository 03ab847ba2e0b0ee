import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { Api } from '#src/net/api.ts';
import { createNotifications, type Notifications } from '#src/services/people/notifications.ts';
import { type Notification, notificationsAtom, unreadNotificationsAtom } from '#src/store/notifications.ts';
import { settled } from '../net/support/fakeClock.ts';
import { peer, refused, type TestDeps, testDeps, testLists } from './support/deps.ts';

const one: Notification = {
  id: 'one',
  type: 'message',
  sender_id: peer,
  content: 'bert',
  created_at: '2026-03-01T12:00:01.000Z',
  read: false,
};
const two: Notification = { ...one, id: 'two', type: 'contact_request' };

let deps: TestDeps;
let notifications: Notifications;
/** The notifications that an earlier session has left. */
let kept: Notification[] | null;
const listNotifications = vi.fn<Api['listNotifications']>();
const readNotification = vi.fn<Api['readNotification']>();
const readAllNotifications = vi.fn<Api['readAllNotifications']>();
const deleteNotification = vi.fn<Api['deleteNotification']>();

beforeEach(() => {
  listNotifications.mockReset().mockResolvedValue([one, two]);
  for (const call of [readNotification, readAllNotifications, deleteNotification]) {
    call.mockReset().mockResolvedValue(undefined);
  }
  deps = testDeps({
    api: { listNotifications, readNotification, readAllNotifications, deleteNotification },
  });
  kept = null;
  notifications = createNotifications({ deps, lists: testLists(deps), recall: async () => kept });
});

const list = () => deps.store.get(notificationsAtom);
const unread = () => deps.store.get(unreadNotificationsAtom);

describe('the list of notifications', () => {
  it('loads with an indicator', async () => {
    const loading = notifications.load();
    expect(list().loading).toBe(true);
    await loading;
    expect(list()).toEqual({ items: [one, two], loading: false, loaded: true, error: null });
    expect(unread()).toBe(2);
  });

  it('says so when it cannot be loaded, until it can', async () => {
    listNotifications.mockRejectedValueOnce(refused('internal'));
    await notifications.load();
    const error = 'Failed to load notifications. Please try again.';
    expect(list()).toMatchObject({ loading: false, loaded: false, error });
    await notifications.load();
    expect(list().error).toBeNull();
  });

  it('is not polled before it was loaded once, and then fails silently', async () => {
    await notifications.poll();
    expect(listNotifications).not.toHaveBeenCalled();
    await notifications.load();
    listNotifications.mockRejectedValueOnce(refused('internal'));
    await notifications.poll();
    expect(list().error).toBeNull();
    expect(list().items).toHaveLength(2);
  });

  it('is what was kept of it when it could not be loaded', async () => {
    kept = [two];
    listNotifications.mockRejectedValueOnce(refused('internal'));
    await notifications.load();
    expect(list()).toMatchObject({ items: [two], loaded: false });
    expect(list().error).not.toBeNull();
  });

  it('stays the same object while nothing has changed, and changes with a mark alone', async () => {
    await notifications.load();
    const before = list();
    await notifications.poll();
    expect(list()).toBe(before);
    listNotifications.mockResolvedValue([{ ...one, read: true }, two]);
    await notifications.poll();
    expect(unread()).toBe(1);
  });
});

describe('a change of a notification', () => {
  beforeEach(() => notifications.load());

  it.each([
    { what: 'reading one', act: () => notifications.read('one'), left: 2, unreadLeft: 1 },
    { what: 'reading all', act: () => notifications.readAll(), left: 2, unreadLeft: 0 },
    { what: 'removing one', act: () => notifications.remove('one'), left: 1, unreadLeft: 1 },
  ])('$what shows before the relay has answered', async ({ act, left, unreadLeft }) => {
    for (const call of [readNotification, readAllNotifications, deleteNotification]) {
      call.mockReturnValue(new Promise(() => undefined));
    }
    void act();
    await settled();
    expect(list().items).toHaveLength(left);
    expect(unread()).toBe(unreadLeft);
  });

  it.each([
    [
      'marking one',
      readNotification,
      () => notifications.read('one'),
      'Failed to mark notification as read. Please try again.',
    ],
    [
      'marking all',
      readAllNotifications,
      () => notifications.readAll(),
      'Failed to mark all notifications as read. Please try again.',
    ],
    [
      'removing',
      deleteNotification,
      () => notifications.remove('one'),
      'Failed to delete notification. Please try again.',
    ],
  ] as const)('%s is taken back when it fails, also offline', async (_what, call, act, sentence) => {
    call.mockRejectedValueOnce(refused('internal'));
    listNotifications.mockRejectedValue(refused('internal'));
    await expect(act()).rejects.toMatchObject({ code: 'internal', message: sentence });
    expect(list().items).toEqual([one, two]);
  });

  it('to a notification that is gone already takes it off the list', async () => {
    readNotification.mockRejectedValueOnce(refused('not-found'));
    listNotifications.mockResolvedValue([two]);
    await notifications.read('one');
    expect(list().items).toEqual([two]);
  });

  it('is not undone by a list that was asked for before it', async () => {
    let answer: (items: Notification[]) => void = () => undefined;
    listNotifications.mockReturnValueOnce(
      new Promise((resolve) => {
        answer = resolve;
      }),
    );
    const polled = notifications.poll();
    await notifications.readAll();
    answer([one, two]);
    await polled;
    expect(unread()).toBe(0);
  });
});
