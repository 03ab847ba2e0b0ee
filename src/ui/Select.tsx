import { Field } from '@base-ui/react/field';
import { ChevronsUpDown } from 'lucide-react';
import styles from './Select.module.css';

interface SelectProps {
  label: string;
  /** What stands there while nothing is chosen. */
  placeholder: string;
  options: readonly { readonly value: string; readonly label: string }[];
  /** Null for none yet. */
  value: string | null;
  onValueChange: (value: string | null) => void;
  disabled?: boolean;
}

/** A labelled choice of one, by the browser's own list: each system's people know theirs best. */
export function Select({ label, placeholder, options, value, onValueChange, disabled = false }: SelectProps) {
  return (
    <Field.Root className={styles.field} disabled={disabled}>
      <Field.Label className={styles.label}>{label}</Field.Label>
      <span className={styles.frame}>
        <Field.Control
          className={styles.control}
          data-empty={value === null || undefined}
          render={
            <select value={value ?? ''} onChange={(event) => onValueChange(event.target.value || null)}>
              <option value="">{placeholder}</option>
              {options.map((option) => (
                <option key={option.value} value={option.value}>
                  {option.label}
                </option>
              ))}
            </select>
          }
        />
        <ChevronsUpDown aria-hidden="true" />
      </span>
    </Field.Root>
  );
}
