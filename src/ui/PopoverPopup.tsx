import { Popover as BasePopover } from '@base-ui/react/popover';
import type { ReactNode } from 'react';
import { iconButtonClass } from './Button.tsx';
import styles from './Popover.module.css';
import { useReplacedTrigger } from './useReplacedTrigger.ts';

export interface PopoverProps {
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

/** Holds the trigger too, because the panel is placed below it. */
export function PopoverPopup({ label, icon, title, open, onOpenChange, action, children }: PopoverProps) {
  const { trigger, isReady } = useReplacedTrigger();
  return (
    <BasePopover.Root open={open && isReady} onOpenChange={(next) => onOpenChange(next)}>
      <BasePopover.Trigger ref={trigger} className={iconButtonClass} aria-label={label} title={title}>
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
