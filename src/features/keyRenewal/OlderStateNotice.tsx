import { useAtomValue } from 'jotai';
import { History } from 'lucide-react';
import { t } from '../../i18n/i18n.ts';
import { RichText } from '../../i18n/RichText.tsx';
import { visibleName } from '../../lib/people.ts';
import { requiredActionsAtom } from '../../store/actions.ts';
import { bannerAtom } from '../../store/banners.ts';
import { devicesAtom } from '../../store/devices.ts';
import { olderStatesAtom } from '../../store/keys.ts';
import { Banner } from '../../ui/Banner.tsx';
import { Button } from '../../ui/Button.tsx';

/** Says that the relay has given this browser, or another one of the person's, older account data than the other had. */
export function OlderStateNotice() {
  const actions = useAtomValue(requiredActionsAtom);
  const devices = useAtomValue(devicesAtom);
  const [older] = useAtomValue(olderStatesAtom);
  const isShown = useAtomValue(bannerAtom) === 'older-state';
  if (!isShown || older === undefined) return null;
  const device = devices?.find(({ id }) => id === older.deviceId);
  const name = device === undefined ? t('accountChanges.noDevice') : visibleName(device.name);
  return (
    <Banner
      tone="warning"
      label={t('keyNotices.olderData')}
      icon={<History />}
      actions={
        <Button size="small" variant="quiet" onClick={() => void actions.acknowledgeOlderStates()}>
          {t('app.dismiss')}
        </Button>
      }
    >
      <strong>
        <RichText
          id={older.place === 'here' ? 'keyNotices.olderHere' : 'keyNotices.olderThere'}
          parts={{ device: <bdi>{name}</bdi> }}
        />
      </strong>{' '}
      {t('keyNotices.olderHint')}
    </Banner>
  );
}
