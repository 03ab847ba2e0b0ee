import { randomUUID } from 'node:crypto';
import { prepared } from '../db/prepared.ts';
import type { Db } from '../db/tables.ts';

export type NotificationType = 'message' | 'contact_request' | 'contact_accepted';

/** An event, with the person it concerns and the person who caused it. */
export interface Occurrence {
  readonly type: NotificationType;
  readonly userId: string;
  readonly senderId: string;
}

export interface NotificationRow {
  readonly id: string;
  readonly type: NotificationType;
  readonly senderId: string;
  readonly senderName: string;
  readonly createdAt: number;
  readonly isRead: boolean;
}

interface NewNotification extends Occurrence {
  readonly id: string;
  readonly now: number;
}

export const notificationInsertion = prepared<NewNotification>()((db, parameter) =>
  db
    .insertInto('notifications')
    .values({
      id: parameter('id'),
      type: parameter('type'),
      user_id: parameter('userId'),
      sender_id: parameter('senderId'),
      created_at: parameter('now'),
      read_at: null,
    })
    .onConflict((conflict) =>
      conflict
        .columns(['user_id', 'sender_id', 'type'])
        .doUpdateSet({ created_at: parameter('now'), read_at: null }),
    ),
);

/** Notifies a person. What they had of the same kind by the same sender becomes this one, unread. */
export async function insertNotification(db: Db, occurrence: Occurrence, now: number): Promise<void> {
  await notificationInsertion(db, { ...occurrence, id: randomUUID(), now });
}

/** Ids of the people who have a notification of something that this person did. */
export async function notifiedIds(db: Db, senderId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('notifications')
    .select('user_id')
    .distinct()
    .where('sender_id', '=', senderId)
    .execute();
  return rows.map((row) => row.user_id);
}

/** Newest first. */
export async function notificationsOf(db: Db, userId: string, limit: number): Promise<NotificationRow[]> {
  const rows = await db
    .selectFrom('notifications')
    .innerJoin('users', 'users.id', 'notifications.sender_id')
    .select(['notifications.id', 'notifications.type', 'notifications.sender_id', 'users.username'])
    .select(['notifications.created_at', 'notifications.read_at'])
    .where('notifications.user_id', '=', userId)
    .orderBy('notifications.created_at', 'desc')
    .orderBy('notifications.id')
    .limit(limit)
    .execute();
  return rows.map((row) => ({
    id: row.id,
    type: row.type,
    senderId: row.sender_id,
    senderName: row.username,
    createdAt: row.created_at,
    isRead: row.read_at !== null,
  }));
}

/** Deletes all but the newest `limit`. */
export async function deleteOldNotifications(db: Db, userId: string, limit: number): Promise<void> {
  const old = await db
    .selectFrom('notifications')
    .select('id')
    .where('user_id', '=', userId)
    .orderBy('created_at', 'desc')
    .orderBy('id')
    // SQLite knows no offset without a limit; more than this goes with the next one.
    .limit(limit)
    .offset(limit)
    .execute();
  if (old.length === 0) return;
  const ids = old.map((row) => row.id);
  await db.deleteFrom('notifications').where('id', 'in', ids).execute();
}

/** False if this person has no such notification. */
export async function markNotificationRead(
  db: Db,
  id: string,
  userId: string,
  now: number,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('notifications')
    .set((update) => ({ read_at: update.fn.coalesce('read_at', update.val(now)) }))
    .where('id', '=', id)
    .where('user_id', '=', userId)
    .executeTakeFirstOrThrow();
  return numUpdatedRows === 1n;
}

export async function markAllNotificationsRead(db: Db, userId: string, now: number): Promise<void> {
  await db
    .updateTable('notifications')
    .set({ read_at: now })
    .where('user_id', '=', userId)
    .where('read_at', 'is', null)
    .execute();
}

/** Marks a person's notification as read, if nothing of the kind has happened after `until`. */
export async function markOccurrenceRead(
  db: Db,
  { type, userId, senderId }: Occurrence,
  { until, now }: { until: number; now: number },
): Promise<void> {
  await db
    .updateTable('notifications')
    .set({ read_at: now })
    .where('user_id', '=', userId)
    .where('sender_id', '=', senderId)
    .where('type', '=', type)
    .where('created_at', '<=', until)
    .where('read_at', 'is', null)
    .execute();
}

/** False if this person has no such notification. */
export async function deleteNotification(db: Db, id: string, userId: string): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('notifications')
    .where('id', '=', id)
    .where('user_id', '=', userId)
    .executeTakeFirstOrThrow();
  return numDeletedRows === 1n;
}
