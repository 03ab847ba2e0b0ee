import { useAtomValue } from 'jotai';
import { useState } from 'react';
import type { MessageId } from '../../i18n/catalogue.ts';
import { t } from '../../i18n/i18n.ts';
import { RichText } from '../../i18n/RichText.tsx';
import { visibleName } from '../../lib/people.ts';
import { requiredActionsAtom } from '../../store/actions.ts';
import { confirmationAtom, type Operation, type OperationKind } from '../../store/confirmation.ts';
import { currentUserAtom } from '../../store/session.ts';
import { Button } from '../../ui/Button.tsx';
import { Dialog } from '../../ui/Dialog.tsx';
import { PasswordField } from '../../ui/Field.tsx';
import { Form } from '../../ui/Form.tsx';
import { focusOnMount } from '../../ui/focus.ts';
import { useSubmission } from '../../ui/useSubmission.ts';
import styles from './ConfirmPassword.module.css';

const sentences = {
  'accept-account-key': 'confirmation.acceptAccountKey',
  'change-email': 'confirmation.changeEmail',
  'create-recovery-key': 'confirmation.createRecoveryKey',
  'delete-account': 'confirmation.deleteAccount',
  'delete-message-backup': 'confirmation.deleteMessageBackup',
  'mark-verified': 'confirmation.markVerified',
  'replace-recovery-key': 'confirmation.replaceRecoveryKey',
  'revoke-device': 'confirmation.revokeDevice',
  'unmark-verified': 'confirmation.unmarkVerified',
} as const satisfies Record<OperationKind, MessageId>;

/** Names the operation that waits for the person's password, and takes it. */
export function ConfirmPassword() {
  const actions = useAtomValue(requiredActionsAtom);
  const operation = useAtomValue(confirmationAtom);
  return (
    <Dialog
      open={operation !== null}
      onOpenChange={(open) => {
        if (!open) actions.cancelConfirmation();
      }}
      title={t('confirmation.title')}
    >
      {operation !== null && <PasswordForm operation={operation} />}
    </Dialog>
  );
}

function PasswordForm({ operation: { kind, target } }: { operation: Operation }) {
  const actions = useAtomValue(requiredActionsAtom);
  const user = useAtomValue(currentUserAtom);
  const [password, setPassword] = useState('');
  const { busy, failure, submit, forgetFailure } = useSubmission();
  const wrongPassword = failure?.code === 'wrong-password';
  return (
    <Form
      className={styles.form}
      label={t('confirmation.title')}
      busy={busy}
      failure={wrongPassword ? null : failure?.text}
      onSubmit={() => submit(() => actions.confirmPassword(password), t('confirmation.failed'))}
    >
      <p>
        <RichText id={sentences[kind]} parts={{ target: <bdi>{visibleName(target)}</bdi> }} />{' '}
        {t('confirmation.hint')}
      </p>
      {/* Password managers ask for the account's name. */}
      <input name="username" autoComplete="username" value={user?.username ?? ''} readOnly hidden />
      <PasswordField
        label={t('auth.password')}
        name="password"
        ref={focusOnMount}
        error={wrongPassword ? failure.text : undefined}
        value={password}
        onValueChange={(value) => {
          setPassword(value);
          forgetFailure();
        }}
        autoComplete="current-password"
        readOnly={busy}
        required
      />
      <div className={styles.actions}>
        <Button disabled={busy} onClick={() => actions.cancelConfirmation()}>
          {t('app.cancel')}
        </Button>
        <Button type="submit" variant="primary" busy={busy}>
          {t(busy ? 'confirmation.checking' : 'confirmation.confirm')}
        </Button>
      </div>
    </Form>
  );
}
