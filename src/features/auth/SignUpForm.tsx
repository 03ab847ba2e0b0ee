import { useAtomValue } from 'jotai';
import { type ReactNode, useEffect, useEffectEvent, useRef, useState } from 'react';
import { t } from '../../i18n/i18n.ts';
import { nameProblems } from '../../i18n/nameProblems.ts';
import { RichText } from '../../i18n/RichText.tsx';
import { paths } from '../../lib/paths.ts';
import { requiredActionsAtom } from '../../store/actions.ts';
import { Alert } from '../../ui/Alert.tsx';
import { CheckboxField } from '../../ui/Checkbox.tsx';
import { EmailField, PasswordField, UsernameField } from '../../ui/Field.tsx';
import { PageForm } from '../../ui/Form.tsx';
import { PasswordStrength } from '../../ui/PasswordStrength.tsx';
import { useFieldFailure } from '../../ui/useFieldFailure.ts';
import { useSubmission } from '../../ui/useSubmission.ts';
import { VisuallyHidden } from '../../ui/VisuallyHidden.tsx';
import { AuthProgressLine } from './AuthProgress.tsx';

/** Milliseconds that the success sentence stays before the dashboard. */
const redirectDelay = 1200;

interface SignUpFormProps {
  /** The code of an invitation. */
  invitation?: string | null;
  /** True from sending until it has failed or its success sentence could be read; leaving earlier would hide that. */
  onBusyChange: (busy: boolean) => void;
}

export function SignUpForm({ invitation = null, onBusyChange }: SignUpFormProps) {
  const actions = useAtomValue(requiredActionsAtom);
  const [username, setUsername] = useState('');
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const [privacyConsent, setPrivacyConsent] = useState(false);
  const [consentError, setConsentError] = useState(false);
  const [done, setDone] = useState(false);
  const { busy, failure, submit, forgetFailure } = useSubmission();
  const form = useRef<HTMLFormElement>(null);
  const { errorOf, ofForm } = useFieldFailure(form, failure, nameProblems);

  useEffect(() => actions.prepareSignIn(), [actions]);

  const leave = useEffectEvent(() => onBusyChange(false));
  useEffect(() => {
    if (!done) return undefined;
    const timer = setTimeout(() => leave(), redirectDelay);
    return () => clearTimeout(timer);
  }, [done]);

  async function signUp() {
    forgetFailure();
    setConsentError(!privacyConsent);
    if (!privacyConsent) return;
    onBusyChange(true);
    const created = await submit(async () => {
      await actions.signUp({
        username,
        email,
        password,
        privacyConsent,
        ...(invitation !== null && { invitation }),
      });
      setDone(true);
    }, t('errors.signUpFailed'));
    if (!created) onBusyChange(false);
  }

  if (done) return <Alert kind="success">{t('auth.signUp.succeeded')}</Alert>;
  return (
    <PageForm
      ref={form}
      label={t('auth.signUp.title')}
      busy={busy}
      failure={ofForm}
      onSubmit={signUp}
      submitLabel={t(busy ? 'auth.signUp.busy' : 'auth.signUp.submit')}
      progress={<AuthProgressLine isNew />}
    >
      <UsernameField
        label={t('auth.username')}
        error={errorOf('username')}
        value={username}
        onValueChange={setUsername}
        readOnly={busy}
        required
      />
      <EmailField
        label={t('auth.email')}
        error={errorOf('email')}
        value={email}
        onValueChange={setEmail}
        readOnly={busy}
        required
      />
      <PasswordField
        label={t('auth.password')}
        name="password"
        description={
          <>
            {t('auth.passwordHint')}
            <PasswordStrength password={password} personal={[username, email]} />
          </>
        }
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
        error={consentError ? t('errors.consentMissing') : undefined}
        label={<RichText id="auth.signUp.consent" parts={{ link: <PolicyLink /> }} />}
      />
    </PageForm>
  );
}

function PolicyLink({ children }: { children?: ReactNode }) {
  return (
    <a href={paths.privacyPolicy} target="_blank" rel="noreferrer">
      {children}
      <VisuallyHidden> {t('auth.signUp.opensInNewTab')}</VisuallyHidden>
    </a>
  );
}
