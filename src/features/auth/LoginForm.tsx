import { useAtomValue } from 'jotai';
import { useEffect, useState } from 'react';
import { t } from '../../i18n/i18n.ts';
import { requiredActionsAtom } from '../../store/actions.ts';
import { authErrorAtom } from '../../store/session.ts';
import { PasswordField, UsernameField } from '../../ui/Field.tsx';
import { PageForm } from '../../ui/Form.tsx';
import { useSubmission } from '../../ui/useSubmission.ts';
import { AuthProgressLine } from './AuthProgress.tsx';

/** Logs in; the route decides which page follows. */
export function LoginForm() {
  const actions = useAtomValue(requiredActionsAtom);
  const sessionError = useAtomValue(authErrorAtom);
  const [identifier, setIdentifier] = useState('');
  const [password, setPassword] = useState('');
  const { busy, failure, submit } = useSubmission();

  useEffect(() => actions.prepareSignIn(), [actions]);

  const logIn = () =>
    submit(() => actions.logIn({ identifier: identifier.trim(), password }), t('errors.loginFailed'));

  return (
    <PageForm
      label={t('auth.login.title')}
      busy={busy}
      failure={busy ? null : (failure?.text ?? sessionError)}
      onSubmit={logIn}
      submitLabel={t(busy ? 'auth.login.busy' : 'auth.login.submit')}
      progress={<AuthProgressLine />}
    >
      <UsernameField
        label={t('auth.username')}
        description={t('auth.usernameHint')}
        value={identifier}
        onValueChange={setIdentifier}
        readOnly={busy}
        required
      />
      <PasswordField
        label={t('auth.password')}
        name="password"
        value={password}
        onValueChange={setPassword}
        autoComplete="current-password"
        readOnly={busy}
        required
      />
    </PageForm>
  );
}
