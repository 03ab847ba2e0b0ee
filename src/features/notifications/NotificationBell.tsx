import { useAtomValue, useSetAtom } from 'jotai';
import { Bell } from 'lucide-react';
import { useState } from 'react';
import { t } from '../../i18n/i18n.ts';
import { requiredActionsAtom } from '../../store/actions.ts';
import { attemptAtom } from '../../store/attempt.ts';
import { type Notification, unreadNotificationsAtom } from '../../store/notifications.ts';
import { Button } from '../../ui/Button.tsx';
import { PartBoundary } from '../../ui/PartBoundary.tsx';
import { Popover } from '../../ui/Popover.tsx';
import { NotificationAnnouncer } from './Announcer.tsx';
import styles from './NotificationBell.module.css';
import { NotificationList } from './NotificationList.tsx';

interface NotificationBellProps {
  onOpenChat: (userId: string) => void;
  onOpenContacts: () => void;
}

export function NotificationBell({ onOpenChat, onOpenContacts }: NotificationBellProps) {
  const actions = useAtomValue(requiredActionsAtom);
  const attempt = useSetAtom(attemptAtom);
  const unread = useAtomValue(unreadNotificationsAtom);
  const [open, setOpen] = useState(false);
  const [marking, setMarking] = useState(false);

  async function markAll() {
    setMarking(true);
    await attempt(() => actions.readAllNotifications(), { failure: t('notifications.readAllFailed') });
    setMarking(false);
  }

  function select({ id, type, sender_id, read }: Notification) {
    setOpen(false);
    if (!read) {
      void attempt(() => actions.readNotification(id), { failure: t('notifications.readFailed') });
    }
    if (type !== 'message') onOpenContacts();
    else if (sender_id !== '') onOpenChat(sender_id);
  }

  return (
    <>
      <Popover
        label={t('notifications.bell', { count: unread })}
        icon={
          <span className={styles.bell}>
            <Bell aria-hidden="true" />
            {unread > 0 && (
              <span className={styles.count} aria-hidden="true">
                {unread > 99 ? '99+' : unread}
              </span>
            )}
          </span>
        }
        title={t('notifications.title')}
        open={open}
        onOpenChange={setOpen}
        action={
          unread > 0 && (
            <Button size="small" variant="quiet" busy={marking} onClick={() => void markAll()}>
              {t('notifications.markAll')}
            </Button>
          )
        }
      >
        <PartBoundary part="notifications">
          <NotificationList onSelect={select} />
        </PartBoundary>
      </Popover>
      <NotificationAnnouncer />
    </>
  );
}
