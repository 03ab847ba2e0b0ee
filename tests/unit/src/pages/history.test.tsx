import { act, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { activeChatAtom, activeGroupAtom } from '#src/store/chats.ts';
import { contactsAtom } from '#src/store/contacts.ts';
import { groupsAtom } from '#src/store/groups.ts';
import { notificationsAtom } from '#src/store/notifications.ts';
import { createWorld, kaisa, loaded, veikko, withOpening } from '../support/app.tsx';
import { group } from '../support/groups.ts';
import { openApp } from '../support/openApp.tsx';
import { setWindowWidth } from '../support/windowWidth.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

/** Aino's dashboard, come to from another page, on a window this many pixels wide. */
async function openDashboard({ width = 1440, state }: { width?: number; state?: unknown } = {}) {
  setWindowWidth(width);
  const world = createWorld();
  withOpening(world);
  world.store.set(contactsAtom, loaded(veikko, kaisa));
  world.store.set(
    groupsAtom,
    loaded(group({ id: 'g1', name: 'Sailing' }), group({ id: 'g2', name: 'Sauna' })),
  );
  const { go, path } = openApp(world.store, '/about', { pathname: '/dashboard', state });
  await screen.findByRole('tab', { name: /Messages/ });
  return {
    ...world,
    user: userEvent.setup(),
    back: () => go(-1),
    forward: () => go(1),
    path,
    tab: (name: string) => screen.getByRole('tab', { name: new RegExp(`^${name}`) }),
  };
}

const chatInput = (name: string) => screen.queryByRole('textbox', { name: `Message to ${name}` });

describe('going back in the browser', () => {
  it('closes an open chat first, and leaves the dashboard then', async () => {
    const { user, back, forward, path, store } = await openDashboard();
    await user.click(screen.getByRole('button', { name: /veikko/ }));
    await waitFor(() => expect(chatInput('veikko')).toHaveFocus());
    await user.click(screen.getByRole('button', { name: /kaisa/ }));
    expect(chatInput('kaisa')).toBeVisible();

    await back();
    expect(path()).toBe('/dashboard');
    expect(store.get(activeChatAtom)).toBeNull();
    await forward();
    expect(chatInput('kaisa')).toBeVisible();
    await user.click(screen.getByRole('button', { name: 'Back to contacts' }));
    await waitFor(() => expect(chatInput('kaisa')).toBeNull());
    expect(path()).toBe('/dashboard');
    await back();
    await waitFor(() => expect(path()).toBe('/about'));
  });

  it('closes a group’s details on a phone, then the group', async () => {
    const { user, back, path, store, tab } = await openDashboard({ width: 360 });
    await user.click(tab('Groups'));
    await user.click(await screen.findByRole('button', { name: /Sailing/ }));
    await user.click(screen.getByRole('button', { name: 'Group Details' }));
    expect(screen.getByRole('region', { name: 'Group Details' })).toBeVisible();

    await back();
    expect(screen.queryByRole('region', { name: 'Group Details' })).toBeNull();
    expect(store.get(activeGroupAtom)).toBe('g1');
    await back();
    expect(store.get(activeGroupAtom)).toBeNull();
    expect(path()).toBe('/dashboard');
    await back();
    await waitFor(() => expect(path()).toBe('/about'));
  });

  it('closes the group at once where its details stand beside it', async () => {
    const { user, back, path, store, tab } = await openDashboard();
    await user.click(tab('Groups'));
    await user.click(await screen.findByRole('button', { name: /Sailing/ }));
    await user.click(screen.getByRole('button', { name: 'Group Details' }));
    await user.click(screen.getByRole('button', { name: 'Close details' }));
    await user.click(screen.getByRole('button', { name: 'Group Details' }));
    await back();
    expect(store.get(activeGroupAtom)).toBeNull();
    expect(path()).toBe('/dashboard');
  });

  it('closes the search for people', async () => {
    const { user, back, path, tab } = await openDashboard();
    await user.click(tab('Contacts'));
    await user.click(await screen.findByRole('button', { name: 'Find Users' }));
    await back();
    expect(await screen.findByRole('heading', { name: 'My Contacts' })).toBeVisible();
    await user.click(await screen.findByRole('button', { name: 'Find Users' }));
    await user.click(screen.getByRole('button', { name: 'Back to contacts' }));
    expect(await screen.findByRole('heading', { name: 'My Contacts' })).toBeVisible();
    await user.click(await screen.findByRole('button', { name: 'Find Users' }));
    await user.click(tab('Contacts'));
    expect(await screen.findByRole('heading', { name: 'My Contacts' })).toBeVisible();
    await back();
    await waitFor(() => expect(path()).toBe('/about'));
  });

  it('returns to the contacts from a chat that was opened there', async () => {
    const { user, back, tab } = await openDashboard();
    await user.click(tab('Contacts'));
    await user.click((await screen.findAllByRole('button', { name: 'Message' }))[0] as HTMLElement);
    expect(chatInput('veikko')).toHaveFocus();
    await back();
    expect(await screen.findByRole('heading', { name: 'My Contacts' })).toBeVisible();
  });
});

describe('the open chat of a tab', () => {
  it('is restored when a person returns to the tab of a wide window, without taking the focus', async () => {
    const { user, tab, store } = await openDashboard();
    await user.click(screen.getByRole('button', { name: /veikko/ }));
    await user.click(tab('Groups'));
    await user.click(await screen.findByRole('button', { name: /Sauna/ }));
    await user.click(tab('Messages'));
    expect(chatInput('veikko')).toBeVisible();
    expect(chatInput('veikko')).not.toHaveFocus();
    expect([store.get(activeChatAtom), store.get(activeGroupAtom)]).toEqual([veikko.id, null]);
    await user.click(tab('Groups'));
    expect(chatInput('Sauna')).toBeVisible();
    expect([store.get(activeChatAtom), store.get(activeGroupAtom)]).toEqual([null, 'g2']);
  });

  it('is closed when a person returns to the tab on a phone', async () => {
    const { user, tab } = await openDashboard({ width: 360 });
    await user.click(screen.getByRole('button', { name: /veikko/ }));
    await user.click(tab('Profile'));
    await user.click(tab('Messages'));
    expect(chatInput('veikko')).toBeNull();
  });

  it('survives a reload', async () => {
    const view = { tab: 'groups', open: 'g1', details: false };
    const { store } = await openDashboard({ state: { ownerId: 'aino-id', view, closable: 'open' } });
    expect(await screen.findByRole('textbox', { name: 'Message to Sailing' })).toBeVisible();
    expect(store.get(activeGroupAtom)).toBe('g1');
  });

  it('is not restored for another person in the same browser tab', async () => {
    const view = { tab: 'messages', open: veikko.id };
    const { store } = await openDashboard({ state: { ownerId: 'eino-id', view, closable: 'open' } });
    expect(store.get(activeChatAtom)).toBeNull();
  });
});

describe('a group that is gone', () => {
  it('closes once, and the dashboard stays', async () => {
    const { user, tab, store, path, back } = await openDashboard();
    await user.click(tab('Groups'));
    await user.click(await screen.findByRole('button', { name: /Sailing/ }));
    act(() => store.set(groupsAtom, loaded(group({ id: 'g2', name: 'Sauna' }))));
    expect(await screen.findByText('Welcome to Group Chat')).toBeVisible();
    await waitFor(() => expect(chatInput('Sailing')).toBeNull());
    expect(path()).toBe('/dashboard');
    await back();
    await waitFor(() => expect(path()).toBe('/about'));
  });
});

describe('a desktop notification', () => {
  const notification = {
    sender_id: kaisa.id,
    content: 'kaisa',
    created_at: '2026-06-01T12:00:00Z',
    read: false,
  };

  it('about a message leads to its chat', async () => {
    const { user, store } = await openDashboard();
    act(() => store.set(notificationsAtom, loaded({ ...notification, id: 'n1', type: 'message' as const })));
    await user.click(screen.getByRole('button', { name: 'Notifications, 1 unread' }));
    await user.click(await screen.findByRole('button', { name: /^kaisa sent you a message/ }));
    await waitFor(() => expect(store.get(activeChatAtom)).toBe(kaisa.id));
    await waitFor(() => expect(chatInput('kaisa')).toHaveFocus());
  });

  it.each(['contact_request', 'contact_accepted'] as const)('%s leads to the contacts', async (type) => {
    const { user, store } = await openDashboard();
    act(() => store.set(notificationsAtom, loaded({ ...notification, id: 'n1', type })));
    await user.click(screen.getByRole('button', { name: 'Notifications, 1 unread' }));
    await user.click(await screen.findByRole('button', { name: /^kaisa (wants|accepted)/ }));
    expect(await screen.findByRole('heading', { name: 'My Contacts' })).toBeVisible();
  });
});
