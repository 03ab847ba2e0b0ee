import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { Api } from '#src/net/api.ts';
import { NetworkError } from '#src/net/errors.ts';
import type { ResponseCache } from '#src/services/core/responseCache.ts';
import { timings } from '#src/services/core/timings.ts';
import { type Contacts, createContacts } from '#src/services/people/contacts.ts';
import { realtimeStatusAtom } from '#src/store/connection.ts';
import { contactsAtom, incomingRequestsAtom, outgoingRequestsAtom } from '#src/store/contacts.ts';
import { me, peer, refused, type TestDeps, testDeps, testLists } from './support/deps.ts';

const bert = { id: peer, username: 'bert', email: 'bert@example.org' };
const cleo = { id: '00000000-0000-4000-8000-000000000003', username: 'cleo', email: 'cleo@bertram.example' };
const request = { id: 'r1', from_user: bert, created_at: '2026-03-01T12:00:00.000Z' };
const sent = { id: 'r2', to_user: { id: cleo.id, username: 'cleo' }, created_at: '2026-03-01T12:00:00.000Z' };

const api = {
  listContacts: vi.fn<Api['listContacts']>(),
  listContactRequests: vi.fn<Api['listContactRequests']>(),
  listSentRequests: vi.fn<Api['listSentRequests']>(),
  searchUsers: vi.fn<Api['searchUsers']>(),
  requestContact: vi.fn<Api['requestContact']>(),
  acceptContact: vi.fn<Api['acceptContact']>(),
  rejectContact: vi.fn<Api['rejectContact']>(),
  withdrawContact: vi.fn<Api['withdrawContact']>(),
  removeContact: vi.fn<Api['removeContact']>(),
};
/** Counts how often each list was asked for: contacts, incoming requests, sent ones. */
const calls = () =>
  [api.listContacts, api.listContactRequests, api.listSentRequests].map(({ mock }) => mock.calls.length);
let deps: TestDeps;
let contacts: Contacts;
/** The lists that an earlier session has left. */
let kept: {
  -readonly [Name in 'listContacts' | 'listContactRequests' | 'listSentRequests']: Awaited<
    ReturnType<ResponseCache['recall'][Name]>
  >;
};

beforeEach(() => {
  for (const call of Object.values(api)) call.mockReset();
  api.listContacts.mockResolvedValue([bert]);
  api.listContactRequests.mockResolvedValue([request]);
  api.listSentRequests.mockResolvedValue([sent]);
  deps = testDeps({ api });
  kept = { listContacts: null, listContactRequests: null, listSentRequests: null };
  const nothing = async () => null;
  contacts = createContacts({
    deps,
    ownUserId: me,
    lists: testLists(deps),
    recall: {
      listContacts: async () => kept.listContacts,
      listContactRequests: async () => kept.listContactRequests,
      listSentRequests: async () => kept.listSentRequests,
      listGroups: nothing,
      listNotifications: nothing,
    },
  });
});

describe('loading the contacts', () => {
  it('fills the three lists, each with its own indicator', async () => {
    const loading = contacts.load();
    const begun = { items: [], loading: true, loaded: false, error: null };
    expect(deps.store.get(contactsAtom)).toEqual(begun);
    expect(deps.store.get(incomingRequestsAtom)).toEqual(begun);
    expect(deps.store.get(outgoingRequestsAtom)).toEqual(begun);
    await loading;
    expect(deps.store.get(contactsAtom)).toEqual({
      items: [bert],
      loading: false,
      loaded: true,
      error: null,
    });
    expect(deps.store.get(incomingRequestsAtom).items).toEqual([request]);
    expect(deps.store.get(outgoingRequestsAtom).items).toEqual([sent]);
  });

  const sentences = {
    listContacts: 'Failed to load contacts. Please try again.',
    listContactRequests: 'Failed to load contact requests. Please try again.',
    listSentRequests: 'Failed to load sent requests. Please try again.',
  };
  const errors = () => [
    deps.store.get(contactsAtom).error,
    deps.store.get(incomingRequestsAtom).error,
    deps.store.get(outgoingRequestsAtom).error,
  ];

  it.each(['listContacts', 'listContactRequests', 'listSentRequests'] as const)(
    'says what failed when %s does, of that list alone',
    async (call) => {
      api[call].mockRejectedValue(refused('internal'));
      await contacts.load();
      const expected = Object.entries(sentences).map(([name, text]) => (name === call ? text : null));
      expect(errors()).toEqual(expected);
    },
  );

  it('says of each of the three what failed when all do', async () => {
    for (const call of [api.listContacts, api.listContactRequests, api.listSentRequests]) {
      call.mockRejectedValue(new NetworkError('unreachable'));
    }
    await contacts.load();
    expect(errors()).toEqual(Object.values(sentences));
  });

  it('clears the sentence with the next success', async () => {
    api.listContacts.mockRejectedValueOnce(new NetworkError('unreachable'));
    await contacts.load();
    await contacts.load();
    expect(deps.store.get(contactsAtom)).toMatchObject({ items: [bert], error: null });
  });
});

describe('a kept list of contacts', () => {
  beforeEach(() => {
    kept.listContacts = [bert];
  });

  it('is shown before the lists are loaded, and does not count as that', async () => {
    await contacts.recall();
    expect(deps.store.get(contactsAtom)).toMatchObject({ items: [bert], loaded: false });
    await contacts.load();
    expect(deps.store.get(contactsAtom)).toMatchObject({ items: [bert], loaded: true });
    expect(deps.store.get(outgoingRequestsAtom).items).toEqual([sent]);
  });

  it('stays as it is on screen when nothing has changed', async () => {
    await contacts.recall();
    const before = deps.store.get(contactsAtom).items;
    await contacts.load();
    expect(deps.store.get(contactsAtom).items).toBe(before);
  });

  it('gives way to new names of the same people', async () => {
    await contacts.recall();
    api.listContacts.mockResolvedValue([{ ...bert, username: 'BERT' }]);
    await contacts.load();
    expect(deps.store.get(contactsAtom).items).toEqual([{ ...bert, username: 'BERT' }]);
  });

  it('stays, with what went wrong, when the list can not be loaded', async () => {
    await contacts.recall();
    api.listContacts.mockRejectedValue(refused('forbidden'));
    await contacts.load();
    const error = 'Failed to load contacts. Please try again.';
    expect(deps.store.get(contactsAtom)).toEqual({ items: [bert], loading: false, loaded: false, error });
  });

  it('does not undo what is there already', async () => {
    await contacts.load();
    kept.listContacts = [];
    await contacts.recall();
    expect(deps.store.get(contactsAtom).items).toEqual([bert]);
  });
});

describe('refreshing the contacts in the background', () => {
  it('reads only the lists that have been loaded', async () => {
    await contacts.poll();
    expect(api.listContacts).not.toHaveBeenCalled();
    await contacts.load();
    await contacts.poll();
    expect(api.listContacts).toHaveBeenCalledTimes(2);
  });

  it('makes up for a list that could not be loaded', async () => {
    api.listContacts.mockRejectedValueOnce(new NetworkError('unreachable'));
    await contacts.load();
    await deps.clock.advance(timings.listRetryBase);
    expect(deps.store.get(contactsAtom)).toEqual({
      items: [bert],
      loading: false,
      loaded: true,
      error: null,
    });
  });

  it('changes nothing while the ids are the same', async () => {
    await contacts.load();
    const before = deps.store.get(contactsAtom);
    api.listContacts.mockResolvedValue([{ ...bert, username: 'BERT' }]);
    await contacts.poll();
    expect(deps.store.get(contactsAtom)).toBe(before);
    api.listContacts.mockResolvedValue([bert, cleo]);
    await contacts.poll();
    expect(deps.store.get(contactsAtom).items).toEqual([bert, cleo]);
  });

  it('fails silently and keeps what is known', async () => {
    await contacts.load();
    api.listContacts.mockRejectedValue(new NetworkError('unreachable'));
    await contacts.poll();
    expect(deps.store.get(contactsAtom)).toMatchObject({ items: [bert], loading: false, error: null });
  });
});

describe('searching for people', () => {
  it.each(['', ' ', 'b', ' b '])('asks nobody for %j', async (query) => {
    await expect(contacts.search(query)).resolves.toEqual([]);
    expect(api.searchUsers).not.toHaveBeenCalled();
  });

  it('leaves out oneself, contacts and what does not match', async () => {
    await contacts.load();
    api.searchUsers.mockResolvedValue([
      bert,
      cleo,
      { id: me, username: 'bertha', email: 'me@example.org' },
      { id: '00000000-0000-4000-8000-000000000004', username: 'dora', email: 'dora@example.org' },
    ]);
    await expect(contacts.search(' BERT ')).resolves.toEqual([cleo]);
    expect(api.searchUsers).toHaveBeenCalledWith('BERT');
  });

  it('rejects with its sentence', async () => {
    api.searchUsers.mockRejectedValue(refused('internal', 'Something inside.'));
    await expect(contacts.search('bert')).rejects.toMatchObject({
      name: 'AppError',
      code: 'internal',
      message: 'Failed to search users. Please try again.',
    });
  });
});

describe('contact requests', () => {
  it("answer the relay's message when one is sent, and have the sent ones read again", async () => {
    await contacts.load();
    api.requestContact.mockResolvedValue({
      id: 'r3',
      status: 'pending',
      message: 'Contact request sent successfully',
    });
    await expect(contacts.request(cleo.id)).resolves.toEqual({
      success: true,
      message: 'Contact request sent successfully',
    });
    expect(api.listSentRequests).toHaveBeenCalledTimes(2);
    expect(api.listContacts).toHaveBeenCalledTimes(1);
  });

  it('have contacts and incoming requests read again when one crossed one the other way', async () => {
    await contacts.load();
    api.requestContact.mockResolvedValue({ id: 'r3', status: 'accepted', message: 'Accepted' });
    await contacts.request(peer);
    expect(calls()).toEqual([2, 2, 1]);
  });

  it.each([
    [
      "the relay's sentence",
      refused('request-exists', 'There is a request already.'),
      'There is a request already.',
    ],
    [
      'a sentence of the client',
      new NetworkError('timeout'),
      'Failed to send contact request. Please try again.',
    ],
  ])('answer a failure with %s', async (_name, error, message) => {
    api.requestContact.mockRejectedValue(error);
    await expect(contacts.request(peer)).resolves.toEqual({ success: false, message });
  });

  it('that are accepted have contacts and incoming requests read again', async () => {
    await contacts.load();
    api.acceptContact.mockResolvedValue({ contact: bert });
    await contacts.accept('r1');
    expect(api.listContacts).toHaveBeenCalledTimes(2);
    expect(api.listContactRequests).toHaveBeenCalledTimes(2);
    expect(api.listSentRequests).toHaveBeenCalledTimes(1);
  });

  it('that are rejected or withdrawn have their own list alone read again', async () => {
    await contacts.load();
    await contacts.reject('r1');
    const readings = () =>
      [api.listContacts, api.listContactRequests, api.listSentRequests].map((call) => call.mock.calls.length);
    expect(readings()).toEqual([1, 2, 1]);
    await contacts.withdraw(peer);
    expect(api.withdrawContact).toHaveBeenCalledExactlyOnceWith(peer);
    expect(readings()).toEqual([1, 2, 2]);
  });

  describe('whose answer was lost', () => {
    const failed = new AggregateError([refused('internal', 'Something broke.'), refused('not-found')]);

    beforeEach(async () => {
      api.listContacts.mockResolvedValue([]);
      await contacts.load();
      api.acceptContact.mockRejectedValue(failed);
      api.rejectContact.mockRejectedValue(failed);
      api.listContactRequests.mockResolvedValue([]);
    });

    it('are accepted when the lists say so', async () => {
      api.listContacts.mockResolvedValue([bert]);
      await contacts.accept('r1');
      expect(deps.store.get(contactsAtom).items).toEqual([bert]);
    });

    it('are declined when the lists say so', async () => {
      await contacts.reject('r1');
      expect(deps.store.get(incomingRequestsAtom).items).toEqual([]);
    });

    it("fail when the lists do not say so, or can't be read", async () => {
      api.listContactRequests.mockRejectedValue(new NetworkError('unreachable'));
      await expect(contacts.reject('r1')).rejects.toThrow('Something broke.');
      await expect(contacts.accept('r1')).rejects.toThrow('Something broke.');
    });
  });

  it('reject with a sentence when both paths fail', async () => {
    const failure = new AggregateError([refused('not-found', 'No such request.'), refused('not-found')]);
    api.acceptContact.mockRejectedValue(failure);
    api.rejectContact.mockRejectedValue(new NetworkError('unreachable'));
    await expect(contacts.accept('r1')).rejects.toMatchObject({
      code: 'not-found',
      message: 'No such request.',
    });
    await expect(contacts.reject('r1')).rejects.toMatchObject({
      code: 'unreachable',
      message: 'Failed to reject request. Please try again.',
    });
  });
});

describe('what the relay tells of a change', () => {
  beforeEach(async () => {
    deps.store.set(realtimeStatusAtom, 'connected');
    await contacts.load();
    api.acceptContact.mockResolvedValue({ contact: bert });
  });

  it('has the lists read again that it names, and no other', async () => {
    await contacts.onChanged(['requests']);
    expect(calls()).toEqual([1, 2, 1]);
  });

  it('causes no second reading when this tab has made it, whether it is told before the answer or after', async () => {
    api.acceptContact.mockImplementationOnce(async () => {
      await contacts.onChanged(['contacts', 'requests']);
      return { contact: bert };
    });
    await contacts.accept('r1');
    expect(calls()).toEqual([2, 2, 1]);
    await contacts.accept('r1');
    await contacts.onChanged(['contacts', 'requests']);
    expect(calls()).toEqual([3, 3, 1]);
    await contacts.onChanged(['contacts']);
    expect(calls()).toEqual([4, 3, 1]);
  });

  it("is not taken for this tab's own when that failed, or changed other lists", async () => {
    api.acceptContact.mockImplementationOnce(async () => {
      await contacts.onChanged(['requests']);
      throw new NetworkError('timeout');
    });
    await expect(contacts.accept('r1')).rejects.toMatchObject({ code: 'unreachable' });
    expect(calls()).toEqual([1, 2, 1]);
    api.requestContact.mockImplementationOnce(async () => {
      await contacts.onChanged(['contacts']);
      return { id: 'r3', status: 'pending', message: 'Sent' };
    });
    await contacts.request(cleo.id);
    expect(calls()).toEqual([2, 2, 2]);
    await contacts.onChanged(['sent-requests']);
    expect(calls()).toEqual([2, 2, 2]);
    await contacts.onChanged(['contacts', 'requests']);
    expect(calls()).toEqual([3, 3, 2]);
  });

  it("is never taken for this tab's own after the lists were read anew", async () => {
    await contacts.accept('r1');
    await contacts.load();
    await contacts.onChanged(['contacts']);
    expect(calls()).toEqual([4, 3, 2]);
  });

  it('has the lists read again when this tab made the change without a connection', async () => {
    deps.store.set(realtimeStatusAtom, 'reconnecting');
    await contacts.accept('r1');
    await contacts.onChanged(['contacts']);
    expect(calls()).toEqual([3, 2, 1]);
  });
});

it('a contact is removed, and it is said when that failed', async () => {
  await contacts.load();
  api.removeContact.mockResolvedValue(undefined);
  api.listContacts.mockResolvedValue([]);
  await contacts.remove(peer);
  expect(deps.store.get(contactsAtom).items).toEqual([]);
  api.removeContact.mockRejectedValue(refused('internal', 'Something inside.'));
  await expect(contacts.remove(peer)).rejects.toMatchObject({
    message: 'Failed to remove contact. Please try again.',
  });
});
