import { useAtomValue } from 'jotai';
import { ShieldAlert } from 'lucide-react';
import type { MessageId } from '../../i18n/catalogue.ts';
import { t } from '../../i18n/i18n.ts';
import { RichText } from '../../i18n/RichText.tsx';
import { visibleName } from '../../lib/people.ts';
import { type AccountChange, accountChangesAtom } from '../../store/accountChanges.ts';
import { requiredActionsAtom } from '../../store/actions.ts';
import { bannerAtom } from '../../store/banners.ts';
import { Banner } from '../../ui/Banner.tsx';
import { Button } from '../../ui/Button.tsx';
import { shortMoment } from '../../ui/format.ts';
import { useNow } from '../../ui/useNow.ts';

const sentences = {
  'device-revoked': 'accountChanges.deviceRevoked',
  email: 'accountChanges.email',
  'message-backup': 'accountChanges.messageBackup',
  'moved-on': 'accountChanges.movedOn',
  password: 'accountChanges.password',
  'recovery-key': 'accountChanges.recoveryKey',
  username: 'accountChanges.username',
  vault: 'accountChanges.vault',
} as const satisfies Record<AccountChange['kind'], MessageId>;

/** Says what was changed on the account elsewhere, until the person has judged it; then the next change. */
export function AccountChangeNotice({ onReview }: { onReview: () => void }) {
  const actions = useAtomValue(requiredActionsAtom);
  const [change] = useAtomValue(accountChangesAtom);
  const shown = useAtomValue(bannerAtom) === 'account-change';
  const now = useNow();
  if (!shown || change === undefined) return null;
  const device = change.deviceName === null ? t('accountChanges.noDevice') : visibleName(change.deviceName);
  return (
    <Banner
      tone="warning"
      label={t('accountChanges.title')}
      icon={<ShieldAlert />}
      actions={
        <>
          <Button size="small" onClick={onReview}>
            {t('accountChanges.review')}
          </Button>
          <Button size="small" variant="quiet" onClick={() => void actions.acknowledgeAccountChange()}>
            {t('accountChanges.acknowledge')}
          </Button>
        </>
      }
    >
      <strong>
        <RichText
          id={sentences[change.kind]}
          parts={{
            device: <bdi>{device}</bdi>,
            time: <time dateTime={change.createdAt}>{shortMoment(change.createdAt, now)}</time>,
          }}
        />
      </strong>{' '}
      {t('accountChanges.hint')}
    </Banner>
  );
}
