import { useAtomValue } from 'jotai';
import { MonitorSmartphone } from 'lucide-react';
import { useEffect, useState } from 'react';
import { t } from '../../i18n/i18n.ts';
import { errorText } from '../../lib/errorText.ts';
import { requiredActionsAtom } from '../../store/actions.ts';
import { devicesAtom } from '../../store/devices.ts';
import { Alert } from '../../ui/Alert.tsx';
import { Button } from '../../ui/Button.tsx';
import { Card, CardBody } from '../../ui/Card.tsx';
import { SkeletonRows } from '../../ui/SkeletonRows.tsx';
import { DeviceRow } from './DeviceRow.tsx';
import styles from './DevicesCard.module.css';
import { OtherSessions } from './OtherSessions.tsx';

/** Lists the devices on which the person is signed in, each with a way to remove it. */
export function DevicesCard({ id }: { id?: string }) {
  const devices = useAtomValue(devicesAtom);
  const [attempt, setAttempt] = useState(0);
  return (
    <Card
      title={t('deviceList.card.title')}
      icon={<MonitorSmartphone />}
      description={t('deviceList.card.lead')}
      {...(id !== undefined && { id })}
    >
      <Loader key={attempt} onRetry={() => setAttempt((count) => count + 1)} />
      {devices !== null && (
        <ul className={styles.list} aria-label={t('deviceList.list')}>
          {devices.map((device) => (
            <li key={device.id}>
              <DeviceRow device={device} />
            </li>
          ))}
        </ul>
      )}
      <OtherSessions />
    </Card>
  );
}

/** Loads the list once, and says whether it loads or failed. */
function Loader({ onRetry }: { onRetry: () => void }) {
  const actions = useAtomValue(requiredActionsAtom);
  const isLoaded = useAtomValue(devicesAtom) !== null;
  const [failure, setFailure] = useState<string | null>(null);

  useEffect(() => {
    let shown = true;
    actions
      .loadDevices()
      .catch((error: unknown) => shown && setFailure(errorText(error, t('devices.loadFailed'))));
    return () => {
      shown = false;
    };
  }, [actions]);

  if (failure !== null) {
    const retry = (
      <Button size="small" onClick={onRetry}>
        {t('deviceList.retry')}
      </Button>
    );
    return (
      <CardBody>
        <Alert kind="error" action={retry}>
          {failure}
        </Alert>
      </CardBody>
    );
  }
  if (isLoaded) return null;
  return (
    <CardBody>
      <SkeletonRows text={t('deviceList.loading')} count={2} shape="square" />
    </CardBody>
  );
}
