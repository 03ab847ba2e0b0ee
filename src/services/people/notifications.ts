import { t } from '../../i18n/i18n.ts';
import { isApiError } from '../../net/errors.ts';
import { type Notification, notificationsAtom } from '../../store/notifications.ts';
import type { Deps } from '../core/deps.ts';
import { toAppError } from '../core/failures.ts';
import type { List, Lists } from '../core/lists.ts';
import type { ResponseCache } from '../core/responseCache.ts';

export interface Notifications extends Pick<List, 'load' | 'poll'> {
  read(id: string): Promise<void>;
  readAll(): Promise<void>;
  remove(id: string): Promise<void>;
}

type Change = (items: readonly Notification[]) => readonly Notification[];

interface NotificationsOptions {
  readonly deps: Pick<Deps, 'api' | 'store'>;
  readonly lists: Pick<Lists, 'create'>;
  readonly recall: ResponseCache['recall']['listNotifications'];
}

/** The notifications of this person. A change shows at once, and is taken back when the relay refuses it. */
export function createNotifications({ deps, lists, recall }: NotificationsOptions): Notifications {
  const { api, store } = deps;
  /** Counts changes, so that a list asked for before one doesn't undo it. */
  let changes = 0;

  function show(items: readonly Notification[]): void {
    const present = store.get(notificationsAtom);
    if (JSON.stringify(present.items) === JSON.stringify(items)) return;
    store.set(notificationsAtom, { ...present, items });
  }

  const list = lists.create({
    atom: notificationsAtom,
    failure: t('errors.loadNotificationsFailed'),
    async read() {
      const before = changes;
      const items = await api.listNotifications();
      if (changes === before) show(items);
    },
    async recall() {
      const before = changes;
      const items = await recall();
      if (items !== null && changes === before && !store.get(notificationsAtom).loaded) show(items);
    },
  });

  async function change(by: Change, call: () => Promise<unknown>, sentence: string): Promise<void> {
    const before = store.get(notificationsAtom).items;
    show(by(before));
    changes += 1;
    try {
      await call();
    } catch (error) {
      show(before);
      await list.refresh();
      // Otherwise it is gone: pushed out by newer ones, or removed in another browser.
      if (!isApiError(error, 'not-found')) throw toAppError(error, sentence);
    } finally {
      changes += 1;
    }
  }

  return {
    ...list,

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
