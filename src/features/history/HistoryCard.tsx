import { useAtomValue, useSetAtom } from 'jotai';
import { History } from 'lucide-react';
import { useId, useState } from 'react';
import { t } from '../../i18n/i18n.ts';
import { requiredActionsAtom } from '../../store/actions.ts';
import { attemptAtom } from '../../store/attempt.ts';
import { historyKeptAtom } from '../../store/history.ts';
import { Card, CardRow } from '../../ui/Card.tsx';
import { ConfirmDialog } from '../../ui/ConfirmDialog.tsx';
import { Switch } from '../../ui/Switch.tsx';

/** Whether a new device of this person can read what was said before it came. */
export function HistoryCard({ id }: { id?: string }) {
  const kept = useAtomValue(historyKeptAtom);
  const actions = useAtomValue(requiredActionsAtom);
  const attempt = useSetAtom(attemptAtom);
  const [asking, setAsking] = useState(false);
  const explanation = useId();

  const change = (next: boolean) =>
    void attempt(() => actions.setBackupKept(next), { failure: t('history.changeFailed') });

  return (
    <Card
      title={t('history.title')}
      icon={<History />}
      description={t('history.description')}
      {...(id !== undefined && { id })}
    >
      <CardRow
        title={t('history.keep')}
        description={<span id={explanation}>{t(kept === false ? 'history.off' : 'history.on')}</span>}
        control={
          <Switch
            label={t('history.keep')}
            describedBy={explanation}
            checked={kept ?? true}
            disabled={kept === null}
            onCheckedChange={(next) => (next ? change(true) : setAsking(true))}
          />
        }
      />
      <ConfirmDialog
        open={asking}
        onOpenChange={setAsking}
        title={t('history.confirm.title')}
        confirmLabel={t('history.confirm.action')}
        onConfirm={() => {
          setAsking(false);
          change(false);
        }}
      >
        <p>{t('history.confirm.body')}</p>
      </ConfirmDialog>
    </Card>
  );
}
