import { useAtomValue } from 'jotai';
import { type FormEvent, useState } from 'react';
import { errorText } from '../../lib/errorText.ts';
import { requiredActionsAtom } from '../../store/actions.ts';
import { authErrorAtom } from '../../store/session.ts';
import { Alert } from '../../ui/Alert.tsx';
import { Button } from '../../ui/Button.tsx';
import { PasswordField, TextField } from '../../ui/Field.tsx';
import styles from './AuthForm.module.css';
import { AuthProgressLine } from './AuthProgress.tsx';
import { authTexts } from './texts.ts';

/** Where it leads once logged in is the route's affair. */
export function LoginForm() {
  const actions = useAtomValue(requiredActionsAtom);
  const sessionError = useAtomValue(authErrorAtom);
  const [identifier, setIdentifier] = useState('');
  const [password, setPassword] = useState('');
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<string | null>(null);

  async function submit() {
    setBusy(true);
    setFailure(null);
    try {
      await actions.logIn({ identifier: identifier.trim(), password });
    } catch (error) {
      setFailure(errorText(error, authTexts.loginFailed));
    } finally {
      setBusy(false);
    }
  }

  const shownError = busy ? null : (failure ?? sessionError);
  return (
    <form
      className={styles.form}
      aria-label={authTexts.loginTitle}
      onSubmit={(event: FormEvent) => {
        event.preventDefault();
        if (!busy) void submit();
      }}
    >
      {shownError !== null && <Alert kind="error">{shownError}</Alert>}
      <div className={styles.fields}>
        <TextField
          label="Username"
          name="username"
          description={authTexts.usernameHint}
          value={identifier}
          onValueChange={setIdentifier}
          autoComplete="username"
          autoCapitalize="none"
          autoCorrect="off"
          spellCheck={false}
          readOnly={busy}
          required
        />
        <PasswordField
          label="Password"
          name="password"
          value={password}
          onValueChange={setPassword}
          autoComplete="current-password"
          readOnly={busy}
          required
        />
      </div>
      <Button type="submit" variant="primary" size="large" wide busy={busy}>
        {busy ? authTexts.loggingIn : authTexts.login}
      </Button>
      <AuthProgressLine />
    </form>
  );
}
