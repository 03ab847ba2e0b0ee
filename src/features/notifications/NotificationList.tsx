import { clsx } from 'clsx';
import { useAtomValue, useSetAtom } from 'jotai';
import { BellOff, MessageCircle, UserRoundCheck, UserRoundPlus, X } from 'lucide-react';
import { useRef } from 'react';
import { t } from '../../i18n/i18n.ts';
import { requiredActionsAtom } from '../../store/actions.ts';
import { attemptAtom } from '../../store/attempt.ts';
import { type Notification, notificationsAtom } from '../../store/notifications.ts';
import { useLoadFailure } from '../../store/useLoadFailure.ts';
import { IconButton } from '../../ui/Button.tsx';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { isFocusLost } from '../../ui/focus.ts';
import { fullTimestamp, shortMoment } from '../../ui/format.ts';
import { LoadFailure } from '../../ui/LoadFailure.tsx';
import { LoadingLine } from '../../ui/Spinner.tsx';
import { useNow } from '../../ui/useNow.ts';
import { type RowControls, VirtualList, type VirtualListHandle } from '../../ui/VirtualList.tsx';
import { VisuallyHidden } from '../../ui/VisuallyHidden.tsx';
import styles from './NotificationList.module.css';
import { notificationSentence } from './sentence.ts';

/** Pixels. */
const rowHeight = 67;

const icons = {
  message: MessageCircle,
  contact_request: UserRoundPlus,
  contact_accepted: UserRoundCheck,
} as const satisfies Record<Notification['type'], unknown>;

const idOf = ({ id }: Notification) => id;

export function NotificationList({ onSelect }: { onSelect: (notification: Notification) => void }) {
  const notifications = useAtomValue(notificationsAtom);
  const { error, items, loaded } = notifications;
  const failure = useLoadFailure(notifications);
  const body = useRef<HTMLDivElement>(null);
  const now = useNow();
  const actions = useAtomValue(requiredActionsAtom);
  const attempt = useSetAtom(attemptAtom);
  const list = useRef<VirtualListHandle>(null);

  async function remove({ id }: Notification) {
    const at = items.findIndex((item) => item.id === id);
    const neighbour = items[at + 1] ?? items[at - 1];
    await attempt(() => actions.deleteNotification(id), { failure: t('notifications.deleteFailed') });
    if (isFocusLost() && neighbour !== undefined) list.current?.focus(neighbour.id);
  }

  return (
    <div className={styles.body} ref={body} tabIndex={-1}>
      {failure && (
        <div className={styles.failure}>
          <LoadFailure {...failure} focusAfter={body} />
        </div>
      )}
      {items.length === 0 && error === null && !loaded && <LoadingLine text={t('notifications.loading')} />}
      {items.length === 0 && loaded && <EmptyState icon={<BellOff />}>{t('notifications.none')}</EmptyState>}
      {items.length > 0 && (
        <VirtualList label={t('notifications.title')} items={items} keyOf={idOf} estimatedHeight={rowHeight}>
          {(notification, controls) => (
            <Item
              notification={notification}
              now={now}
              controls={controls}
              onSelect={() => onSelect(notification)}
              onRemove={() => void remove(notification)}
            />
          )}
        </VirtualList>
      )}
    </div>
  );
}

interface ItemProps {
  notification: Notification;
  now: Date;
  controls: RowControls;
  onSelect: () => void;
  onRemove: () => void;
}

function Item({ notification, now, controls, onSelect, onRemove }: ItemProps) {
  const { type, created_at, read } = notification;
  const Icon = icons[type];
  const sentence = notificationSentence(notification);
  return (
    <div className={clsx(styles.item, !read && styles.unread)}>
      <button type="button" className={styles.main} {...controls} onClick={onSelect}>
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
            <VisuallyHidden>{t('notifications.unread')}</VisuallyHidden>
          </span>
        )}
      </button>
      <IconButton
        size="small"
        label={t('notifications.remove', { sentence })}
        icon={<X />}
        {...controls}
        onClick={onRemove}
      />
    </div>
  );
}
