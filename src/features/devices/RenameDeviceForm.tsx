import { useAtomValue, useSetAtom } from 'jotai';
import { useState } from 'react';
import { t } from '../../i18n/i18n.ts';
import { requiredActionsAtom } from '../../store/actions.ts';
import { attemptAtom } from '../../store/attempt.ts';
import { TextField } from '../../ui/Field.tsx';
import { CardForm } from '../../ui/Form.tsx';
import { focusOnMount } from '../../ui/focus.ts';

const maxLength = 100;

export function RenameDeviceForm({ name, onDone }: { name: string; onDone: () => void }) {
  const actions = useAtomValue(requiredActionsAtom);
  const attempt = useSetAtom(attemptAtom);
  const [wanted, setWanted] = useState(name);
  const [busy, setBusy] = useState(false);

  async function save() {
    if (wanted.trim() === '') return;
    setBusy(true);
    const saved = await attempt(() => actions.renameDevice(wanted), {
      failure: t('deviceList.renameFailed'),
    });
    setBusy(false);
    if (saved) onDone();
  }

  return (
    <CardForm
      label={t('deviceList.rename')}
      busy={busy}
      onSubmit={save}
      submitLabel={t('deviceList.rename.save')}
      cancelLabel={t('deviceList.rename.cancel')}
      onCancel={onDone}
    >
      <TextField
        label={t('deviceList.name')}
        name="deviceName"
        ref={focusOnMount}
        description={t('deviceList.nameHint')}
        value={wanted}
        onValueChange={setWanted}
        maxLength={maxLength}
        autoComplete="off"
        readOnly={busy}
        required
      />
    </CardForm>
  );
}
