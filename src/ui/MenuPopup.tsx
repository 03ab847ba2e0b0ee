import { Menu as BaseMenu } from '@base-ui/react/menu';
import { clsx } from 'clsx';
import { type ReactNode, useState } from 'react';
import { iconButtonClass } from './Button.tsx';
import styles from './Menu.module.css';
import { useReplacedTrigger } from './useReplacedTrigger.ts';

interface MenuEntry {
  label: string;
  icon: ReactNode;
  danger?: boolean;
  onSelect: () => void;
}

export interface MenuProps {
  /** The trigger's accessible name. */
  label: string;
  icon: ReactNode;
  entries: readonly MenuEntry[];
  /** The trigger's `tabindex`. */
  tabIndex?: number;
}

/** Holds the trigger too, because the list is placed beside it. Opens at once, because it mounts on request. */
export function MenuPopup({ label, icon, entries, tabIndex = 0 }: MenuProps) {
  const { trigger, isReady } = useReplacedTrigger();
  const [open, setOpen] = useState(true);
  return (
    <BaseMenu.Root open={open && isReady} onOpenChange={(next) => setOpen(next)}>
      <BaseMenu.Trigger
        ref={trigger}
        className={iconButtonClass}
        aria-label={label}
        title={label}
        tabIndex={tabIndex}
      >
        {icon}
      </BaseMenu.Trigger>
      <BaseMenu.Portal>
        <BaseMenu.Positioner className={styles.positioner} align="end" sideOffset={6} collisionPadding={8}>
          <BaseMenu.Popup className={styles.popup}>
            {entries.map((entry) => (
              <BaseMenu.Item
                key={entry.label}
                className={clsx(styles.item, entry.danger && styles.danger)}
                onClick={entry.onSelect}
              >
                {entry.icon}
                {entry.label}
              </BaseMenu.Item>
            ))}
          </BaseMenu.Popup>
        </BaseMenu.Positioner>
      </BaseMenu.Portal>
    </BaseMenu.Root>
  );
}
