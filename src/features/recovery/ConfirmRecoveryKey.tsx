import { useAtomValue } from 'jotai';
import { useState } from 'react';
import { t } from '../../i18n/i18n.ts';
import { requiredActionsAtom } from '../../store/actions.ts';
import { Button } from '../../ui/Button.tsx';
import { TextField } from '../../ui/Field.tsx';
import { Form } from '../../ui/Form.tsx';
import { focusOnMount } from '../../ui/focus.ts';
import { useSubmission } from '../../ui/useSubmission.ts';
import styles from './RecoveryKeyDialog.module.css';
import { groupsOf, isGroup } from './recoveryKeyText.ts';

interface ConfirmRecoveryKeyProps {
  recoveryKey: string;
  onBack: () => void;
  onConfirmed: () => void;
}

/** Asks for one group of the key, which only a person with a copy can type. */
export function ConfirmRecoveryKey({ recoveryKey, onBack, onConfirmed }: ConfirmRecoveryKeyProps) {
  const actions = useAtomValue(requiredActionsAtom);
  const groups = groupsOf(recoveryKey);
  const [asked] = useState(() => Math.floor(Math.random() * groups.length));
  const [typed, setTyped] = useState('');
  const [wrong, setWrong] = useState(false);
  const { busy, failure, submit, forgetFailure } = useSubmission();
  const number = asked + 1;

  async function save() {
    forgetFailure();
    const isRight = isGroup(typed, groups[asked] ?? '');
    setWrong(!isRight);
    if (!isRight) return;
    await submit(async () => {
      await actions.saveRecoveryKey();
      onConfirmed();
    }, t('recovery.saveFailed'));
  }

  return (
    <Form
      className={styles.step}
      label={t('recovery.dialog.title')}
      busy={busy}
      failure={failure?.text}
      onSubmit={save}
    >
      <p>{t('recovery.confirm.lead', { number })}</p>
      <TextField
        label={t('recovery.confirm.label', { number })}
        name="group"
        ref={focusOnMount}
        error={wrong ? t('recovery.confirm.failed') : undefined}
        value={typed}
        onValueChange={(value) => {
          setTyped(value);
          setWrong(false);
        }}
        autoComplete="off"
        autoCapitalize="characters"
        autoCorrect="off"
        spellCheck={false}
        readOnly={busy}
        required
      />
      <div className={styles.actions}>
        <Button variant="quiet" disabled={busy} onClick={onBack}>
          {t('recovery.confirm.back')}
        </Button>
        <Button type="submit" variant="primary" busy={busy}>
          {t('recovery.confirm.save')}
        </Button>
      </div>
    </Form>
  );
}
