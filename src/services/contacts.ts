import type { WritableAtom } from 'jotai';
import { t } from '../i18n/i18n.ts';
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
import type { KeptAnswers } from './keptAnswers.ts';

export interface Contacts {
  /** Shows what this browser has kept of the lists, until they are loaded. Never rejects. */
  recall(): Promise<void>;
  /** Loads the lists that have not been loaded, with indicators and error sentences. Never rejects. */
  load(): Promise<void>;
  /** Quietly reads again the lists that have been loaded once, or could not be. Never rejects. */
  refresh(): Promise<void>;
  search(query: string): Promise<readonly Person[]>;
  request(userId: string): Promise<{ success: boolean; message: string }>;
  accept(requestId: string): Promise<void>;
  reject(requestId: string): Promise<void>;
  remove(userId: string): Promise<void>;
}

type ListAtom<T> = WritableAtom<LoadedList<T>, [LoadedList<T>], void>;

interface List {
  recall(): Promise<void>;
  load(): Promise<void>;
  refresh(): Promise<void>;
}

function sameIds(one: readonly { id: string }[], other: readonly { id: string }[]): boolean {
  const ids = new Set(one.map(({ id }) => id));
  return one.length === other.length && other.every(({ id }) => ids.has(id));
}

export function createContacts(deps: Deps, ownUserId: string, recall: KeptAnswers['recall']): Contacts {
  const { api, store } = deps;

  function createList<T extends { id: string }>(
    atom: ListAtom<T>,
    recallItems: () => Promise<readonly T[] | null>,
    fetchItems: () => Promise<readonly T[]>,
    failure: string,
  ): List {
    /** What is on screen is from an earlier session, whose names may have changed since. */
    let isRecalled = false;

    const read = coalesce(async () => {
      const items = await fetchItems();
      const present = store.get(atom);
      // Replaced only when the ids differ (spec section 4), so that a quiet refresh repaints nothing.
      const isSame = isRecalled
        ? JSON.stringify(present.items) === JSON.stringify(items)
        : sameIds(present.items, items);
      isRecalled = false;
      const kept = isSame ? present.items : items;
      if (kept !== present.items || present.loading || !present.loaded) {
        store.set(atom, { items: kept, loading: false, loaded: true });
      }
      // Another list's failure is still worth reading.
      if (store.get(contactsErrorAtom) === failure) store.set(contactsErrorAtom, null);
    });

    /** It may not have been possible: then the polling makes up for it. */
    let asked = false;
    async function refresh(): Promise<void> {
      const { loaded, loading } = store.get(atom);
      // Also while it loads: the answer on its way may be older than what calls for this.
      if (asked || loaded || loading) await read().catch(() => undefined);
    }

    return {
      async recall() {
        const items = await recallItems();
        if (items === null || store.get(atom).loaded) return;
        isRecalled = true;
        store.set(atom, { items, loading: false, loaded: true });
      },

      async load() {
        const { loaded } = store.get(atom);
        if (loaded && !isRecalled) return refresh();
        if (!loaded) store.set(atom, { ...store.get(atom), loading: true });
        try {
          await read();
        } catch {
          store.set(atom, { ...store.get(atom), loading: false });
          store.set(contactsErrorAtom, failure);
        } finally {
          asked = true;
        }
      },
      refresh,
    };
  }

  const contacts = createList<Person>(
    contactsAtom,
    recall.listContacts,
    api.listContacts,
    t('errors.loadContactsFailed'),
  );
  const incoming = createList<IncomingRequest>(
    incomingRequestsAtom,
    recall.listContactRequests,
    api.listContactRequests,
    t('errors.loadRequestsFailed'),
  );
  const outgoing = createList<OutgoingRequest>(
    outgoingRequestsAtom,
    recall.listSentRequests,
    api.listSentRequests,
    t('errors.loadSentRequestsFailed'),
  );
  const lists = [contacts, incoming, outgoing];

  return {
    async recall() {
      await Promise.all(lists.map((list) => list.recall()));
    },

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
        throw new AppError(toAppError(error, '').code, t('errors.searchFailed'), { cause: error });
      }
    },

    async request(userId) {
      try {
        const { status, message } = await api.requestContact(userId);
        await Promise.all(status === 'accepted' ? lists.map((list) => list.refresh()) : [outgoing.refresh()]);
        return { success: true, message };
      } catch (error) {
        return { success: false, message: toAppError(error, t('errors.requestFailed')).message };
      }
    },

    async accept(requestId) {
      try {
        await api.acceptContact(requestId);
      } catch (error) {
        throw toAppError(error, t('errors.acceptFailed'));
      }
      await Promise.all([contacts.refresh(), incoming.refresh()]);
    },

    async reject(requestId) {
      try {
        await api.rejectContact(requestId);
      } catch (error) {
        throw toAppError(error, t('errors.rejectFailed'));
      }
      await incoming.refresh();
    },

    async remove(userId) {
      try {
        await api.removeContact(userId);
      } catch (error) {
        throw new AppError(toAppError(error, '').code, t('errors.removeFailed'), { cause: error });
      }
      await contacts.refresh();
    },
  };
}
