import { useAtomValue } from 'jotai';
import { useState } from 'react';
import { t } from '../../i18n/i18n.ts';
import { bannerAtom } from '../../store/banners.ts';
import { readyUpdateAtom } from '../../store/update.ts';
import { Alert } from '../../ui/Alert.tsx';
import { Button } from '../../ui/Button.tsx';

/** A newer version of the app waits until the person wants it; drafts outlive the reload. */
export function UpdateBar() {
  const shown = useAtomValue(bannerAtom) === 'update';
  const update = useAtomValue(readyUpdateAtom);
  const [busy, setBusy] = useState(false);
  if (!shown || update === null) return null;
  if (update.bar !== undefined) return update.bar;
  return (
    <Alert
      kind="info"
      action={
        <Button
          size="small"
          busy={busy}
          onClick={() => {
            setBusy(true);
            update.apply();
          }}
        >
          {t('session.reload')}
        </Button>
      }
    >
      {t('session.updateReady')}
    </Alert>
  );
}
