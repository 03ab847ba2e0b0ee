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

/** Offered until there is a key or the person has put it aside; the Profile tab goes on saying that there is none. */
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
      {/* Outside: it has something to say after there is a key. */}
      <RecoveryKeyDialog open={making} onOpenChange={setMaking} />
    </>
  );
}
