import { act, screen, waitFor } from '@testing-library/react';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { activateLocale } from '#src/i18n/i18n.ts';
import { localeNames, pseudoLocale } from '#src/i18n/locales.ts';
import { DashboardPage } from '#src/pages/dashboard/DashboardPage.tsx';
import { chatsAtom } from '#src/store/chats.ts';
import { contactsAtom, incomingRequestsAtom, outgoingRequestsAtom } from '#src/store/contacts.ts';
import { groupsAtom } from '#src/store/groups.ts';
import { notificationsAtom } from '#src/store/notifications.ts';
import { dayLabel, fullTimestamp, shortMoment, timeOfDay } from '#src/ui/format.ts';
import {
  aino,
  chat,
  createWorld,
  failed,
  kaisa,
  loaded,
  message,
  veikko,
  withOpening,
} from '../support/app.tsx';
import { wordsOutsideCatalogue } from '../support/catalogueOnly.ts';
import { group } from '../support/groups.ts';
import { setWindowWidth } from '../support/windowWidth.ts';

const created_at = '2026-06-01T12:00:00.000Z';
const people = [aino, veikko, kaisa].flatMap(({ username, email }) => [username, email]);
const same = [...people, ...Object.values(localeNames), 'Sinetti', 'Sailing', 'address: /dashboard', 'hello'];
const keys = ['Alt', 'Ctrl', 'Shift', 'Enter', 'Esc', 'Del'];
/** The moments on screen as `Intl` writes them. */
const moments = () =>
  [created_at, aino.created_at].flatMap((moment) => [
    fullTimestamp(moment),
    timeOfDay(moment),
    dayLabel(moment, new Date()),
    shortMoment(moment, new Date()),
  ]);

beforeEach(() => activateLocale(pseudoLocale));
afterEach(() => activateLocale('en'));

async function openDashboard() {
  setWindowWidth(1440);
  const world = createWorld();
  const { store } = world;
  withOpening(world);
  store.set(contactsAtom, loaded(veikko));
  store.set(incomingRequestsAtom, loaded({ id: 'in', from_user: kaisa, created_at }));
  store.set(outgoingRequestsAtom, loaded({ id: 'out', to_user: kaisa, created_at }));
  const gone = message(aino.id, { kind: 'deleted' });
  const hello = message(veikko.id, 'hello', {
    isEdited: true,
    quote: { message: gone },
    reactions: [{ emoji: '👍️', userIds: [aino.id] }],
    unsentChanges: [{ messageId: 'change', kind: 'reaction', status: 'failed' }],
  });
  const lost = message(veikko.id, 'hello', { quote: { message: null } });
  store.set(chatsAtom, { [veikko.id]: chat([gone, lost, hello], { unread: 1 }) });
  store.set(groupsAtom, loaded(group()));
  store.set(
    notificationsAtom,
    loaded(
      { id: 'n', type: 'message', sender_id: veikko.id, content: 'veikko', created_at, read: false },
      { id: 'm', type: 'contact_request', sender_id: kaisa.id, content: 'kaisa', created_at, read: true },
    ),
  );
  const user = world.show(<DashboardPage />, '/dashboard');
  await screen.findAllByRole('tab');
  const tab = async (index: number) => {
    await user.click(screen.getAllByRole('tab')[index]!);
    await waitFor(() => expect(screen.getAllByRole('tabpanel')).toHaveLength(1));
  };
  return { ...world, user, tab };
}

const outside = () => wordsOutsideCatalogue([...same, ...keys, ...moments()]);

describe('every word comes from the catalogue', () => {
  it('in a chat and its emoji picker', async () => {
    const { user } = await openDashboard();
    await user.click(screen.getByRole('button', { name: /veikko/ }));
    await user.click(await screen.findByRole('button', { name: '⟦Emoji⟧' }));
    await screen.findByRole('gridcell', { name: 'fire' });
    expect(outside()).toEqual([]);
  });

  it('in the menu of a message, and where it leads', async () => {
    const { user } = await openDashboard();
    await user.click(screen.getByRole('button', { name: /veikko/ }));
    const openMenu = async () => {
      await user.click((await screen.findAllByRole('button', { name: '⟦Message actions⟧' })).at(-1)!);
      await screen.findByRole('menu');
    };
    await openMenu();
    expect(outside()).toEqual([]);
    await user.click(screen.getByRole('menuitem', { name: '⟦Reactions⟧' }));
    await screen.findByRole('dialog');
    expect(outside()).toEqual([]);
    await user.keyboard('{Escape}');
    await openMenu();
    await user.click(screen.getByRole('menuitem', { name: '⟦Reply⟧' }));
    expect(outside()).toEqual([]);
    await openMenu();
    await user.click(screen.getByRole('menuitem', { name: '⟦Delete⟧' }));
    await screen.findByRole('alertdialog');
    expect(outside()).toEqual([]);
  });

  it('in a group and its details', async () => {
    const { tab, user } = await openDashboard();
    await tab(1);
    await user.click(await screen.findByRole('button', { name: /Sailing/ }));
    await user.click(await screen.findByRole('button', { name: '⟦Group Details⟧' }));
    await screen.findByText('⟦Delete Group⟧');
    expect(outside()).toEqual([]);
  });

  it('in the contacts, their search, and what went wrong', async () => {
    const { store, tab, user } = await openDashboard();
    await tab(2);
    await screen.findByText('⟦My Contacts⟧');
    expect(outside()).toEqual([]);
    act(() => {
      store.set(contactsAtom, loaded());
      store.set(incomingRequestsAtom, loaded());
    });
    expect(screen.getByText('⟦Your contacts list is empty.⟧')).toBeVisible();
    expect(outside()).toEqual([]);
    act(() => {
      store.set(contactsAtom, failed('', veikko));
      store.set(incomingRequestsAtom, failed(''));
    });
    expect(screen.getByText('⟦This list may be out of date.⟧')).toBeVisible();
    expect(outside()).toEqual([]);
    await user.click(screen.getByRole('button', { name: '⟦Find Users⟧' }));
    await user.type(await screen.findByRole('searchbox'), 'hello');
    await screen.findByText(/No users found/);
    expect(outside()).toEqual([]);
  });

  it('in the notifications', async () => {
    const { user } = await openDashboard();
    await user.click(screen.getByRole('button', { name: /Notifications, 1 unread/ }));
    await screen.findByRole('dialog');
    expect(outside()).toEqual([]);
  });

  it('in the profile with its settings, and in the keyboard shortcuts', async () => {
    const { tab, user } = await openDashboard();
    await tab(3);
    await user.click(await screen.findByRole('button', { name: '⟦Show shortcuts⟧' }));
    await screen.findByRole('dialog');
    expect(outside()).toEqual([]);
  });
});
