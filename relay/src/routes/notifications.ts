import type { Handlers } from '../http/contractRoutes.ts';
import type { Services } from '../services.ts';
import { time } from './encoding.ts';

export function notificationHandlers({ notifications }: Services) {
  return {
    listNotifications: async ({ session }) =>
      (await notifications.list(session.userId)).map((notification) => ({
        id: notification.id,
        type: notification.type,
        sender_id: notification.senderId,
        content: notification.senderName,
        created_at: time(notification.createdAt),
        read: notification.isRead,
      })),

    readNotification: ({ session, params }) => notifications.markRead(session.userId, params.id),
    readAllNotifications: ({ session }) => notifications.markAllRead(session.userId),
    deleteNotification: ({ session, params }) => notifications.delete(session.userId, params.id),
  } satisfies Partial<Handlers>;
}
