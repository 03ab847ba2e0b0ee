import { act, fireEvent, screen, within } from '@testing-library/react';
import { describe, expect, it, vi } from 'vitest';
import { chatsAtom } from '#src/store/chats.ts';
import { offlineAtom, presenceAtom } from '#src/store/connection.ts';
import { contactsAtom, outgoingRequestsAtom, type Person } from '#src/store/contacts.ts';
import { unloadedList } from '#src/store/loadedList.ts';
import { aino, chat, createWorld, failed, kaisa, loaded, message, veikko } from '../support/app.tsx';
import { openVeikko, showMessages, Tab } from '../support/messagesTab.tsx';

describe('the list of conversations', () => {
  it('shows presence, the last message and the unread count, the newest first', () => {
    const { store } = showMessages({
      [kaisa.id]: chat([message(kaisa.id, 'The dog sends its regards.')], { unread: 3 }),
      [veikko.id]: chat([message(aino.id, 'On my way', { timestamp: '2026-05-01T12:00:00.000Z' })]),
    });
    act(() => store.set(presenceAtom, { online: { [veikko.id]: true }, listed: true }));
    const rows = within(screen.getByRole('region', { name: 'Conversations' })).getAllByRole('listitem');
    expect(rows[0]).toHaveTextContent(/kaisa.*Offline.*The dog sends its regards\..*3 unread/);
    expect(rows[1]).toHaveTextContent(/veikko.*Online.*You: On my way/);
  });

  it('calls nobody offline while that is unknown, nor people who are no contacts', () => {
    const { store } = showMessages({ 'former-id': chat([message('former-id', 'Farewell')]) });
    const rows = () => screen.getAllByRole('button', { name: /kaisa|veikko|Unknown User/ });
    expect(rows()).toHaveLength(3);
    for (const row of rows()) expect(row).not.toHaveTextContent(/O(n|ff)line/);
    act(() => store.set(presenceAtom, { online: { [veikko.id]: false }, listed: false }));
    expect(screen.getByRole('button', { name: /veikko/ })).toHaveTextContent('Offline');
    expect(screen.getByRole('button', { name: /kaisa/ })).not.toHaveTextContent('Offline');
    act(() => store.set(presenceAtom, { online: {}, listed: true }));
    expect(screen.getByRole('button', { name: /kaisa/ })).toHaveTextContent('Offline');
    expect(screen.getByRole('button', { name: /Unknown User/ })).not.toHaveTextContent('Offline');
    act(() => store.set(offlineAtom, true));
    for (const row of rows()) expect(row).not.toHaveTextContent(/O(n|ff)line/);
  });

  it('filters by name while its search is on', async () => {
    const { user } = showMessages();
    await user.click(screen.getByRole('button', { name: 'Search in contacts' }));
    await user.type(screen.getByRole('searchbox'), 'VEIK');
    expect(screen.queryByRole('button', { name: /kaisa/ })).toBeNull();
    await user.type(screen.getByRole('searchbox'), 'zz');
    expect(screen.getByText('No contacts found matching "VEIKzz"')).toBeVisible();
    await user.click(screen.getByRole('button', { name: 'Search in contacts' }));
    expect(screen.getByRole('button', { name: /kaisa/ })).toBeVisible();
  });

  it('says that contacts load for at most 5 seconds, and that there are none only once that is known', async () => {
    vi.useFakeTimers();
    try {
      const { actions, store, show } = createWorld();
      show(<Tab />);
      expect(screen.getByText('Loading contacts...')).toBeVisible();
      await act(() => vi.advanceTimersByTimeAsync(4999));
      expect(screen.queryByText('Still loading…')).toBeNull();
      await act(() => vi.advanceTimersByTimeAsync(1));
      expect(screen.queryByText('Loading contacts...')).toBeNull();
      expect(screen.getByText('Still loading…')).toBeVisible();
      expect(screen.queryByText('No contacts yet')).toBeNull();
      act(() => screen.getByRole('button', { name: 'Try again' }).focus());
      fireEvent.click(screen.getByRole('button', { name: 'Try again' }));
      expect(actions.retryLists).toHaveBeenCalledOnce();
      expect(screen.getByText('Loading contacts...')).toBeVisible();
      expect(screen.getByRole('heading', { name: 'Messages' })).toHaveFocus();
      await act(() => vi.advanceTimersByTimeAsync(5000));
      expect(screen.getByText('Still loading…')).toBeVisible();
      act(() => store.set(contactsAtom, loaded()));
      expect(screen.queryByText('Still loading…')).toBeNull();
      expect(screen.getByText('No contacts yet')).toBeVisible();
    } finally {
      vi.useRealTimers();
    }
  });

  it('says when its contacts could not be loaded, and nothing of other lists', () => {
    const { store } = showMessages();
    act(() => {
      store.set(outgoingRequestsAtom, failed('Failed to load sent requests. Please try again.'));
      store.set(contactsAtom, failed('Failed to load contacts. Please try again.'));
    });
    expect(screen.getByRole('alert')).toHaveTextContent('Failed to load contacts. Please try again.');
    expect(screen.queryByText('No contacts yet')).toBeNull();
    expect(screen.queryByText('Loading contacts...')).toBeNull();
    act(() => store.set(contactsAtom, loaded(veikko)));
    expect(screen.queryByRole('alert')).toBeNull();
  });

  it('has all conversations when the contacts are old or missing, but calls nobody unknown before that is known', () => {
    const { store } = showMessages({ 'former-id': chat([message('former-id', 'Farewell')]) });
    const former = () => screen.queryByRole('button', { name: /Unknown User.*Farewell/ });
    act(() => store.set(contactsAtom, { ...unloadedList, loading: true }));
    expect(former()).toBeNull();
    for (const list of [failed('Failed', veikko), failed<Person>('Failed')]) {
      act(() => store.set(contactsAtom, list));
      expect(former()).toBeVisible();
    }
  });

  it('leads to finding people when there is nobody', async () => {
    const { store, user, onFindContacts } = showMessages();
    act(() => store.set(contactsAtom, loaded()));
    await user.click(screen.getByRole('button', { name: 'Find Contacts' }));
    expect(onFindContacts).toHaveBeenCalledOnce();
  });

  it('keeps a conversation with somebody who is no contact any more, and leaves groups to their own tab', () => {
    showMessages({
      'former-id': chat([message('former-id', 'Farewell')]),
      'group-1': chat([message(veikko.id, 'For all of you')]),
    });
    expect(screen.getByRole('button', { name: /Unknown User.*Farewell/ })).toBeVisible();
    expect(screen.queryByText('For all of you')).toBeNull();
  });
});

describe('a list of 5,000 contacts', () => {
  const many = Array.from({ length: 5000 }, (_, index) => ({
    id: `id-${index}`,
    username: `person ${String(index).padStart(4, '0')}`,
    email: '',
  }));
  const rows = () => within(screen.getByRole('region', { name: 'Conversations' })).getAllByRole('listitem');

  it('draws the rows in sight, those with messages first and the rest by name', () => {
    const { store } = showMessages();
    act(() => {
      store.set(contactsAtom, loaded(...many.toReversed()));
      store.set(chatsAtom, { 'id-4711': chat([message('id-4711', 'Hello')]) });
    });
    expect(rows().length).toBeLessThan(40);
    expect(rows()[0]).toHaveTextContent('person 4711');
    expect(rows()[1]).toHaveTextContent('person 0000');
    expect(rows()[1]).toHaveAttribute('aria-setsize', '5000');
  });

  it('can be walked by keys, and each row opens its chat', async () => {
    const { actions, store, user } = showMessages();
    act(() => store.set(contactsAtom, loaded(...many)));
    act(() => rows()[0]?.querySelector('button')?.focus());
    await user.keyboard('{End}{ArrowUp}{Enter}');
    expect(actions.openChat).toHaveBeenLastCalledWith('id-4998');
  });

  it('finds one of them', async () => {
    const { store, user } = showMessages();
    act(() => store.set(contactsAtom, loaded(...many)));
    await user.click(screen.getByRole('button', { name: 'Search in contacts' }));
    await user.type(screen.getByRole('searchbox'), '3141');
    expect(rows().map(({ textContent }) => textContent)).toEqual([expect.stringContaining('person 3141')]);
  });
});

describe('a draft', () => {
  it('is named in the list while its chat is not open', async () => {
    const { user, input } = await openVeikko(message(veikko.id, 'The latest'));
    await user.type(input, 'Almost  done');
    const row = within(screen.getByRole('region', { name: 'Conversations' })).getByRole('button', {
      name: /veikko/,
    });
    expect(row).toHaveTextContent('The latest');
    await user.click(screen.getByRole('button', { name: /kaisa/ }));
    expect(row).toHaveTextContent('Draft: Almost done');
    expect(row).not.toHaveTextContent('The latest');
  });
});
