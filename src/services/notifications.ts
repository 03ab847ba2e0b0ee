import { t } from '../i18n/i18n.ts';
import { coalesce } from '../lib/coalesce.ts';
import { isApiError } from '../net/errors.ts';
import { type Notification, notificationsAtom, notificationsErrorAtom } from '../store/notifications.ts';
import type { Deps } from './deps.ts';
import { toAppError } from './failures.ts';

export interface Notifications {
  /** Loads the list with an indicator and an error sentence; afterwards as {@link refresh}. Never rejects. */
  load(): Promise<void>;
  /** Quietly reads the list again, also when it could not be loaded. Never rejects. */
  refresh(): Promise<void>;
  read(id: string): Promise<void>;
  readAll(): Promise<void>;
  remove(id: string): Promise<void>;
}

type Change = (items: readonly Notification[]) => readonly Notification[];

/** What has happened to this person. A change shows at once, and is taken back when the relay refuses it. */
export function createNotifications({ api, store }: Pick<Deps, 'api' | 'store'>): Notifications {
  /** Counts changes, so that a list asked for before one doesn't undo it. */
  let changes = 0;

  function show(items: readonly Notification[]): void {
    const present = store.get(notificationsAtom);
    const kept = JSON.stringify(present.items) === JSON.stringify(items) ? present.items : items;
    if (kept !== present.items || present.loading || !present.loaded) {
      store.set(notificationsAtom, { items: kept, loading: false, loaded: true });
    }
  }

  const readList = coalesce(async () => {
    const before = changes;
    const items = await api.listNotifications();
    if (changes === before) show(items);
    if (store.get(notificationsErrorAtom) !== null) store.set(notificationsErrorAtom, null);
  });

  /** It may not have been possible: then the polling makes up for it. */
  let asked = false;
  async function refresh(): Promise<void> {
    const { loaded, loading } = store.get(notificationsAtom);
    // Also while it loads: the answer on its way may be older than what calls for this.
    if (asked || loaded || loading) await readList().catch(() => undefined);
  }

  async function change(by: Change, call: () => Promise<unknown>, sentence: string): Promise<void> {
    const before = store.get(notificationsAtom).items;
    show(by(before));
    changes += 1;
    try {
      await call();
    } catch (error) {
      show(before);
      await refresh();
      // Otherwise it is gone: pushed out by newer ones, or removed in another browser.
      if (!isApiError(error, 'not-found')) throw toAppError(error, sentence);
    } finally {
      changes += 1;
    }
  }

  return {
    async load() {
      if (store.get(notificationsAtom).loaded) return refresh();
      store.set(notificationsAtom, { ...store.get(notificationsAtom), loading: true });
      try {
        await readList();
      } catch {
        store.set(notificationsAtom, { ...store.get(notificationsAtom), loading: false });
        store.set(notificationsErrorAtom, t('errors.loadNotificationsFailed'));
      } finally {
        asked = true;
      }
    },

    refresh,

    read: (id) =>
      change(
        (items) => items.map((item) => (item.id === id ? { ...item, read: true } : item)),
        () => api.readNotification(id),
        t('errors.readNotificationFailed'),
      ),

    readAll: () =>
      change(
        (items) => items.map((item) => (item.read ? item : { ...item, read: true })),
        () => api.readAllNotifications(),
        t('errors.readNotificationsFailed'),
      ),

    remove: (id) =>
      change(
        (items) => items.filter((item) => item.id !== id),
        () => api.deleteNotification(id),
        t('errors.deleteNotificationFailed'),
      ),
  };
}
