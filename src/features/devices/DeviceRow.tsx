import { useAtomValue, useSetAtom } from 'jotai';
import { useState } from 'react';
import { t } from '../../i18n/i18n.ts';
import { visibleName } from '../../lib/people.ts';
import { requiredActionsAtom } from '../../store/actions.ts';
import { attemptAtom } from '../../store/attempt.ts';
import type { OwnDevice } from '../../store/devices.ts';
import { Button } from '../../ui/Button.tsx';
import { CardBody, CardRow } from '../../ui/Card.tsx';
import { ConfirmDialog } from '../../ui/ConfirmDialog.tsx';
import { longDay, shortMoment } from '../../ui/format.ts';
import { Tag } from '../../ui/Tag.tsx';
import { useNow } from '../../ui/useNow.ts';
import styles from './DevicesCard.module.css';
import { RenameDeviceForm } from './RenameDeviceForm.tsx';

export function DeviceRow({ device }: { device: OwnDevice }) {
  const now = useNow();
  const [renaming, setRenaming] = useState(false);
  const name = visibleName(device.name);
  if (renaming) {
    return (
      <CardBody>
        <RenameDeviceForm name={device.name} onDone={() => setRenaming(false)} />
      </CardBody>
    );
  }
  const added = t('deviceList.added', { date: longDay(device.createdAt) });
  const seen = t('deviceList.lastSeen', { time: shortMoment(device.lastSeenAt, now) });
  return (
    <CardRow
      title={
        <span className={styles.name}>
          <bdi>{name}</bdi>
          {device.isThisOne && <Tag>{t('deviceList.thisOne')}</Tag>}
        </span>
      }
      description={device.isThisOne ? added : `${added} · ${seen}`}
      control={
        device.isThisOne ? (
          <Button onClick={() => setRenaming(true)}>{t('deviceList.rename')}</Button>
        ) : (
          <RevokeDevice id={device.id} name={name} />
        )
      }
    />
  );
}

function RevokeDevice({ id, name }: { id: string; name: string }) {
  const actions = useAtomValue(requiredActionsAtom);
  const attempt = useSetAtom(attemptAtom);
  const [asking, setAsking] = useState(false);
  const [busy, setBusy] = useState(false);

  async function revoke() {
    setBusy(true);
    await attempt(() => actions.revokeDevice(id), {
      success: t('deviceList.revoked', { name }),
      failure: t('deviceList.revokeFailed'),
    });
    setBusy(false);
    setAsking(false);
  }

  return (
    <>
      <Button aria-label={t('deviceList.revoke.named', { name })} onClick={() => setAsking(true)}>
        {t('deviceList.revoke')}
      </Button>
      <ConfirmDialog
        open={asking}
        onOpenChange={setAsking}
        title={t('deviceList.revoke.title', { name })}
        confirmLabel={t('deviceList.revoke.confirm')}
        busy={busy}
        onConfirm={() => void revoke()}
      >
        <p>{t('deviceList.revoke.detail')}</p>
      </ConfirmDialog>
    </>
  );
}
