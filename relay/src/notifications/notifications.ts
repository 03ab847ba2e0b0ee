import { limits } from '../../contract/index.ts';
import type { Db } from '../db/tables.ts';
import { ApiError } from '../errors.ts';
import type { Hub } from '../realtime/hub.ts';
import * as rows from '../repositories/notifications.ts';

/**
 * The notifications of a person. Messages to groups make none: a notification opens the chat with its sender,
 * and a thousand members would mean a thousand of them for every message.
 */
export interface Notifications {
  /** Newest first. */
  list(userId: string): Promise<rows.NotificationRow[]>;
  /** @throws ApiError not-found */
  markRead(userId: string, id: string): Promise<void>;
  markAllRead(userId: string): Promise<void>;
  /** @throws ApiError not-found */
  delete(userId: string, id: string): Promise<void>;
}

export interface NotificationDependencies {
  readonly db: Db;
  readonly hub: Hub;
  readonly clock: () => number;
}

export function createNotifications({ db, hub, clock }: NotificationDependencies): Notifications {
  const changed = (userId: string) => hub.signal({ type: 'notifications-changed', userIds: [userId] });

  return {
    list: (userId) => rows.notificationsOf(db, userId, limits.notificationsMax),

    async markRead(userId, id) {
      if (!(await rows.markNotificationRead(db, id, userId, clock()))) throw noSuchNotification();
      changed(userId);
    },

    async markAllRead(userId) {
      await rows.markAllNotificationsRead(db, userId, clock());
      changed(userId);
    },

    async delete(userId, id) {
      if (!(await rows.deleteNotification(db, id, userId))) throw noSuchNotification();
      changed(userId);
    },
  };
}

/**
 * Notifies a person of what happens with their contacts. Strangers can make these, so that only so many are kept; those
 * of messages are as many as there are contacts.
 * @param tx the transaction in which it happens
 */
export async function notifyOfContact(tx: Db, occurrence: rows.Occurrence, now: number): Promise<void> {
  await rows.insertNotification(tx, occurrence, now);
  await rows.deleteOldNotifications(tx, occurrence.userId, limits.notificationsMax);
}

const noSuchNotification = () => new ApiError('not-found', 'There is no such notification.');
