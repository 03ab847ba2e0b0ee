import { useAtomValue, useSetAtom } from 'jotai';
import { ShieldAlert } from 'lucide-react';
import type { MessageId } from '../../i18n/catalogue.ts';
import { t } from '../../i18n/i18n.ts';
import { RichText } from '../../i18n/RichText.tsx';
import { visibleName } from '../../lib/people.ts';
import { type AccountChange, accountChangesAtom } from '../../store/accountChanges.ts';
import { requiredActionsAtom } from '../../store/actions.ts';
import { bannerAtom } from '../../store/banners.ts';
import { profileSectionAtom } from '../../store/profileSection.ts';
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
  'recovery-key-created': 'accountChanges.recoveryKeyCreated',
  username: 'accountChanges.username',
  vault: 'accountChanges.vault',
} as const satisfies Record<AccountChange['kind'], MessageId>;

/**
 * Says what was changed on the account elsewhere, until the person has judged it; then the next change. Each takes the password
 * or the recovery key, so that a new password alone shuts out nobody who has made one: the way out is moving on.
 */
export function AccountChangeNotice({ onReview }: { onReview: () => void }) {
  const actions = useAtomValue(requiredActionsAtom);
  const [change] = useAtomValue(accountChangesAtom);
  const shown = useAtomValue(bannerAtom) === 'account-change';
  const leadTo = useSetAtom(profileSectionAtom);
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
          <Button
            size="small"
            onClick={() => {
              leadTo('moving-on');
              onReview();
            }}
          >
            {t('accountChanges.notMe')}
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
