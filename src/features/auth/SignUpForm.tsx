import { useAtomValue } from 'jotai';
import { type FormEvent, useEffect, useEffectEvent, useState } from 'react';
import { errorText } from '../../lib/errorText.ts';
import { paths } from '../../lib/paths.ts';
import { requiredActionsAtom } from '../../store/actions.ts';
import { Alert } from '../../ui/Alert.tsx';
import { Button } from '../../ui/Button.tsx';
import { CheckboxField } from '../../ui/Checkbox.tsx';
import { PasswordField, TextField } from '../../ui/Field.tsx';
import { VisuallyHidden } from '../../ui/VisuallyHidden.tsx';
import styles from './AuthForm.module.css';
import { AuthProgressLine } from './AuthProgress.tsx';
import { authTexts, signUpRedirectDelay } from './texts.ts';

interface SignUpFormProps {
  /** True from sending until it has failed, or its success sentence could be read: who leaves earlier misses it. */
  onBusyChange: (busy: boolean) => void;
}

export function SignUpForm({ onBusyChange }: SignUpFormProps) {
  const actions = useAtomValue(requiredActionsAtom);
  const [username, setUsername] = useState('');
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const [privacyConsent, setPrivacyConsent] = useState(false);
  const [consentError, setConsentError] = useState(false);
  const [state, setState] = useState<'idle' | 'busy' | 'done'>('idle');
  const [failure, setFailure] = useState<string | null>(null);
  const busy = state === 'busy';

  const done = useEffectEvent(() => onBusyChange(false));
  useEffect(() => {
    if (state !== 'done') return undefined;
    const timer = setTimeout(() => done(), signUpRedirectDelay);
    return () => clearTimeout(timer);
  }, [state]);

  async function submit() {
    setFailure(null);
    setConsentError(!privacyConsent);
    if (!privacyConsent) return;
    setState('busy');
    onBusyChange(true);
    try {
      await actions.signUp({ username: username.trim(), email: email.trim(), password, privacyConsent });
      setState('done');
    } catch (error) {
      setFailure(errorText(error, authTexts.signUpFailed));
      setState('idle');
      onBusyChange(false);
    }
  }

  if (state === 'done') return <Alert kind="success">{authTexts.signUpSucceeded}</Alert>;
  return (
    <form
      className={styles.form}
      aria-label={authTexts.signUpTitle}
      onSubmit={(event: FormEvent) => {
        event.preventDefault();
        if (!busy) void submit();
      }}
    >
      {failure !== null && <Alert kind="error">{failure}</Alert>}
      <div className={styles.fields}>
        <TextField
          label="Username"
          name="username"
          value={username}
          onValueChange={setUsername}
          autoComplete="username"
          autoCapitalize="none"
          autoCorrect="off"
          spellCheck={false}
          readOnly={busy}
          required
        />
        <TextField
          label="Email"
          name="email"
          type="email"
          value={email}
          onValueChange={setEmail}
          autoComplete="email"
          readOnly={busy}
          required
        />
        <PasswordField
          label="Password"
          name="password"
          description={authTexts.passwordHint}
          value={password}
          onValueChange={setPassword}
          autoComplete="new-password"
          readOnly={busy}
          required
        />
        <CheckboxField
          name="privacyConsent"
          checked={privacyConsent}
          onCheckedChange={(checked) => {
            setPrivacyConsent(checked);
            if (checked) setConsentError(false);
          }}
          disabled={busy}
          error={consentError ? authTexts.consentMissing : undefined}
          label={
            <>
              I am at least 16 years old and I accept the{' '}
              <a href={paths.privacyPolicy} target="_blank" rel="noreferrer">
                Privacy Policy<VisuallyHidden> (opens in a new tab)</VisuallyHidden>
              </a>
              .
            </>
          }
        />
      </div>
      <Button type="submit" variant="primary" size="large" wide busy={busy}>
        {busy ? authTexts.signingUp : authTexts.signUp}
      </Button>
      <AuthProgressLine />
    </form>
  );
}
