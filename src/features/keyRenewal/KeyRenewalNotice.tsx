import { useAtomValue, useSetAtom } from 'jotai';
import { KeyRound } from 'lucide-react';
import { t } from '../../i18n/i18n.ts';
import { requiredActionsAtom } from '../../store/actions.ts';
import { attemptAtom } from '../../store/attempt.ts';
import { bannerAtom } from '../../store/banners.ts';
import { Banner } from '../../ui/Banner.tsx';
import { Button } from '../../ui/Button.tsx';

/** Asks for the password once another device has renewed the keys that the person's devices share. */
export function KeyRenewalNotice() {
  const actions = useAtomValue(requiredActionsAtom);
  const attempt = useSetAtom(attemptAtom);
  if (useAtomValue(bannerAtom) !== 'keys-renewed') return null;
  const takeOver = () => attempt(() => actions.takeOverKeys(), { failure: t('keys.takeOverFailed') });
  return (
    <Banner
      tone="warning"
      label={t('keyNotices.renewedTitle')}
      icon={<KeyRound />}
      actions={
        <Button size="small" variant="primary" aria-haspopup="dialog" onClick={() => void takeOver()}>
          {t('keyNotices.takeOver')}
        </Button>
      }
    >
      {t('keyNotices.renewed')}
    </Banner>
  );
}
