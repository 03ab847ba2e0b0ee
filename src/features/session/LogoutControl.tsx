import { ChevronDown, Eraser, LogOut } from 'lucide-react';
import { useState } from 'react';
import { paths } from '../../lib/paths.ts';
import { Button } from '../../ui/Button.tsx';
import { ConfirmDialog } from '../../ui/ConfirmDialog.tsx';
import { Menu } from '../../ui/Menu.tsx';
import styles from './LogoutControl.module.css';
import { sessionTexts } from './texts.ts';
import { useLogOut } from './useLogOut.ts';

/** Logout in one click; beside it the other way of logging out, which asks first. */
export function LogoutControl() {
  const { busy, logOut } = useLogOut(paths.landing);
  const [asking, setAsking] = useState(false);
  return (
    <div className={styles.control}>
      <Button variant="quiet" busy={busy && !asking} onClick={() => void logOut({ erase: false })}>
        {busy && !asking ? sessionTexts.loggingOut : sessionTexts.logout}
      </Button>
      <Menu
        label={sessionTexts.moreOptions}
        icon={<ChevronDown />}
        entries={[
          {
            label: sessionTexts.logOut,
            icon: <LogOut />,
            onSelect: () => void logOut({ erase: false }),
          },
          {
            label: sessionTexts.logOutAndErase,
            icon: <Eraser />,
            danger: true,
            onSelect: () => setAsking(true),
          },
        ]}
      />
      <ConfirmDialog
        open={asking}
        onOpenChange={setAsking}
        title={sessionTexts.eraseTitle}
        confirmLabel={sessionTexts.eraseConfirm}
        busy={busy}
        onConfirm={() => void logOut({ erase: true })}
      >
        <p>{sessionTexts.eraseBody}</p>
        <p>{sessionTexts.eraseWarning}</p>
      </ConfirmDialog>
    </div>
  );
}
