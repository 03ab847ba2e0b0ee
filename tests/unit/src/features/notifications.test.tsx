import { act, screen, waitFor, within } from '@testing-library/react';
import { describe, expect, it, vi } from 'vitest';
import { NotificationBell } from '#src/features/notifications/NotificationBell.tsx';
import { unloadedList } from '#src/store/loadedList.ts';
import { type Notification, notificationsAtom } from '#src/store/notifications.ts';
import { createWorld, failed, kaisa, loaded, veikko } from '../support/app.tsx';

const fromKaisa: Notification = {
  id: 'n1',
  type: 'message',
  sender_id: kaisa.id,
  content: 'kaisa',
  created_at: '2026-06-01T12:00:00.000Z',
  read: false,
};
const asked: Notification = { ...fromKaisa, id: 'n2', type: 'contact_request', content: '<b>eino</b>' };
const accepted: Notification = {
  ...fromKaisa,
  id: 'n3',
  type: 'contact_accepted',
  content: 'veikko',
  sender_id: veikko.id,
  read: true,
};

async function openBell(...notifications: Notification[]) {
  const world = createWorld();
  world.store.set(notificationsAtom, loaded(...notifications));
  const onOpenChat = vi.fn<(userId: string) => void>();
  const onOpenContacts = vi.fn<() => void>();
  const user = world.show(<NotificationBell onOpenChat={onOpenChat} onOpenContacts={onOpenContacts} />);
  await user.click(screen.getByRole('button', { name: /^Notifications/ }));
  const list = within(await screen.findByRole('dialog', { name: 'Notifications' }));
  return { ...world, user, list, onOpenChat, onOpenContacts };
}

describe('the bell', () => {
  it('counts what is unread', async () => {
    const { store, user } = await openBell(fromKaisa, asked, accepted);
    await user.keyboard('{Escape}');
    expect(await screen.findByRole('button', { name: 'Notifications, 2 unread' })).toHaveTextContent('2');
    const many = Array.from({ length: 120 }, (_, index) => ({ ...fromKaisa, id: `n${index}` }));
    act(() => store.set(notificationsAtom, loaded(...many)));
    expect(screen.getByRole('button', { name: 'Notifications, 120 unread' })).toHaveTextContent('99+');
    act(() => store.set(notificationsAtom, loaded(accepted)));
    expect(screen.getByRole('button', { name: 'Notifications' })).toHaveTextContent(/^$/);
  });

  it('gives the focus back when Escape closes its list', async () => {
    const { user } = await openBell(fromKaisa);
    await user.keyboard('{Escape}');
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
    expect(screen.getByRole('button', { name: 'Notifications, 1 unread' })).toHaveFocus();
  });
});

describe('the list of notifications', () => {
  it('shows each event with its time, markup as text, and marks unread ones', async () => {
    const { list } = await openBell(fromKaisa, asked, accepted);
    expect(list.getAllByRole('listitem').map(({ textContent }) => textContent)).toEqual([
      expect.stringMatching(/^kaisa sent you a message.+Unread$/),
      expect.stringMatching(/^<b>eino<\/b> wants to be your contact.+Unread$/),
      expect.stringMatching(/^veikko accepted your contact request.+[^d]$/),
    ]);
    expect(document.querySelector('b')).toBeNull();
  });

  it('has an icon of its own for each type', async () => {
    const { list } = await openBell(fromKaisa, asked, accepted);
    const icons = list.getAllByRole('listitem').map((row) => row.querySelector('svg')?.outerHTML);
    expect(icons).not.toContain(undefined);
    expect(new Set(icons).size).toBe(3);
  });

  it('says that there are none yet', async () => {
    const { list } = await openBell();
    expect(list.getByText('No notifications yet')).toBeVisible();
    expect(list.queryByRole('button', { name: 'Mark all as read' })).toBeNull();
  });

  it('says when it could not be loaded', async () => {
    const { list, store } = await openBell();
    act(() => {
      store.set(notificationsAtom, failed('Failed to load notifications. Please try again.'));
    });
    expect(list.getByRole('alert')).toHaveTextContent('Failed to load notifications. Please try again.');
    expect(list.queryByText('No notifications yet')).toBeNull();
    expect(list.getByRole('button', { name: 'Try again' })).toBeEnabled();
  });

  it('marks a message as read when it is followed to its chat', async () => {
    const { actions, list, user, onOpenChat, onOpenContacts } = await openBell(fromKaisa);
    await user.click(list.getByRole('button', { name: /^kaisa/ }));
    expect(actions.readNotification).toHaveBeenCalledExactlyOnceWith('n1');
    expect(onOpenChat).toHaveBeenCalledExactlyOnceWith(kaisa.id);
    expect(onOpenContacts).not.toHaveBeenCalled();
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
  });

  it.each([
    [asked, 1],
    [accepted, 0],
  ])('leads from $type to the contacts', async (notification, marked) => {
    const { actions, list, user, onOpenChat, onOpenContacts } = await openBell(notification);
    await user.click(list.getByRole('button', { name: /^(<b>eino|veikko)/ }));
    expect(onOpenContacts).toHaveBeenCalledOnce();
    expect(onOpenChat).not.toHaveBeenCalled();
    expect(actions.readNotification).toHaveBeenCalledTimes(marked);
  });

  it('goes nowhere for a message without a sender', async () => {
    const { actions, list, user, onOpenChat } = await openBell({ ...fromKaisa, sender_id: '', content: '' });
    await user.click(list.getByRole('button', { name: /^Somebody/ }));
    expect(actions.readNotification).toHaveBeenCalledOnce();
    expect(onOpenChat).not.toHaveBeenCalled();
  });

  it('marks all as read, and deletes one, and says when it could not', async () => {
    const { actions, list, user, toasts } = await openBell(fromKaisa, asked);
    actions.readAllNotifications.mockRejectedValueOnce(new Error('boom'));
    actions.deleteNotification.mockRejectedValueOnce(new Error('boom'));
    await user.click(list.getByRole('button', { name: 'Mark all as read' }));
    await user.click(list.getByRole('button', { name: 'Delete notification: kaisa sent you a message' }));
    expect(actions.readAllNotifications).toHaveBeenCalledOnce();
    expect(actions.deleteNotification).toHaveBeenCalledExactlyOnceWith('n1');
    await waitFor(() =>
      expect(toasts()).toEqual([
        'error: Failed to mark all notifications as read. Please try again.',
        'error: Failed to delete notification. Please try again.',
      ]),
    );
  });

  it('says when one could not be marked as read', async () => {
    const { actions, list, user, toasts } = await openBell(fromKaisa);
    actions.readNotification.mockRejectedValue(new Error('boom'));
    await user.click(list.getByRole('button', { name: /^kaisa/ }));
    await waitFor(() =>
      expect(toasts()).toEqual(['error: Failed to mark notification as read. Please try again.']),
    );
  });
});

describe('200 notifications', () => {
  it('are drawn as far as they are in sight, and reached by keyboard to the last', async () => {
    const many = Array.from({ length: 200 }, (_, index) => ({ ...fromKaisa, id: `n${index}` }));
    const { list, user } = await openBell(...many);
    const rows = list.getAllByRole('listitem');
    expect(rows.length).toBeLessThan(60);
    act(() => within(rows[0]!).getAllByRole('button')[0]!.focus());
    await user.keyboard('{End}');
    await waitFor(() =>
      expect(document.activeElement?.closest('li')).toHaveAttribute('aria-posinset', '200'),
    );
  });

  it('move the focus on when the focused one is deleted', async () => {
    const { actions, list, store, user } = await openBell(fromKaisa, asked, accepted);
    actions.deleteNotification.mockImplementation(async () =>
      store.set(notificationsAtom, loaded(fromKaisa, accepted)),
    );
    await user.click(list.getByRole('button', { name: /^Delete notification: .*eino/ }));
    await waitFor(() => expect(document.activeElement).toHaveTextContent(/veikko accepted/));
  });
});

describe('a screen reader', () => {
  it('hears of new requests, but not of messages, which are announced elsewhere', async () => {
    const { store } = await openBell();
    const spoken = () =>
      screen
        .getAllByRole('status', { hidden: true })
        .map(({ textContent }) => textContent)
        .join('');
    const old = { ...asked, id: 'old', content: 'maija' };
    act(() => store.set(notificationsAtom, { ...unloadedList, loading: true }));
    expect(spoken()).not.toContain('maija');
    act(() => store.set(notificationsAtom, loaded({ ...asked, content: 'eino' }, old)));
    expect(spoken()).toContain('eino wants to be your contact');
    act(() => store.set(notificationsAtom, loaded(fromKaisa, asked, old)));
    expect(spoken()).toContain('eino wants to be your contact');
  });
});
