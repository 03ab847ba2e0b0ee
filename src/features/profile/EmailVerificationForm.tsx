import { useAtomValue, useSetAtom } from 'jotai';
import { useEffect, useRef, useState } from 'react';
import type { MessageId } from '../../i18n/catalogue.ts';
import { t } from '../../i18n/i18n.ts';
import type { FailureCode } from '../../lib/errorCode.ts';
import { requiredActionsAtom } from '../../store/actions.ts';
import type { EmailVerification, EmailVerificationChange } from '../../store/emailVerification.ts';
import { currentUserAtom } from '../../store/session.ts';
import { showToastAtom } from '../../store/toasts.ts';
import { Alert } from '../../ui/Alert.tsx';
import { Button } from '../../ui/Button.tsx';
import { TextField } from '../../ui/Field.tsx';
import { Form } from '../../ui/Form.tsx';
import { useFieldFailure } from '../../ui/useFieldFailure.ts';
import { useSubmission } from '../../ui/useSubmission.ts';
import styles from './EmailVerificationForm.module.css';

const problems = {
  'wrong-code': { field: 'code', text: 'profile.verification.wrong' },
  'code-expired': { field: 'code', text: 'profile.verification.expired' },
  'too-many-tries': { field: 'code', text: 'profile.verification.tries' },
  'rate-limited': { field: 'code', text: 'profile.verification.limited' },
  'email-taken': { field: 'code', text: 'errors.emailTaken' },
} as const satisfies Partial<Record<FailureCode, { field: string; text: MessageId }>>;

interface EmailVerificationFormProps {
  /** Called when there is nothing left to do here. */
  onDone: () => void;
}

/** Asks for the code that was mailed to the person's email, or to the one that is to replace it. Shows nothing where there is none. */
export function EmailVerificationForm({ onDone }: EmailVerificationFormProps) {
  const actions = useAtomValue(requiredActionsAtom);
  const email = useAtomValue(currentUserAtom)?.email ?? '';
  const showToast = useSetAtom(showToastAtom);
  const [state, setState] = useState<EmailVerification | null>(null);
  const [code, setCode] = useState('');
  const [doing, setDoing] = useState<'send' | 'cancel' | 'confirm' | null>(null);
  const [sentTo, setSentTo] = useState<string | null>(null);
  const { failure, submit } = useSubmission();
  const form = useRef<HTMLFormElement>(null);
  const { errorOf, ofForm } = useFieldFailure(form, failure, problems);

  useEffect(() => {
    let current = true;
    // Nothing is asked of the person where the relay can't be: the profile is there without it.
    actions.updateEmailVerification().then(
      (known) => current && setState(known),
      () => undefined,
    );
    return () => {
      current = false;
    };
  }, [actions]);

  if (state === null || (state.isVerified && state.pending === null)) return null;
  const address = state.pending ?? email;

  async function change(what: EmailVerificationChange, then: (next: EmailVerification | null) => void) {
    setDoing(typeof what === 'object' ? 'confirm' : what);
    setSentTo(null);
    await submit(async () => {
      const next = await actions.updateEmailVerification(what);
      setCode('');
      setState(next);
      then(next);
    }, t('profile.verification.failed'));
    setDoing(null);
  }
  const confirm = () =>
    change({ code }, () => {
      showToast('success', t('profile.verification.done'));
      onDone();
    });
  const cancel = () =>
    change('cancel', (next) => {
      if (next?.isVerified === true) return onDone();
      // The button that had the focus is gone.
      form.current?.querySelector('input')?.focus();
    });

  return (
    <Form
      ref={form}
      className={styles.form}
      label={t(state.pending === null ? 'profile.verification.title' : 'profile.verification.pendingTitle')}
      busy={doing !== null}
      failure={ofForm}
      onSubmit={confirm}
    >
      <Alert kind="info">
        {state.pending === null ? (
          <>
            <strong>{t('profile.verification.title')}</strong> {t('profile.verification.text', { email })}
          </>
        ) : (
          t('profile.verification.pending', { email: state.pending })
        )}
      </Alert>
      <TextField
        label={t('profile.verification.code')}
        name="code"
        inputMode="numeric"
        autoComplete="one-time-code"
        error={errorOf('code')}
        value={code}
        onValueChange={setCode}
        readOnly={doing !== null}
        required
      />
      <div className={styles.actions}>
        <Button type="submit" variant="primary" busy={doing === 'confirm'}>
          {t(doing === 'confirm' ? 'profile.verification.verifying' : 'profile.verification.verify')}
        </Button>
        <Button
          busy={doing === 'send'}
          disabled={doing !== null}
          onClick={() => void change('send', () => setSentTo(address))}
        >
          {t(doing === 'send' ? 'profile.verification.sending' : 'profile.verification.send')}
        </Button>
        {state.pending !== null && (
          <Button
            variant="quiet"
            busy={doing === 'cancel'}
            disabled={doing !== null}
            onClick={() => void cancel()}
          >
            {t('profile.verification.cancel')}
          </Button>
        )}
      </div>
      <output>{sentTo !== null && t('profile.verification.sent', { email: sentTo })}</output>
    </Form>
  );
}
