import { useAtomValue, useSetAtom } from 'jotai';
import { useState } from 'react';
import { t } from '../../i18n/i18n.ts';
import { requiredActionsAtom } from '../../store/actions.ts';
import { attemptAtom } from '../../store/attempt.ts';
import { Choice } from '../../ui/Choice.tsx';
import { Dialog } from '../../ui/Dialog.tsx';
import { CardForm } from '../../ui/Form.tsx';
import type { TimerDialogProps } from './TimerButton.tsx';
import { timerText } from './timerText.ts';

const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;
/** Seconds. */
const offered = [0, 5, minute / 2, 5 * minute, hour, 8 * hour, day, 7 * day, 28 * day];

/** Asks after which time messages of a conversation disappear. */
export function TimerDialog({ conversationKey, timer, open, onClose }: TimerDialogProps) {
  return (
    <Dialog open={open} onOpenChange={onClose} title={t('timer.title')}>
      <TimerForm {...{ conversationKey, timer, onClose }} />
    </Dialog>
  );
}

function TimerForm({ conversationKey, timer, onClose }: Omit<TimerDialogProps, 'open'>) {
  const actions = useAtomValue(requiredActionsAtom);
  const attempt = useSetAtom(attemptAtom);
  const [chosen, setChosen] = useState(String(timer));
  const [busy, setBusy] = useState(false);
  // Another client may have set one that isn't offered here.
  const all = offered.includes(timer) ? offered : [...offered, timer];

  async function save() {
    setBusy(true);
    const isSet = await attempt(() => actions.setMessageTimer(conversationKey, Number(chosen)), {
      failure: t('timer.failed'),
    });
    setBusy(false);
    if (isSet) onClose();
  }

  return (
    <CardForm
      label={t('timer.title')}
      busy={busy}
      onSubmit={save}
      submitLabel={t('timer.save')}
      cancelLabel={t('app.cancel')}
      onCancel={onClose}
    >
      <p>{t('timer.hint')}</p>
      <Choice
        label={t('timer.time')}
        options={all.map((seconds) => ({ value: String(seconds), label: timerText(seconds) }))}
        value={chosen}
        onValueChange={setChosen}
      />
      <p>{t('timer.limits')}</p>
    </CardForm>
  );
}
