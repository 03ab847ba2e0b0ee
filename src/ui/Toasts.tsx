import { Toast } from '@base-ui/react/toast';
import { type CSSProperties, useEffect, useRef, useSyncExternalStore } from 'react';
import { t } from '../i18n/i18n.ts';
import { alertIcons } from './Alert.tsx';
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

/**
 * Short-lived messages, the newest in sight, announced to screen readers. The pointer goes through them. F6 moves the
 * focus to them and stops their time meanwhile; Escape dismisses one.
 */
export function Toasts({ items, onDismiss }: ToastsProps) {
  const style: CSSProperties & Record<`--${string}`, string> = { '--visible-top': `${useVisibleTop()}px` };
  return (
    <Toast.Provider limit={1}>
      <ToastFeed items={items} onDismiss={onDismiss} />
      <Toast.Portal>
        <Toast.Viewport className={styles.viewport} style={style} aria-label={t('app.toasts')}>
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
      <Toast.Root
        key={toast.id}
        toast={toast}
        className={styles.toast}
        data-type={toast.type}
        swipeDirection={[]}
      >
        <Toast.Content className={styles.content}>
          <Icon className={styles.icon} aria-hidden="true" />
          <Toast.Title className={styles.text} render={<p />} />
        </Toast.Content>
      </Toast.Root>
    );
  });
}

/** Pixels of the page above its visible part: a phone's keyboard may push the page's head out of sight. */
function useVisibleTop(): number {
  return useSyncExternalStore(onVisibleChange, () => Math.round(window.visualViewport?.offsetTop ?? 0));
}

function onVisibleChange(listener: () => void): () => void {
  const visible = window.visualViewport;
  visible?.addEventListener('resize', listener);
  visible?.addEventListener('scroll', listener);
  return () => {
    visible?.removeEventListener('resize', listener);
    visible?.removeEventListener('scroll', listener);
  };
}
