import { useAtomValue, useSetAtom, useStore } from 'jotai';
import { useRef, useState } from 'react';
import { t } from '../../i18n/i18n.ts';
import { nameProblems } from '../../i18n/nameProblems.ts';
import { requiredActionsAtom } from '../../store/actions.ts';
import { type CurrentUser, currentUserAtom } from '../../store/session.ts';
import { showToastAtom } from '../../store/toasts.ts';
import { EmailField, UsernameField } from '../../ui/Field.tsx';
import { CardForm } from '../../ui/Form.tsx';
import { focusOnMount } from '../../ui/focus.ts';
import { useFieldFailure } from '../../ui/useFieldFailure.ts';
import { useSubmission } from '../../ui/useSubmission.ts';

interface EditProfileFormProps {
  user: CurrentUser;
  /** Called when the profile is saved or editing is cancelled. */
  onDone: () => void;
}

export function EditProfileForm({ user, onDone }: EditProfileFormProps) {
  const actions = useAtomValue(requiredActionsAtom);
  const showToast = useSetAtom(showToastAtom);
  const store = useStore();
  const [username, setUsername] = useState(user.username);
  const [email, setEmail] = useState(user.email);
  const { busy, failure, submit } = useSubmission();
  const form = useRef<HTMLFormElement>(null);
  const { errorOf, ofForm } = useFieldFailure(form, failure, nameProblems);

  const save = () =>
    submit(async () => {
      await actions.updateProfile({ username, email });
      // Another email waits for its code where emails are verified.
      const isPending =
        store.get(currentUserAtom)?.email.toLowerCase() === user.email.toLowerCase() &&
        email.trim().toLowerCase() !== user.email.toLowerCase();
      showToast('success', t(isPending ? 'profile.verification.started' : 'profile.updated'));
      onDone();
    }, t('errors.updateProfileFailed'));

  return (
    <CardForm
      ref={form}
      label={t('profile.edit')}
      busy={busy}
      failure={ofForm}
      onSubmit={save}
      submitLabel={t(busy ? 'profile.saving' : 'profile.save')}
      cancelLabel={t('profile.cancel')}
      onCancel={onDone}
    >
      <UsernameField
        label={t('profile.username')}
        description={t('profile.usernameHint')}
        ref={focusOnMount}
        error={errorOf('username')}
        value={username}
        onValueChange={setUsername}
        readOnly={busy}
        required
      />
      <EmailField
        label={t('profile.email')}
        error={errorOf('email')}
        value={email}
        onValueChange={setEmail}
        readOnly={busy}
        required
      />
    </CardForm>
  );
}
