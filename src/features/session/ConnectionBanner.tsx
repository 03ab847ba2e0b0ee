import { useAtomValue } from 'jotai';
import { t } from '../../i18n/i18n.ts';
import { paths } from '../../lib/paths.ts';
import { bannerAtom } from '../../store/banners.ts';
import { Alert } from '../../ui/Alert.tsx';
import { Button } from '../../ui/Button.tsx';
import { useLogOut } from './useLogOut.ts';

/** Says that the session doesn't answer any more: only logging in again helps. */
export function ConnectionBanner() {
  const shown = useAtomValue(bannerAtom) === 'connection-error';
  const { busy, logOut } = useLogOut(paths.login);
  if (!shown) return null;
  return (
    <Alert
      kind="warning"
      action={
        <Button size="small" busy={busy} onClick={() => void logOut({ erase: false })}>
          {t('session.reLogin')}
        </Button>
      }
    >
      {t('session.connectionError')}
    </Alert>
  );
}
