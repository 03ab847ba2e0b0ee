import { useAtomValue, useSetAtom } from 'jotai';
import { useEffect, useRef, useState } from 'react';
import { t } from '../../i18n/i18n.ts';
import { requiredActionsAtom } from '../../store/actions.ts';
import { currentUserAtom } from '../../store/session.ts';
import { showToastAtom } from '../../store/toasts.ts';
import { PasswordField } from '../../ui/Field.tsx';
import { CardForm } from '../../ui/Form.tsx';
import { useSubmission } from '../../ui/useSubmission.ts';
import { NewPasswordFields } from './NewPasswordFields.tsx';
import styles from './RecoveryCard.module.css';

/** Sets another password, which takes the present one. */
export function ChangePasswordForm({ onDone }: { onDone: () => void }) {
  const actions = useAtomValue(requiredActionsAtom);
  const user = useAtomValue(currentUserAtom);
  const showToast = useSetAtom(showToastAtom);
  const [current, setCurrent] = useState('');
  const [password, setPassword] = useState('');
  const [repeated, setRepeated] = useState('');
  const [mismatch, setMismatch] = useState(false);
  const { busy, failure, submit, forgetFailure } = useSubmission();
  const form = useRef<HTMLFormElement>(null);
  const wrongPassword = failure?.code === 'wrong-password';
  const wrongField = mismatch ? 'repeatedPassword' : wrongPassword ? 'currentPassword' : null;

  useEffect(() => {
    const input = form.current?.elements.namedItem(wrongField ?? 'currentPassword');
    if (input instanceof HTMLInputElement) input.focus();
  }, [wrongField]);

  async function save() {
    forgetFailure();
    setMismatch(password !== repeated);
    if (password !== repeated) return;
    await submit(async () => {
      await actions.changePassword({ currentPassword: current, newPassword: password });
      showToast('success', t('recovery.password.changed'));
      onDone();
    }, t('recovery.changePasswordFailed'));
  }

  return (
    <CardForm
      ref={form}
      label={t('recovery.password.title')}
      busy={busy}
      failure={wrongPassword ? null : failure?.text}
      onSubmit={save}
      submitLabel={t(busy ? 'recovery.password.saving' : 'recovery.password.save')}
      cancelLabel={t('recovery.password.cancel')}
      onCancel={onDone}
    >
      {/* Password managers ask for the account's name. */}
      <input name="username" autoComplete="username" value={user?.username ?? ''} readOnly hidden />
      <PasswordField
        label={t('recovery.currentPassword')}
        name="currentPassword"
        error={wrongPassword ? t('recovery.wrongPassword') : undefined}
        value={current}
        onValueChange={(value) => {
          setCurrent(value);
          if (wrongPassword) forgetFailure();
        }}
        autoComplete="current-password"
        readOnly={busy}
        required
      />
      <NewPasswordFields
        password={password}
        repeated={repeated}
        onPasswordChange={setPassword}
        onRepeatedChange={setRepeated}
        mismatch={mismatch && password !== repeated}
        readOnly={busy}
      />
      <p className={styles.hint}>{t('recovery.password.lead')}</p>
    </CardForm>
  );
}
