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
import { mayBeDone, toAppError } from './failures.ts';
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

    async function read(): Promise<void> {
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
    }

    /** It may not have been possible: then the polling makes up for it. */
    let asked = false;
    const refresh = coalesce(async () => {
      const { loaded, loading } = store.get(atom);
      if ((asked || loaded) && !loading) await read().catch(() => undefined);
    });

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

  /** A path that failed may have done it all the same, and the next one then knows of no request: the lists tell. */
  async function decide(
    answered: Promise<unknown>,
    failure: string,
    { refresh, isDone }: { refresh: () => Promise<unknown>; isDone: () => boolean },
  ): Promise<void> {
    const error: unknown = await answered.then(
      () => null,
      (reason: unknown) => reason,
    );
    if (error !== null && !mayBeDone(error)) throw toAppError(error, failure);
    await refresh();
    if (error !== null && !isDone()) throw toAppError(error, failure);
  }

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
      const sender = store.get(incomingRequestsAtom).items.find(({ id }) => id === requestId)?.from_user.id;
      await decide(api.acceptContact(requestId), t('errors.acceptFailed'), {
        refresh: () => Promise.all([contacts.refresh(), incoming.refresh()]),
        isDone: () => store.get(contactsAtom).items.some(({ id }) => id === sender),
      });
    },

    async reject(requestId) {
      await decide(api.rejectContact(requestId), t('errors.rejectFailed'), {
        refresh: () => incoming.refresh(),
        isDone: () => !store.get(incomingRequestsAtom).items.some(({ id }) => id === requestId),
      });
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
