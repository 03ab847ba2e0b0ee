import type { MessageId } from '../../i18n/catalogue.ts';
import { t } from '../../i18n/i18n.ts';
import { visibleName } from '../../lib/people.ts';
import type { Notification } from '../../store/notifications.ts';

const sentences = {
  message: 'notifications.message',
  contact_request: 'notifications.contactRequest',
  contact_accepted: 'notifications.contactAccepted',
} as const satisfies Record<Notification['type'], MessageId>;

/** Returns a notification's sentence; the relay sends the name alone. */
export function notificationSentence({ type, content }: Notification): string {
  return t(sentences[type], { name: visibleName(content) || t('notifications.somebody') });
}
