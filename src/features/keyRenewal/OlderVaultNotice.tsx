import { useAtomValue, useSetAtom } from 'jotai';
import { History } from 'lucide-react';
import { t } from '../../i18n/i18n.ts';
import { requiredActionsAtom } from '../../store/actions.ts';
import { attemptAtom } from '../../store/attempt.ts';
import { bannerAtom } from '../../store/banners.ts';
import { Banner } from '../../ui/Banner.tsx';
import { Button } from '../../ui/Button.tsx';

/** Says that the relay has an older state of the account than this browser, and lets the person go on with it. */
export function OlderVaultNotice() {
  const actions = useAtomValue(requiredActionsAtom);
  const attempt = useSetAtom(attemptAtom);
  if (useAtomValue(bannerAtom) !== 'older-vault') return null;
  const outcome = { success: t('keyNotices.acceptedOlder'), failure: t('keys.acceptOlderFailed') };
  return (
    <Banner
      tone="warning"
      label={t('keyNotices.olderTitle')}
      icon={<History />}
      actions={
        <Button
          size="small"
          aria-haspopup="dialog"
          onClick={() => void attempt(() => actions.acceptOlderVault(), outcome)}
        >
          {t('keyNotices.acceptOlder')}
        </Button>
      }
    >
      {t('keyNotices.older')}
    </Banner>
  );
}
