import { useAtomValue, useSetAtom } from 'jotai';
import { MonitorSmartphone } from 'lucide-react';
import { t } from '../../i18n/i18n.ts';
import { RichText } from '../../i18n/RichText.tsx';
import { visibleName } from '../../lib/people.ts';
import { requiredActionsAtom } from '../../store/actions.ts';
import { bannerAtom } from '../../store/banners.ts';
import { newDevicesAtom } from '../../store/devices.ts';
import { profileSectionAtom } from '../../store/profileSection.ts';
import { Banner } from '../../ui/Banner.tsx';
import { Button } from '../../ui/Button.tsx';
import { Names } from '../../ui/Names.tsx';

/** Says that somebody has signed in to the account elsewhere, until the person has judged it. */
export function NewDeviceNotice({ onReview }: { onReview: () => void }) {
  const actions = useAtomValue(requiredActionsAtom);
  const devices = useAtomValue(newDevicesAtom);
  const shown = useAtomValue(bannerAtom) === 'new-device';
  const leadTo = useSetAtom(profileSectionAtom);
  if (!shown) return null;
  return (
    <Banner
      tone="warning"
      label={t('deviceList.card.title')}
      icon={<MonitorSmartphone />}
      actions={
        <>
          <Button
            size="small"
            onClick={() => {
              leadTo('devices');
              onReview();
            }}
          >
            {t('deviceList.review')}
          </Button>
          <Button size="small" variant="quiet" onClick={() => void actions.acknowledgeDevices()}>
            {t('deviceList.acknowledge')}
          </Button>
        </>
      }
    >
      <strong>
        <RichText
          id="deviceList.newDevice"
          parts={{ names: <Names names={devices.map(({ name }) => visibleName(name))} /> }}
        />
      </strong>{' '}
      {t('deviceList.newDevice.hint')}
    </Banner>
  );
}
