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
    const saved = await attempt(() => actions.renameDevice(wanted), { failure: t('devices.renameFailed') });
    setBusy(false);
    if (saved) onDone();
  }

  return (
    <CardForm
      label={t('devices.rename')}
      busy={busy}
      onSubmit={save}
      submitLabel={t('devices.rename.save')}
      cancelLabel={t('devices.rename.cancel')}
      onCancel={onDone}
    >
      <TextField
        label={t('devices.name')}
        name="deviceName"
        ref={focusOnMount}
        description={t('devices.nameHint')}
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
