import { t } from '../../i18n/i18n.ts';
import { PasswordField } from '../../ui/Field.tsx';
import { PasswordStrength } from '../../ui/PasswordStrength.tsx';

interface NewPasswordFieldsProps {
  password: string;
  repeated: string;
  onPasswordChange: (password: string) => void;
  onRepeatedChange: (repeated: string) => void;
  /** Shown at the repetition. */
  mismatch: boolean;
  readOnly: boolean;
}

/** A new password, typed twice, with advice and no rule. */
export function NewPasswordFields(props: NewPasswordFieldsProps) {
  const { password, readOnly } = props;
  return (
    <>
      <PasswordField
        label={t('recoveryForms.newPassword')}
        name="newPassword"
        description={
          <>
            {password === '' && t('recoveryForms.strength.hint')}
            <PasswordStrength password={password} />
          </>
        }
        value={password}
        onValueChange={props.onPasswordChange}
        autoComplete="new-password"
        readOnly={readOnly}
        required
      />
      <PasswordField
        label={t('recoveryForms.repeatPassword')}
        name="repeatedPassword"
        error={props.mismatch ? t('recoveryForms.repeatMismatch') : undefined}
        value={props.repeated}
        onValueChange={props.onRepeatedChange}
        autoComplete="new-password"
        readOnly={readOnly}
        required
      />
    </>
  );
}
