import { Menu as BaseMenu } from '@base-ui/react/menu';
import { clsx } from 'clsx';
import type { ReactNode } from 'react';
import { iconButtonClass } from './Button.tsx';
import styles from './Menu.module.css';

export interface MenuEntry {
  label: string;
  icon: ReactNode;
  danger?: boolean;
  onSelect: () => void;
}

interface MenuProps {
  /** The trigger's accessible name. */
  label: string;
  icon: ReactNode;
  entries: readonly MenuEntry[];
}

/** An icon button that opens a list of actions. */
export function Menu({ label, icon, entries }: MenuProps) {
  return (
    <BaseMenu.Root>
      <BaseMenu.Trigger className={iconButtonClass} aria-label={label} title={label}>
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
