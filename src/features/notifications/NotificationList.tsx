import { clsx } from 'clsx';
import { useAtomValue, useSetAtom } from 'jotai';
import { BellOff, MessageCircle, UserRoundCheck, UserRoundPlus, X } from 'lucide-react';
import { visibleName } from '../../lib/people.ts';
import { requiredActionsAtom } from '../../store/actions.ts';
import { attemptAtom } from '../../store/attempt.ts';
import { type Notification, notificationsAtom, notificationsErrorAtom } from '../../store/notifications.ts';
import { Alert } from '../../ui/Alert.tsx';
import { IconButton } from '../../ui/Button.tsx';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { fullTimestamp, shortMoment } from '../../ui/format.ts';
import { LoadingLine } from '../../ui/Spinner.tsx';
import { useNow } from '../../ui/useNow.ts';
import { VisuallyHidden } from '../../ui/VisuallyHidden.tsx';
import styles from './NotificationList.module.css';
import { notificationSentences, notificationTexts } from './texts.ts';

const icons = {
  message: MessageCircle,
  contact_request: UserRoundPlus,
  contact_accepted: UserRoundCheck,
} as const satisfies Record<Notification['type'], unknown>;

export function NotificationList({ onSelect }: { onSelect: (notification: Notification) => void }) {
  const { items, loaded } = useAtomValue(notificationsAtom);
  const error = useAtomValue(notificationsErrorAtom);
  const now = useNow();
  return (
    <div className={styles.body}>
      {error !== null && (
        <div className={styles.error}>
          <Alert kind="error">{error}</Alert>
        </div>
      )}
      {items.length === 0 && error === null && !loaded && <LoadingLine text={notificationTexts.loading} />}
      {items.length === 0 && loaded && <EmptyState icon={<BellOff />}>{notificationTexts.none}</EmptyState>}
      <ul>
        {items.map((notification) => (
          <Item key={notification.id} notification={notification} now={now} onSelect={onSelect} />
        ))}
      </ul>
    </div>
  );
}

interface ItemProps {
  notification: Notification;
  now: Date;
  onSelect: (notification: Notification) => void;
}

function Item({ notification, now, onSelect }: ItemProps) {
  const actions = useAtomValue(requiredActionsAtom);
  const attempt = useSetAtom(attemptAtom);
  const { id, type, content, created_at, read } = notification;
  const Icon = icons[type];
  const sentence = notificationSentences[type](visibleName(content) || notificationTexts.somebody);
  return (
    <li className={clsx(styles.item, !read && styles.unread)}>
      <button type="button" className={styles.main} onClick={() => onSelect(notification)}>
        <span className={styles.icon}>
          <Icon aria-hidden="true" />
        </span>
        <span className={styles.text}>
          <span className={styles.sentence}>{sentence}</span>
          <time className={styles.time} dateTime={created_at} title={fullTimestamp(created_at)}>
            {shortMoment(created_at, now)}
          </time>
        </span>
        {!read && (
          <span className={styles.mark}>
            <VisuallyHidden>{notificationTexts.unread}</VisuallyHidden>
          </span>
        )}
      </button>
      <IconButton
        size="small"
        label={notificationTexts.remove(sentence)}
        icon={<X />}
        onClick={() =>
          void attempt(() => actions.deleteNotification(id), { failure: notificationTexts.deleteFailed })
        }
      />
    </li>
  );
}
