import { Toast } from '@base-ui/react/toast';
import { X } from 'lucide-react';
import { useEffect, useRef } from 'react';
import { t } from '../i18n/i18n.ts';
import { alertIcons } from './Alert.tsx';
import { IconButton } from './Button.tsx';
import styles from './Toasts.module.css';

export interface ToastItem {
  readonly id: number;
  readonly kind: 'success' | 'error' | 'info';
  readonly text: string;
  readonly durationMs: number;
}

interface ToastsProps {
  items: readonly ToastItem[];
  /** Called when one has gone, by its time or by the person. */
  onDismiss: (id: number) => void;
}

/** Short-lived messages, announced to screen readers; F6 moves focus to them, and time stops while one is pointed at. */
export function Toasts({ items, onDismiss }: ToastsProps) {
  return (
    <Toast.Provider limit={4}>
      <ToastFeed items={items} onDismiss={onDismiss} />
      <Toast.Portal>
        <Toast.Viewport className={styles.viewport} aria-label={t('app.toasts')}>
          <ToastList />
        </Toast.Viewport>
      </Toast.Portal>
    </Toast.Provider>
  );
}

/** Hands each new item to the toast manager once. */
function ToastFeed({ items, onDismiss }: ToastsProps) {
  const manager = Toast.useToastManager();
  const shown = useRef(new Set<number>());
  useEffect(() => {
    for (const item of items) {
      if (shown.current.has(item.id)) continue;
      shown.current.add(item.id);
      manager.add({
        id: String(item.id),
        title: item.text,
        type: item.kind,
        timeout: item.durationMs,
        priority: item.kind === 'error' ? 'high' : 'low',
        onClose: () => onDismiss(item.id),
      });
    }
  }, [items, manager, onDismiss]);
  return null;
}

function ToastList() {
  const { toasts } = Toast.useToastManager();
  return toasts.map((toast) => {
    const Icon = alertIcons[toast.type === 'success' || toast.type === 'error' ? toast.type : 'info'];
    return (
      <Toast.Root key={toast.id} toast={toast} className={styles.toast} data-type={toast.type}>
        <Toast.Content className={styles.content}>
          <span className={styles.icon} aria-hidden="true">
            <Icon />
          </span>
          <Toast.Title className={styles.text} render={<p />} />
          <Toast.Close render={<IconButton size="small" label={t('app.dismiss')} icon={<X />} />} />
        </Toast.Content>
      </Toast.Root>
    );
  });
}
