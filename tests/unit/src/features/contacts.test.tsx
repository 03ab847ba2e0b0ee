import { act, fireEvent, screen, waitFor, within } from '@testing-library/react';
import { describe, expect, it, vi } from 'vitest';
import { ContactsTab } from '#src/features/contacts/ContactsTab.tsx';
import { offeredPeople } from '#src/features/contacts/search.ts';
import { AppError } from '#src/lib/appError.ts';
import { offlineAtom, presenceAtom } from '#src/store/connection.ts';
import {
  contactsAtom,
  incomingRequestsAtom,
  outgoingRequestsAtom,
  type Person,
} from '#src/store/contacts.ts';
import { type LoadedList, unloadedList } from '#src/store/loadedList.ts';
import { avatarHue } from '#src/ui/Avatar.tsx';
import { aino, createWorld, failed, kaisa, loaded, veikko } from '../support/app.tsx';

const eino: Person = { id: 'eino-id', username: 'eino', email: 'eino@example.fi' };
const request = { id: 'request-1', from_user: eino, created_at: '2026-06-01T12:00:00.000Z' };

function showContacts(view: 'management' | 'search' = 'management') {
  const world = createWorld();
  world.store.set(contactsAtom, loaded(veikko));
  world.store.set(incomingRequestsAtom, loaded(request));
  world.store.set(outgoingRequestsAtom, loaded());
  const onViewChange = vi.fn<(next: 'management' | 'search') => void>();
  const onMessage = vi.fn<(userId: string) => void>();
  const user = world.show(<ContactsTab view={view} onViewChange={onViewChange} onMessage={onMessage} />);
  return { ...world, user, onViewChange, onMessage };
}

describe('managing contacts', () => {
  it('lists incoming requests with their email addresses', () => {
    showContacts();
    const requests = screen.getByRole('region', { name: /Contact Requests/ });
    expect(within(requests).getByRole('listitem')).toHaveTextContent(/eino.*eino@example\.fi/);
  });

  it('accepts and says so', async () => {
    const { actions, user, toasts } = showContacts();
    await user.click(screen.getByRole('button', { name: 'Accept' }));
    expect(actions.acceptContactRequest).toHaveBeenCalledExactlyOnceWith('request-1');
    await waitFor(() => expect(toasts()).toEqual(['success: Contact request accepted successfully!']));
  });

  it('blocks who sends a request, or a contact, only after asking', async () => {
    const { actions, user, toasts } = showContacts();
    const answer = async (name: string) => {
      await user.click(within(await screen.findByRole('alertdialog')).getByRole('button', { name }));
      await waitFor(() => expect(screen.queryByRole('alertdialog')).toBeNull());
    };
    await user.click(screen.getByRole('button', { name: 'Block' }));
    expect(await screen.findByRole('alertdialog')).toHaveTextContent(/requests from eino, and groups/);
    await answer('Cancel');
    expect(actions.updateBlocks).not.toHaveBeenCalled();
    await user.click(screen.getByRole('button', { name: 'Block' }));
    await answer('Block');
    await user.click(screen.getByRole('button', { name: 'More about veikko' }));
    await user.click(await screen.findByRole('menuitem', { name: 'Block' }));
    await answer('Block');
    expect(actions.updateBlocks.mock.calls).toEqual([
      [{ userId: 'eino-id', blocked: true }],
      [{ userId: veikko.id, blocked: true }],
    ]);
    expect(toasts()).toContain('success: Blocked.');
  });

  it('declines and says so', async () => {
    const { actions, user, toasts } = showContacts();
    await user.click(screen.getByRole('button', { name: 'Decline' }));
    expect(actions.rejectContactRequest).toHaveBeenCalledExactlyOnceWith('request-1');
    await waitFor(() => expect(toasts()).toEqual(['success: Contact request rejected']));
  });

  it.each([
    [
      new AppError('not-found', 'Failed to accept request (404): gone'),
      'Failed to accept request (404): gone',
    ],
    [new Error('boom'), 'Failed to accept request. Please try again.'],
  ])('says why it could not accept: %s', async (error, sentence) => {
    const { actions, user, toasts } = showContacts();
    actions.acceptContactRequest.mockRejectedValue(error);
    await user.click(screen.getByRole('button', { name: 'Accept' }));
    await waitFor(() => expect(toasts()).toEqual([`error: ${sentence}`]));
    expect(screen.getByRole('button', { name: 'Accept' })).toBeEnabled();
  });

  it('says that there is nothing to see', () => {
    const { store } = showContacts();
    act(() => {
      store.set(contactsAtom, loaded());
      store.set(incomingRequestsAtom, loaded());
    });
    expect(screen.getByText("You're all caught up! No pending contact requests.")).toBeVisible();
    expect(screen.getByText('Your contacts list is empty.')).toBeVisible();
    expect(screen.queryByText('Sent Requests')).toBeNull();
  });

  it('shows loading, presence and sent requests', () => {
    const { store } = showContacts();
    act(() => {
      store.set(presenceAtom, { online: { [veikko.id]: true }, listed: true });
      store.set(
        outgoingRequestsAtom,
        loaded({ id: 'out-1', to_user: { id: kaisa.id, username: 'kaisa' }, created_at: '' }),
      );
    });
    expect(screen.getByRole('region', { name: 'My Contacts' })).toHaveTextContent(/veikko.*Online/);
    expect(screen.getByRole('region', { name: 'Sent Requests' })).toHaveTextContent('kaisa');
    act(() => store.set(contactsAtom, { ...unloadedList, loading: true }));
    expect(screen.getByText('Loading contacts...')).toBeVisible();
  });

  it('lets a sent request be withdrawn', async () => {
    const { actions, store, toasts, user } = showContacts();
    const to_user = { id: kaisa.id, username: 'kaisa' };
    act(() => store.set(outgoingRequestsAtom, loaded({ id: 'out-1', to_user, created_at: '' })));
    actions.withdrawContactRequest.mockImplementation(async () => store.set(outgoingRequestsAtom, loaded()));
    await user.click(screen.getByRole('button', { name: 'Withdraw' }));
    expect(actions.withdrawContactRequest).toHaveBeenCalledExactlyOnceWith(kaisa.id);
    await waitFor(() => expect(toasts()).toEqual(['success: Request withdrawn.']));
    await waitFor(() => expect(screen.getByRole('heading', { name: 'My Contacts' })).toHaveFocus());
  });

  it('gives each contact a circle of 40 pixels, coloured by the name', () => {
    showContacts();
    const avatar = within(screen.getByRole('region', { name: 'My Contacts' })).getByText('V');
    expect(avatar.style.getPropertyValue('--avatar-size')).toBe('40px');
    expect(avatar.style.getPropertyValue('--avatar-hue')).toBe(String(avatarHue('veikko')));
  });

  it('opens the chat with a contact', async () => {
    const { user, onMessage } = showContacts();
    await user.click(screen.getByRole('button', { name: 'Message' }));
    expect(onMessage).toHaveBeenCalledExactlyOnceWith(veikko.id);
  });

  it('removes a contact only after asking', async () => {
    const { actions, user, toasts } = showContacts();
    actions.removeContact.mockRejectedValueOnce(new Error('boom'));
    const choose = async (answer: string) => {
      await user.click(screen.getByRole('button', { name: 'More about veikko' }));
      await user.click(await screen.findByRole('menuitem', { name: 'Remove contact' }));
      await user.click(within(await screen.findByRole('alertdialog')).getByRole('button', { name: answer }));
      await waitFor(() => expect(screen.queryByRole('alertdialog')).toBeNull());
    };
    await choose('Cancel');
    expect(actions.removeContact).not.toHaveBeenCalled();
    await choose('Remove');
    expect(actions.removeContact).toHaveBeenCalledExactlyOnceWith(veikko.id);
    expect(toasts()).toEqual(['error: Failed to remove contact. Please try again.']);
  });

  it('leads to the search', async () => {
    const { user, onViewChange } = showContacts();
    await user.click(screen.getByRole('button', { name: 'Find Users' }));
    expect(onViewChange).toHaveBeenCalledExactlyOnceWith('search');
  });
});

describe('lists that could not be loaded', () => {
  const sentences = {
    contacts: 'Failed to load contacts. Please try again.',
    requests: 'Failed to load contact requests. Please try again.',
    sent: 'Failed to load sent requests. Please try again.',
  };
  const section = (name: RegExp) => within(screen.getByRole('region', { name }));
  const tryAgain = (name: RegExp) => section(name).getByRole('button', { name: 'Try again' });

  it('say so in their own sections, and none is said to be empty', () => {
    const { store } = showContacts();
    act(() => {
      store.set(contactsAtom, failed(sentences.contacts));
      store.set(incomingRequestsAtom, failed(sentences.requests));
      store.set(outgoingRequestsAtom, failed(sentences.sent));
    });
    expect(section(/My Contacts/).getByRole('alert')).toHaveTextContent(sentences.contacts);
    expect(section(/Contact Requests/).getByRole('alert')).toHaveTextContent(sentences.requests);
    expect(section(/Sent Requests/).getByRole('alert')).toHaveTextContent(sentences.sent);
    expect(screen.queryByText('Your contacts list is empty.')).toBeNull();
    expect(screen.queryByText(/all caught up/)).toBeNull();
    act(() => store.set(outgoingRequestsAtom, loaded()));
    expect(screen.queryByRole('region', { name: /Sent Requests/ })).toBeNull();
  });

  it('are loaded again on request, and the focus stays on the button or moves to the heading', async () => {
    const { actions, store, user } = showContacts();
    act(() => store.set(contactsAtom, failed(sentences.contacts)));
    const end = (list: LoadedList<Person>) => act(() => store.set(contactsAtom, list));
    actions.retryLists.mockImplementation(async () =>
      store.set(contactsAtom, { ...failed(sentences.contacts), loading: true }),
    );
    await user.click(tryAgain(/My Contacts/));
    expect(actions.retryLists).toHaveBeenCalledOnce();
    expect(tryAgain(/My Contacts/)).toHaveAttribute('aria-busy', 'true');
    end(failed(sentences.contacts));
    expect(tryAgain(/My Contacts/)).toHaveFocus();
    await user.keyboard('{Enter}');
    end(loaded(veikko));
    expect(screen.getByRole('heading', { name: 'My Contacts' })).toHaveFocus();
  });

  it('are shown as they were kept and called old, except offline, where the header says so', () => {
    const { store } = showContacts();
    act(() => store.set(contactsAtom, failed(sentences.contacts, veikko)));
    const contacts = section(/My Contacts/);
    expect(contacts.getByText('veikko')).toBeVisible();
    expect(contacts.getByRole('status')).toHaveTextContent('This list may be out of date.');
    expect(contacts.queryByRole('alert')).toBeNull();
    act(() => store.set(offlineAtom, true));
    expect(contacts.queryByRole('status')).toBeNull();
  });
});

describe('the focus among contacts', () => {
  it('moves to the heading when a request is answered', async () => {
    const { actions, store, user } = showContacts();
    actions.acceptContactRequest.mockImplementation(async () => store.set(incomingRequestsAtom, loaded()));
    await user.click(screen.getByRole('button', { name: 'Accept' }));
    await waitFor(() => expect(screen.getByRole('heading', { name: /Contact Requests/ })).toHaveFocus());
  });

  it('moves to the heading when a contact is removed, and returns to the button on Cancel', async () => {
    const { actions, store, user } = showContacts();
    actions.removeContact.mockImplementation(async () => store.set(contactsAtom, loaded()));
    const more = () => screen.getByRole('button', { name: 'More about veikko' });
    const ask = async (answer: string) => {
      await user.click(more());
      await user.click(await screen.findByRole('menuitem', { name: 'Remove contact' }));
      await user.click(within(await screen.findByRole('alertdialog')).getByRole('button', { name: answer }));
      await waitFor(() => expect(screen.queryByRole('alertdialog')).toBeNull());
    };
    await ask('Cancel');
    await waitFor(() => expect(more()).toHaveFocus());
    await ask('Remove');
    await waitFor(() => expect(screen.getByRole('heading', { name: 'My Contacts' })).toHaveFocus());
  });
});

describe('5,000 contacts', () => {
  it('are drawn as far as they are in sight, and reached by keyboard to the last', async () => {
    const { store, user } = showContacts();
    const many = Array.from({ length: 5000 }, (_, index) => ({
      id: `id-${index}`,
      username: `person ${String(index).padStart(4, '0')}`,
      email: '',
    }));
    act(() => store.set(contactsAtom, loaded(...many)));
    const contacts = screen.getByRole('region', { name: 'My Contacts' });
    expect(within(contacts).getAllByRole('listitem').length).toBeLessThan(200);
    expect(within(contacts).getAllByRole('listitem')[0]).toHaveAttribute('aria-setsize', '5000');
    act(() => within(contacts).getAllByRole('button', { name: 'Message' })[0]!.focus());
    await user.keyboard('{End}');
    await waitFor(() => expect(document.activeElement?.closest('li')).toHaveTextContent('person 4999'));
  });
});

describe('finding people', () => {
  it('asks for nothing below two characters', async () => {
    vi.useFakeTimers();
    try {
      const { actions } = showContacts('search');
      const input = screen.getByPlaceholderText('Search by email or username...');
      expect(screen.getByText('Minimum 2 characters required')).toBeVisible();
      for (const value of [' k ', '   ', '']) {
        fireEvent.change(input, { target: { value } });
        await act(() => vi.runAllTimersAsync());
      }
      expect(actions.searchUsers).not.toHaveBeenCalled();
      fireEvent.change(input, { target: { value: 'ka' } });
      await act(() => vi.runAllTimersAsync());
      expect(actions.searchUsers).toHaveBeenCalledExactlyOnceWith('ka');
    } finally {
      vi.useRealTimers();
    }
  });

  it('searches once for the typed text, and adds a person it finds', async () => {
    const { actions, user, toasts } = showContacts('search');
    actions.searchUsers.mockResolvedValue([kaisa]);
    await user.type(screen.getByRole('searchbox'), ' kaisa ');
    await user.click(await screen.findByRole('button', { name: 'Add Contact' }));
    expect(actions.searchUsers).toHaveBeenCalledExactlyOnceWith('kaisa');
    expect(actions.sendContactRequest).toHaveBeenCalledExactlyOnceWith(kaisa.id);
    await waitFor(() => expect(toasts()).toEqual(['success: Contact request sent successfully']));
  });

  it.each([
    ['Already asked.', 'Already asked.'],
    ['', 'Failed to send contact request. Please try again.'],
  ])('shows a refusal that says %j', async (said, shown) => {
    const { actions, user, toasts } = showContacts('search');
    actions.searchUsers.mockResolvedValue([kaisa]);
    actions.sendContactRequest.mockResolvedValue({ success: false, message: said });
    await user.type(screen.getByRole('searchbox'), 'kaisa');
    await user.click(await screen.findByRole('button', { name: 'Add Contact' }));
    await waitFor(() => expect(toasts()).toEqual([`error: ${shown}`]));
  });

  it('offers no second request while one is pending in either direction', async () => {
    const { actions, store, user } = showContacts('search');
    store.set(
      outgoingRequestsAtom,
      loaded({ id: 'out-1', to_user: { id: kaisa.id, username: 'kaisa' }, created_at: '' }),
    );
    actions.searchUsers.mockResolvedValue([kaisa, eino]);
    await user.type(screen.getByRole('searchbox'), 'example.fi');
    expect(await screen.findByText('Request sent')).toBeVisible();
    expect(screen.getByText('Asked to connect with you')).toBeVisible();
    expect(screen.queryByRole('button', { name: 'Add Contact' })).toBeNull();
  });

  it('names the query without a match, markup as text', async () => {
    const { user } = showContacts('search');
    await user.type(screen.getByRole('searchbox'), '<b>x</b>');
    expect(await screen.findByText('No users found matching "<b>x</b>"')).toBeVisible();
  });

  it('says when the search fails, and clears it with the query', async () => {
    const { actions, user } = showContacts('search');
    actions.searchUsers.mockRejectedValue(new Error('boom'));
    await user.type(screen.getByRole('searchbox'), 'kaisa');
    expect(await screen.findByRole('alert')).toHaveTextContent('Failed to search users. Please try again.');
    await user.clear(screen.getByRole('searchbox'));
    expect(screen.queryByRole('alert')).toBeNull();
  });

  it('drops the answer to an older query', async () => {
    const { actions, user } = showContacts('search');
    const answers = new Map<string, (people: readonly Person[]) => void>();
    actions.searchUsers.mockImplementation((query) => new Promise((resolve) => answers.set(query, resolve)));
    await user.type(screen.getByRole('searchbox'), 'ka');
    await waitFor(() => expect(answers.has('ka')).toBe(true));
    await user.type(screen.getByRole('searchbox'), 'isa');
    await waitFor(() => expect(answers.has('kaisa')).toBe(true));
    await act(async () => answers.get('kaisa')?.([kaisa]));
    await act(async () => answers.get('ka')?.([{ ...kaisa, id: 'other', username: 'kalle' }]));
    expect(screen.getByText('kaisa')).toBeVisible();
    expect(screen.queryByText('kalle')).toBeNull();
  });
});

describe('offeredPeople', () => {
  const exclude = { ownId: aino.id, contactIds: new Set([veikko.id]) };

  it('leaves out oneself, contacts and what does not match', () => {
    const results = [aino, veikko, kaisa, eino];
    expect(offeredPeople(results, ' EXAMPLE.fi ', exclude)).toEqual([kaisa, eino]);
    expect(offeredPeople(results, 'kai', exclude)).toEqual([kaisa]);
    expect(offeredPeople(results, 'eino-id', exclude)).toEqual([eino]);
    expect(offeredPeople(results, 'nobody', exclude)).toEqual([]);
  });
});
