import { useAtomValue, useSetAtom } from 'jotai';
import { Bell } from 'lucide-react';
import { useState } from 'react';
import { requiredActionsAtom } from '../../store/actions.ts';
import { attemptAtom } from '../../store/attempt.ts';
import { type Notification, unreadNotificationsAtom } from '../../store/notifications.ts';
import { Button } from '../../ui/Button.tsx';
import { Popover } from '../../ui/Popover.tsx';
import styles from './NotificationBell.module.css';
import { NotificationList } from './NotificationList.tsx';
import { notificationTexts } from './texts.ts';

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
    await attempt(() => actions.readAllNotifications(), { failure: notificationTexts.readAllFailed });
    setMarking(false);
  }

  function select({ id, type, sender_id, read }: Notification) {
    setOpen(false);
    if (!read) {
      void attempt(() => actions.readNotification(id), { failure: notificationTexts.readFailed });
    }
    if (type !== 'message') onOpenContacts();
    else if (sender_id !== '') onOpenChat(sender_id);
  }

  return (
    <Popover
      label={notificationTexts.bell(unread)}
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
      title={notificationTexts.title}
      open={open}
      onOpenChange={setOpen}
      action={
        unread > 0 && (
          <Button size="small" variant="quiet" busy={marking} onClick={() => void markAll()}>
            {notificationTexts.markAll}
          </Button>
        )
      }
    >
      <NotificationList onSelect={select} />
    </Popover>
  );
}
