import { type ReactNode, Suspense } from 'react';
import { IconButton } from './Button.tsx';
import { chunk, useAskedFor } from './chunk.tsx';

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

const popup = chunk(() => import('./PopoverPopup.tsx'));
const PopoverPopup = popup.component((popover) => popover.PopoverPopup);

/**
 * An icon button that opens a panel below it. Focus goes in and comes back; Escape closes it. What draws the panel comes
 * when the button is about to be used.
 */
export function Popover(props: PopoverProps) {
  const { label, icon, title, open, onOpenChange } = props;
  const isThere = useAskedFor(popup, open);
  const preload = () => void popup.load().catch(() => undefined);
  const trigger = (
    <IconButton
      label={label}
      title={title}
      icon={icon}
      aria-haspopup="dialog"
      aria-expanded={open}
      onPointerEnter={preload}
      onFocus={preload}
      onClick={() => onOpenChange(true)}
    />
  );
  if (!isThere) return trigger;
  return (
    <Suspense fallback={trigger}>
      <PopoverPopup {...props} />
    </Suspense>
  );
}
