import { Field } from '@base-ui/react/field';
import { Eye, EyeOff } from 'lucide-react';
import { type ComponentProps, type ReactNode, useState } from 'react';
import { t } from '../i18n/i18n.ts';
import { IconButton } from './Button.tsx';
import styles from './Field.module.css';

interface FieldFrame {
  label: string;
  name: string;
  description?: ReactNode;
  /** Shown below the control, which is then marked as invalid. */
  error?: string | undefined;
}

type InputProps = Omit<
  ComponentProps<'input'>,
  'className' | 'name' | 'onChange' | 'defaultValue' | 'value'
> &
  FieldFrame & { value: string; onValueChange: (value: string) => void };

/** A labelled text input. */
export function TextField({ label, name, description, error, value, onValueChange, ...rest }: InputProps) {
  return (
    <Frame label={label} name={name} description={description} error={error}>
      <Field.Control {...rest} className={styles.control} value={value} onValueChange={onValueChange} />
    </Frame>
  );
}

/** A labelled input of a name to sign in by, without the keyboard's corrections. */
export function UsernameField(props: Omit<InputProps, 'name'>) {
  return (
    <TextField
      {...props}
      name="username"
      autoComplete="username"
      autoCapitalize="none"
      autoCorrect="off"
      spellCheck={false}
    />
  );
}

/** A labelled input of the person's own email address. */
export function EmailField(props: Omit<InputProps, 'name'>) {
  return <TextField {...props} name="email" type="email" autoComplete="email" />;
}

/** A password input whose content can be shown. */
export function PasswordField({
  label,
  name,
  description,
  error,
  value,
  onValueChange,
  ...rest
}: InputProps) {
  const [shown, setShown] = useState(false);
  return (
    <Frame label={label} name={name} description={description} error={error}>
      <span className={styles.withButton}>
        <Field.Control
          autoCapitalize="none"
          autoCorrect="off"
          spellCheck={false}
          {...rest}
          className={styles.control}
          type={shown ? 'text' : 'password'}
          value={value}
          onValueChange={onValueChange}
        />
        <span className={styles.inside}>
          <IconButton
            size="small"
            label={t(shown ? 'app.hidePassword' : 'app.showPassword')}
            icon={shown ? <EyeOff /> : <Eye />}
            onClick={() => setShown(!shown)}
          />
        </span>
      </span>
    </Frame>
  );
}

type TextAreaProps = Omit<
  ComponentProps<'textarea'>,
  'className' | 'name' | 'onChange' | 'defaultValue' | 'value'
> &
  FieldFrame & { value: string; onValueChange: (value: string) => void };

/** A labelled input of several lines. */
export function TextAreaField({
  label,
  name,
  description,
  error,
  value,
  onValueChange,
  ...rest
}: TextAreaProps) {
  return (
    <Frame label={label} name={name} description={description} error={error}>
      <Field.Control
        className={styles.control}
        value={value}
        onValueChange={onValueChange}
        render={<textarea {...rest} />}
      />
    </Frame>
  );
}

function Frame({ label, name, description, error, children }: FieldFrame & { children: ReactNode }) {
  return (
    <Field.Root name={name} invalid={error !== undefined} className={styles.field}>
      <Field.Label className={styles.label}>{label}</Field.Label>
      {children}
      {description !== undefined && (
        <Field.Description className={styles.description}>{description}</Field.Description>
      )}
      <Field.Error match={error !== undefined} className={styles.error}>
        {error}
      </Field.Error>
    </Field.Root>
  );
}
