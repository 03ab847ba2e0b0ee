import { useAtomValue, useSetAtom } from 'jotai';
import { History } from 'lucide-react';
import { useId, useState } from 'react';
import { t } from '../../i18n/i18n.ts';
import { requiredActionsAtom } from '../../store/actions.ts';
import { attemptAtom } from '../../store/attempt.ts';
import { backupKeptAtom } from '../../store/messageBackup.ts';
import { Card, CardRow } from '../../ui/Card.tsx';
import { ConfirmDialog } from '../../ui/ConfirmDialog.tsx';
import { onDemand } from '../../ui/onDemand.tsx';
import { Switch } from '../../ui/Switch.tsx';

const Retention = onDemand<{ open: boolean }>(async () => (await import('./Retention.tsx')).Retention);

/** Turns the message backup on or off, from which a new device of this person reads earlier messages. */
export function MessageBackupCard({ id }: { id?: string }) {
  const kept = useAtomValue(backupKeptAtom);
  const actions = useAtomValue(requiredActionsAtom);
  const attempt = useSetAtom(attemptAtom);
  const [asking, setAsking] = useState(false);
  const explanation = useId();

  const change = (next: boolean) =>
    void attempt(() => actions.setBackupKept(next), { failure: t('messageBackup.changeFailed') });

  return (
    <Card
      title={t('messageBackup.title')}
      icon={<History />}
      description={t('messageBackup.description')}
      {...(id !== undefined && { id })}
    >
      <CardRow
        title={t('messageBackup.keep')}
        description={
          <span id={explanation}>{t(kept === false ? 'messageBackup.off' : 'messageBackup.on')}</span>
        }
        control={
          <Switch
            label={t('messageBackup.keep')}
            describedBy={explanation}
            checked={kept ?? true}
            disabled={kept === null}
            onCheckedChange={(next) => (next ? change(true) : setAsking(true))}
          />
        }
      />
      <Retention open />
      <ConfirmDialog
        open={asking}
        onOpenChange={setAsking}
        title={t('messageBackup.confirm.title')}
        confirmLabel={t('messageBackup.confirm.action')}
        onConfirm={() => {
          setAsking(false);
          change(false);
        }}
      >
        <p>{t('messageBackup.confirm.body')}</p>
      </ConfirmDialog>
    </Card>
  );
}
