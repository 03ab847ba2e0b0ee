import type { Notification } from '../../store/notifications.ts';

export const notificationTexts = {
  title: 'Notifications',
  bell: (unread: number) => (unread === 0 ? 'Notifications' : `Notifications, ${unread} unread`),
  none: 'No notifications yet',
  loading: 'Loading notifications...',
  markAll: 'Mark all as read',
  remove: (content: string) => `Delete notification: ${content}`,
  unread: 'Unread',
  somebody: 'Somebody',
  readFailed: 'Failed to mark notification as read. Please try again.',
  readAllFailed: 'Failed to mark all notifications as read. Please try again.',
  deleteFailed: 'Failed to delete notification. Please try again.',
} as const;

/** The sentence of each kind; the relay tells the name alone. */
export const notificationSentences: Record<Notification['type'], (name: string) => string> = {
  message: (name) => `${name} sent you a message`,
  contact_request: (name) => `${name} wants to be your contact`,
  contact_accepted: (name) => `${name} accepted your contact request`,
};
