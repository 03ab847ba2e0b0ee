import { IconButton } from './Button.tsx';
import { useOnDemand } from './onDemand.tsx';
import type { PopoverProps } from './PopoverPopup.tsx';

const load = () => import('./PopoverPopup.tsx');

/**
 * An icon button that opens a panel below it. Focus goes in and comes back; Escape closes it. The panel's code loads
 * when the button is about to be used.
 */
export function Popover(props: PopoverProps) {
  const { label, icon, title, open, onOpenChange } = props;
  const popup = useOnDemand(load, open);
  const preload = () => void load().catch(() => undefined);
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
  return popup === null ? trigger : <popup.PopoverPopup {...props} />;
}
