import { Popover as BasePopover } from '@base-ui/react/popover';
import type { ReactNode } from 'react';
import { iconButtonClass } from './Button.tsx';
import styles from './Popover.module.css';

interface PopoverProps {
  /** The trigger's accessible name. */
  label: string;
  icon: ReactNode;
  title: string;
  open: boolean;
  onOpenChange: (open: boolean) => void;
  /** Beside the title. */
  action?: ReactNode;
  children: ReactNode;
}

/** An icon button that opens a panel below it. Focus goes in and comes back; Escape closes it. */
export function Popover({ label, icon, title, open, onOpenChange, action, children }: PopoverProps) {
  return (
    <BasePopover.Root open={open} onOpenChange={(next) => onOpenChange(next)}>
      <BasePopover.Trigger className={iconButtonClass} aria-label={label} title={title}>
        {icon}
      </BasePopover.Trigger>
      <BasePopover.Portal>
        <BasePopover.Positioner className={styles.positioner} align="end" sideOffset={6} collisionPadding={8}>
          <BasePopover.Popup className={styles.popup}>
            <div className={styles.head}>
              <BasePopover.Title className={styles.title}>{title}</BasePopover.Title>
              {action}
            </div>
            {children}
          </BasePopover.Popup>
        </BasePopover.Positioner>
      </BasePopover.Portal>
    </BasePopover.Root>
  );
}
