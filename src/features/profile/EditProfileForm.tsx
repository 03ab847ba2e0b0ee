import { useAtomValue, useSetAtom } from 'jotai';
import { useEffect, useRef, useState } from 'react';
import type { MessageId } from '../../i18n/catalogue.ts';
import { t } from '../../i18n/i18n.ts';
import { requiredActionsAtom } from '../../store/actions.ts';
import type { CurrentUser } from '../../store/session.ts';
import { showToastAtom } from '../../store/toasts.ts';
import { TextField, UsernameField } from '../../ui/Field.tsx';
import { CardForm } from '../../ui/Form.tsx';
import { useSubmission } from '../../ui/useSubmission.ts';

type FieldName = 'username' | 'email';

/** What is wrong with a field, by the code of the failure that says so. */
const fieldProblems: Readonly<Record<string, { field: FieldName; text: MessageId }>> = {
  'invalid-username': { field: 'username', text: 'errors.invalidUsername' },
  'username-taken': { field: 'username', text: 'profile.usernameTaken' },
  'invalid-email': { field: 'email', text: 'errors.invalidEmail' },
  'email-taken': { field: 'email', text: 'profile.emailTaken' },
};

interface EditProfileFormProps {
  user: CurrentUser;
  /** Saved, or not wanted any more. */
  onDone: () => void;
}

export function EditProfileForm({ user, onDone }: EditProfileFormProps) {
  const actions = useAtomValue(requiredActionsAtom);
  const showToast = useSetAtom(showToastAtom);
  const [username, setUsername] = useState(user.username);
  const [email, setEmail] = useState(user.email);
  const { busy, failure, submit } = useSubmission();
  const form = useRef<HTMLFormElement>(null);

  const problem = failure === null ? undefined : fieldProblems[failure.code];
  const problemOf = (field: FieldName) => (problem?.field === field ? t(problem.text) : undefined);
  const wrongField = problem?.field ?? null;
  useEffect(() => {
    focusField(form.current, wrongField ?? 'username');
  }, [wrongField]);

  const save = () =>
    submit(async () => {
      await actions.updateProfile({ username, email });
      showToast('success', t('profile.updated'));
      onDone();
    }, t('errors.updateProfileFailed'));

  return (
    <CardForm
      ref={form}
      label={t('profile.edit')}
      busy={busy}
      failure={problem === undefined ? failure?.text : null}
      onSubmit={save}
      submitLabel={t(busy ? 'profile.saving' : 'profile.save')}
      cancelLabel={t('profile.cancel')}
      onCancel={onDone}
    >
      <UsernameField
        label={t('profile.username')}
        description={t('profile.usernameHint')}
        error={problemOf('username')}
        value={username}
        onValueChange={setUsername}
        readOnly={busy}
        required
      />
      <TextField
        label={t('profile.email')}
        name="email"
        type="email"
        error={problemOf('email')}
        value={email}
        onValueChange={setEmail}
        autoComplete="email"
        readOnly={busy}
        required
      />
    </CardForm>
  );
}

function focusField(form: HTMLFormElement | null, field: FieldName): void {
  const input = form?.elements.namedItem(field);
  if (input instanceof HTMLInputElement) input.focus();
}
