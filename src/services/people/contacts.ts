import type { WritableAtom } from 'jotai';
import { t } from '../../i18n/i18n.ts';
import { AppError } from '../../lib/appError.ts';
import { type ContactListName, limits } from '../../net/contract.ts';
import { realtimeStatusAtom } from '../../store/connection.ts';
import {
  contactsAtom,
  type IncomingRequest,
  incomingRequestsAtom,
  type OutgoingRequest,
  outgoingRequestsAtom,
  type Person,
} from '../../store/contacts.ts';
import type { LoadedList } from '../../store/loadedList.ts';
import type { Deps } from '../core/deps.ts';
import { mayBeDone, toAppError } from '../core/failures.ts';
import type { List, Lists } from '../core/lists.ts';
import type { ResponseCache } from '../core/responseCache.ts';

export interface Contacts {
  /** Shows what this browser has kept of the lists, until they are loaded. Never rejects. */
  recall(): Promise<void>;
  /** Loads the lists that have not been loaded, with indicators and error sentences. Never rejects. */
  load(): Promise<void>;
  /** Quietly reads again the lists that have been loaded once. Never rejects. */
  poll(): Promise<void>;
  /** The relay says that these lists have changed. Never rejects. */
  onChanged(names: readonly ContactListName[]): Promise<void>;
  search(query: string): Promise<readonly Person[]>;
  request(userId: string): Promise<{ success: boolean; message: string }>;
  accept(requestId: string): Promise<void>;
  /** Takes the request to this person back. */
  withdraw(userId: string): Promise<void>;
  reject(requestId: string): Promise<void>;
  remove(userId: string): Promise<void>;
}

type ListAtom<T> = WritableAtom<LoadedList<T>, [LoadedList<T>], void>;

interface ContactsOptions {
  readonly deps: Deps;
  readonly ownUserId: string;
  readonly lists: Pick<Lists, 'create'>;
  readonly recall: ResponseCache['recall'];
}

function sameIds(one: readonly { id: string }[], other: readonly { id: string }[]): boolean {
  const ids = new Set(one.map(({ id }) => id));
  return one.length === other.length && other.every(({ id }) => ids.has(id));
}

export function createContacts({ deps, lists, ownUserId, recall }: ContactsOptions): Contacts {
  const { api, store } = deps;

  function createList<T extends { id: string }>(
    atom: ListAtom<T>,
    recallItems: () => Promise<readonly T[] | null>,
    fetchItems: () => Promise<readonly T[]>,
    failure: string,
  ): List {
    const show = (items: readonly T[]) => store.set(atom, { ...store.get(atom), items });
    return lists.create({
      atom,
      failure,
      async read() {
        const items = await fetchItems();
        const { items: present, loaded } = store.get(atom);
        // Replaced only when the ids differ (spec section 4), so that a quiet refresh repaints nothing. What an earlier
        // session has kept may have other names.
        const isSame = loaded ? sameIds(present, items) : JSON.stringify(present) === JSON.stringify(items);
        if (!isSame) show(items);
      },
      async recall() {
        const items = await recallItems();
        if (items !== null && !store.get(atom).loaded) show(items);
      },
    });
  }

  const all: Readonly<Record<ContactListName, List>> = {
    contacts: createList<Person>(
      contactsAtom,
      recall.listContacts,
      api.listContacts,
      t('errors.loadContactsFailed'),
    ),
    requests: createList<IncomingRequest>(
      incomingRequestsAtom,
      recall.listContactRequests,
      api.listContactRequests,
      t('errors.loadRequestsFailed'),
    ),
    'sent-requests': createList<OutgoingRequest>(
      outgoingRequestsAtom,
      recall.listSentRequests,
      api.listSentRequests,
      t('errors.loadSentRequestsFailed'),
    ),
  };
  const each = (task: (list: List) => Promise<void>) => Promise.all(Object.values(all).map(task));

  /** The number of events still to come of this tab's own changes, after which it reads the list anyway. */
  const echoes: Record<ContactListName, number> = { contacts: 0, requests: 0, 'sent-requests': 0 };

  function takeEcho(name: ContactListName): boolean {
    if (echoes[name] === 0) return false;
    echoes[name] -= 1;
    return true;
  }

  /**
   * Changes lists at the relay, and reads them again once. The relay tells this tab as well, before or after it answers.
   * @param names what it may change
   * @param changed of those, what it has changed
   */
  async function change<T>(
    names: readonly ContactListName[],
    call: () => Promise<T>,
    changed: (answer: T) => readonly ContactListName[] = () => names,
  ): Promise<T> {
    const awaited = store.get(realtimeStatusAtom) === 'connected' ? names : [];
    for (const name of awaited) echoes[name] += 1;
    let due: readonly ContactListName[] = [];
    try {
      const answer = await call();
      due = changed(answer);
      return answer;
    } finally {
      // No event of one's own comes of the others: what was taken for it was somebody else's.
      const missed = awaited.filter((name) => !due.includes(name) && !takeEcho(name));
      await Promise.all([...due, ...missed].map((name) => all[name].refresh()));
    }
  }

  /** A path that failed may have done it all the same, and the next one then knows of no request: the lists tell. */
  async function decide(
    names: readonly ContactListName[],
    call: () => Promise<unknown>,
    failure: string,
    isDone: () => boolean,
  ): Promise<void> {
    try {
      await change(names, call);
    } catch (error) {
      if (!mayBeDone(error)) throw toAppError(error, failure);
      await Promise.all(names.map((name) => all[name].refresh()));
      if (!isDone()) throw toAppError(error, failure);
    }
  }

  return {
    async recall() {
      await each((list) => list.recall());
    },

    async load() {
      // The answers include everything that has happened while there was no connection.
      for (const name of Object.keys(echoes) as ContactListName[]) echoes[name] = 0;
      await each((list) => list.load());
    },

    async poll() {
      await each((list) => list.poll());
    },

    async onChanged(names) {
      await Promise.all(names.filter((name) => !takeEcho(name)).map((name) => all[name].refresh()));
    },

    async search(query) {
      const text = query.trim().toLowerCase();
      if (text.length < limits.searchMinLength) return [];
      const known = new Set([ownUserId, ...store.get(contactsAtom).items.map(({ id }) => id)]);
      try {
        const found = await api.searchUsers(query.trim());
        return found.filter(
          ({ id, username, email }) =>
            !known.has(id) && [username, id, email].some((field) => field.toLowerCase().includes(text)),
        );
      } catch (error) {
        throw new AppError(toAppError(error, '').code, t('errors.searchFailed'), { cause: error });
      }
    },

    async request(userId) {
      try {
        const { message } = await change(
          ['contacts', 'requests', 'sent-requests'],
          () => api.requestContact(userId),
          // One that crosses theirs accepts it.
          ({ status }) => (status === 'accepted' ? ['contacts', 'requests'] : ['sent-requests']),
        );
        return { success: true, message };
      } catch (error) {
        return { success: false, message: toAppError(error, t('errors.requestFailed')).message };
      }
    },

    async accept(requestId) {
      const sender = store.get(incomingRequestsAtom).items.find(({ id }) => id === requestId)?.from_user.id;
      await decide(
        ['contacts', 'requests'],
        () => api.acceptContact(requestId),
        t('errors.acceptFailed'),
        () => store.get(contactsAtom).items.some(({ id }) => id === sender),
      );
    },

    async reject(requestId) {
      await decide(
        ['requests'],
        () => api.rejectContact(requestId),
        t('errors.rejectFailed'),
        () => !store.get(incomingRequestsAtom).items.some(({ id }) => id === requestId),
      );
    },

    async withdraw(userId) {
      await decide(
        ['sent-requests'],
        () => api.withdrawContact(userId),
        t('contacts.withdrawFailed'),
        () => !store.get(outgoingRequestsAtom).items.some(({ to_user }) => to_user.id === userId),
      );
    },

    async remove(userId) {
      try {
        await change(['contacts'], () => api.removeContact(userId));
      } catch (error) {
        throw new AppError(toAppError(error, '').code, t('errors.removeFailed'), { cause: error });
      }
    },
  };
}
