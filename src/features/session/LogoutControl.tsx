import { ChevronDown, Eraser, LogOut } from 'lucide-react';
import { useState } from 'react';
import { t } from '../../i18n/i18n.ts';
import { paths } from '../../lib/paths.ts';
import { Button } from '../../ui/Button.tsx';
import { ConfirmDialog } from '../../ui/ConfirmDialog.tsx';
import { Menu } from '../../ui/Menu.tsx';
import styles from './LogoutControl.module.css';
import { useLogOut } from './useLogOut.ts';

/** Logout in one click; beside it the other way of logging out, which asks first. */
export function LogoutControl() {
  const { busy, logOut } = useLogOut(paths.landing);
  const [asking, setAsking] = useState(false);
  return (
    <div className={styles.control}>
      <Button variant="quiet" busy={busy && !asking} onClick={() => void logOut({ erase: false })}>
        {busy && !asking ? t('session.loggingOut') : t('session.logout')}
      </Button>
      <Menu
        label={t('session.moreOptions')}
        icon={<ChevronDown />}
        entries={[
          {
            label: t('session.logOut'),
            icon: <LogOut />,
            onSelect: () => void logOut({ erase: false }),
          },
          {
            label: t('session.logOutAndErase'),
            icon: <Eraser />,
            danger: true,
            onSelect: () => setAsking(true),
          },
        ]}
      />
      <ConfirmDialog
        open={asking}
        onOpenChange={setAsking}
        title={t('session.eraseTitle')}
        confirmLabel={t('session.eraseConfirm')}
        busy={busy}
        onConfirm={() => void logOut({ erase: true })}
      >
        <p>{t('session.eraseBody')}</p>
        <p>{t('session.eraseWarning')}</p>
      </ConfirmDialog>
    </div>
  );
}
