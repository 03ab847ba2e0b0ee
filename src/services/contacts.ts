import type { WritableAtom } from 'jotai';
import { AppError } from '../lib/appError.ts';
import { coalesce } from '../lib/coalesce.ts';
import { limits } from '../net/contract.ts';
import {
  contactsAtom,
  contactsErrorAtom,
  type IncomingRequest,
  incomingRequestsAtom,
  type LoadedList,
  type OutgoingRequest,
  outgoingRequestsAtom,
  type Person,
} from '../store/contacts.ts';
import type { Deps } from './deps.ts';
import { toAppError } from './failures.ts';
import { texts } from './texts.ts';

export interface Contacts {
  /** Loads the lists that have not been loaded, with indicators and error sentences. Never rejects. */
  load(): Promise<void>;
  /** Quietly reads again the lists that have been loaded once. Never rejects. */
  refresh(): Promise<void>;
  search(query: string): Promise<readonly Person[]>;
  request(userId: string): Promise<{ success: boolean; message: string }>;
  accept(requestId: string): Promise<void>;
  reject(requestId: string): Promise<void>;
  remove(userId: string): Promise<void>;
}

type ListAtom<T> = WritableAtom<LoadedList<T>, [LoadedList<T>], void>;

interface List {
  load(): Promise<void>;
  refresh(): Promise<void>;
}

function sameIds(one: readonly { id: string }[], other: readonly { id: string }[]): boolean {
  const ids = new Set(one.map(({ id }) => id));
  return one.length === other.length && other.every(({ id }) => ids.has(id));
}

export function createContacts(deps: Deps, ownUserId: string): Contacts {
  const { api, store } = deps;

  function createList<T extends { id: string }>(
    atom: ListAtom<T>,
    fetchItems: () => Promise<readonly T[]>,
    failure: string,
  ): List {
    async function read(): Promise<void> {
      const items = await fetchItems();
      const present = store.get(atom);
      // Replaced only when the ids differ (spec section 4), so that a quiet refresh repaints nothing.
      const kept = sameIds(present.items, items) ? present.items : items;
      if (kept !== present.items || present.loading || !present.loaded) {
        store.set(atom, { items: kept, loading: false, loaded: true });
      }
      // Another list's failure is still worth reading.
      if (store.get(contactsErrorAtom) === failure) store.set(contactsErrorAtom, null);
    }

    const refresh = coalesce(async () => {
      if (store.get(atom).loaded) await read().catch(() => undefined);
    });

    return {
      async load() {
        if (store.get(atom).loaded) return refresh();
        store.set(atom, { ...store.get(atom), loading: true });
        try {
          await read();
        } catch {
          store.set(atom, { ...store.get(atom), loading: false });
          store.set(contactsErrorAtom, failure);
        }
      },
      refresh,
    };
  }

  const contacts = createList<Person>(contactsAtom, api.listContacts, texts.loadContactsFailed);
  const incoming = createList<IncomingRequest>(
    incomingRequestsAtom,
    api.listContactRequests,
    texts.loadRequestsFailed,
  );
  const outgoing = createList<OutgoingRequest>(
    outgoingRequestsAtom,
    api.listSentRequests,
    texts.loadSentRequestsFailed,
  );
  const lists = [contacts, incoming, outgoing];

  return {
    async load() {
      await Promise.all(lists.map((list) => list.load()));
    },

    async refresh() {
      await Promise.all(lists.map((list) => list.refresh()));
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
        throw new AppError(toAppError(error, '').code, texts.searchFailed, { cause: error });
      }
    },

    async request(userId) {
      try {
        const { status, message } = await api.requestContact(userId);
        await Promise.all(status === 'accepted' ? lists.map((list) => list.refresh()) : [outgoing.refresh()]);
        return { success: true, message };
      } catch (error) {
        return { success: false, message: toAppError(error, texts.requestFailed).message };
      }
    },

    async accept(requestId) {
      try {
        await api.acceptContact(requestId);
      } catch (error) {
        throw toAppError(error, texts.acceptFailed);
      }
      await Promise.all([contacts.refresh(), incoming.refresh()]);
    },

    async reject(requestId) {
      try {
        await api.rejectContact(requestId);
      } catch (error) {
        throw toAppError(error, texts.rejectFailed);
      }
      await incoming.refresh();
    },

    async remove(userId) {
      try {
        await api.removeContact(userId);
      } catch (error) {
        throw new AppError(toAppError(error, '').code, texts.removeFailed, { cause: error });
      }
      await contacts.refresh();
    },
  };
}
