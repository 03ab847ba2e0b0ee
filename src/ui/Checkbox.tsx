import { Checkbox } from '@base-ui/react/checkbox';
import { Field } from '@base-ui/react/field';
import { Check } from 'lucide-react';
import type { ReactNode } from 'react';
import styles from './Checkbox.module.css';

interface CheckboxFieldProps {
  name: string;
  label: ReactNode;
  checked: boolean;
  onCheckedChange: (checked: boolean) => void;
  error?: string | undefined;
  disabled?: boolean;
  /** False for one that may stay as it is. */
  required?: boolean;
}

export function CheckboxField({
  name,
  label,
  checked,
  onCheckedChange,
  error,
  disabled = false,
  required = true,
}: CheckboxFieldProps) {
  return (
    <Field.Root name={name} invalid={error !== undefined} disabled={disabled} className={styles.field}>
      <div className={styles.row}>
        <Checkbox.Root
          className={styles.box}
          checked={checked}
          onCheckedChange={(next) => onCheckedChange(next)}
          aria-required={required}
        >
          <Checkbox.Indicator>
            <Check />
          </Checkbox.Indicator>
        </Checkbox.Root>
        <Field.Label>{label}</Field.Label>
      </div>
      <Field.Error match={error !== undefined} role="alert" className={styles.error}>
        {error}
      </Field.Error>
    </Field.Root>
  );
}
