import { useAtomValue } from 'jotai';
import { KeyRound } from 'lucide-react';
import { useState } from 'react';
import { t } from '../../i18n/i18n.ts';
import { requiredActionsAtom } from '../../store/actions.ts';
import { bannerAtom } from '../../store/banners.ts';
import { Banner } from '../../ui/Banner.tsx';
import { Button } from '../../ui/Button.tsx';
import { onDemand } from '../../ui/onDemand.tsx';

const RecoveryKeyDialog = onDemand(async () => (await import('./RecoveryKeyDialog.tsx')).RecoveryKeyDialog);

/** Offers a recovery key until one exists or the person dismisses it; the Profile tab still says that there is none. */
export function RecoveryOffer() {
  const actions = useAtomValue(requiredActionsAtom);
  const [making, setMaking] = useState(false);
  const isOffered = useAtomValue(bannerAtom) === 'recovery-key';
  return (
    <>
      {isOffered && (
        <Banner
          tone="accent"
          label={t('recovery.offer.title')}
          icon={<KeyRound />}
          actions={
            <>
              <Button size="small" variant="primary" aria-haspopup="dialog" onClick={() => setMaking(true)}>
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
      )}
      {/* The dialog stays outside of the offer: it has something to say after the key exists. */}
      <RecoveryKeyDialog open={making} onOpenChange={setMaking} />
    </>
  );
}
