import { useAtomValue } from 'jotai';
import { type ReactNode, useEffect, useState } from 'react';
import { t } from '../../i18n/i18n.ts';
import { requiredActionsAtom } from '../../store/actions.ts';
import { TextAreaField, UsernameField } from '../../ui/Field.tsx';
import { PageForm } from '../../ui/Form.tsx';
import { useSubmission } from '../../ui/useSubmission.ts';
import { NewPasswordFields } from './NewPasswordFields.tsx';

/** Signs in a person who forgot the password by the recovery key. @param progress the steps under way */
export function RecoverForm({ progress }: { progress: ReactNode }) {
  const actions = useAtomValue(requiredActionsAtom);
  const [identifier, setIdentifier] = useState('');
  const [recoveryKey, setRecoveryKey] = useState('');
  const [password, setPassword] = useState('');
  const [repeated, setRepeated] = useState('');
  const [mismatch, setMismatch] = useState(false);
  const { busy, failure, submit, forgetFailure } = useSubmission();
  const aboutKey = failure?.code === 'bad-recovery-key';

  useEffect(() => actions.prepareSignIn(), [actions]);

  async function recover() {
    forgetFailure();
    setMismatch(password !== repeated);
    if (password !== repeated) return;
    await submit(
      () => actions.recover({ identifier: identifier.trim(), recoveryKey, password }),
      t('recovery.recoverFailed'),
    );
  }

  return (
    <PageForm
      label={t('recoveryForms.recover.title')}
      busy={busy}
      failure={aboutKey ? null : failure?.text}
      onSubmit={recover}
      submitLabel={t(busy ? 'recoveryForms.recovering' : 'recoveryForms.recover')}
      progress={progress}
    >
      <UsernameField
        label={t('recoveryForms.identifier')}
        value={identifier}
        onValueChange={setIdentifier}
        readOnly={busy}
        required
      />
      <TextAreaField
        label={t('recoveryForms.keyInput')}
        name="recoveryKey"
        description={t('recoveryForms.keyInputHint')}
        error={aboutKey ? failure?.text : undefined}
        value={recoveryKey}
        onValueChange={(value) => {
          setRecoveryKey(value);
          if (aboutKey) forgetFailure();
        }}
        rows={3}
        dir="ltr"
        autoComplete="off"
        autoCapitalize="characters"
        autoCorrect="off"
        spellCheck={false}
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
    </PageForm>
  );
}
