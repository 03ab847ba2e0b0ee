import { useAtomValue } from 'jotai';
import { KeyRound } from 'lucide-react';
import { t } from '../../i18n/i18n.ts';
import { requiredActionsAtom } from '../../store/actions.ts';
import { bannerAtom } from '../../store/banners.ts';
import { Banner } from '../../ui/Banner.tsx';
import { Button } from '../../ui/Button.tsx';
import { useSetUpRecoveryKey } from './useSetUpRecoveryKey.ts';

/** Offers a recovery key until one exists or the person dismisses it; the Profile tab still says that there is none. */
export function RecoveryOffer() {
  const actions = useAtomValue(requiredActionsAtom);
  const setUpRecoveryKey = useSetUpRecoveryKey();
  const isOffered = useAtomValue(bannerAtom) === 'recovery-key';
  if (!isOffered) return null;
  return (
    <Banner
      tone="accent"
      label={t('recovery.offer.title')}
      icon={<KeyRound />}
      actions={
        <>
          <Button size="small" variant="primary" aria-haspopup="dialog" onClick={setUpRecoveryKey}>
            {t('recovery.offer.create')}
          </Button>
          <Button size="small" variant="quiet" onClick={() => void actions.dismissRecoveryOffer()}>
            {t('recovery.offer.later')}
          </Button>
        </>
      }
    >
      {t('recovery.offer.text')}
    </Banner>
  );
}
