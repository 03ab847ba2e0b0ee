import { useState } from 'react';
import { IconButton } from './Button.tsx';
import type { MenuProps } from './MenuPopup.tsx';
import { useOnDemand } from './onDemand.tsx';

const load = () => import('./MenuPopup.tsx');

/** An icon button that opens a list of actions. The list's code loads when the button is about to be used. */
export function Menu(props: MenuProps) {
  const [wanted, setWanted] = useState(false);
  const popup = useOnDemand(load, wanted);
  const { label, icon, tabIndex = 0 } = props;
  const preload = () => void load().catch(() => undefined);
  const trigger = (
    <IconButton
      label={label}
      icon={icon}
      tabIndex={tabIndex}
      aria-haspopup="menu"
      aria-expanded={wanted}
      onPointerEnter={preload}
      onFocus={preload}
      onClick={() => setWanted(true)}
      onKeyDown={(event) => {
        if (event.key === 'ArrowDown' || event.key === 'ArrowUp') setWanted(true);
      }}
    />
  );
  return popup === null ? trigger : <popup.MenuPopup {...props} />;
}
