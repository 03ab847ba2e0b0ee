import { Select as BaseSelect } from '@base-ui/react/select';
import { Check, ChevronsUpDown } from 'lucide-react';
import styles from './Select.module.css';

interface SelectProps {
  label: string;
  placeholder: string;
  options: readonly { readonly value: string; readonly label: string }[];
  /** Null for none yet. */
  value: string | null;
  onValueChange: (value: string | null) => void;
  disabled?: boolean;
}

/** A labelled choice of one. Typing the first letters finds an option. */
export function Select({ label, placeholder, options, value, onValueChange, disabled = false }: SelectProps) {
  return (
    <BaseSelect.Root
      items={options}
      value={value}
      onValueChange={(next: string | null) => onValueChange(next)}
      disabled={disabled}
      modal={false}
    >
      <div className={styles.field}>
        <BaseSelect.Label className={styles.label}>{label}</BaseSelect.Label>
        <BaseSelect.Trigger className={styles.trigger}>
          <BaseSelect.Value className={styles.value} placeholder={placeholder} />
          <BaseSelect.Icon className={styles.icon}>
            <ChevronsUpDown aria-hidden="true" />
          </BaseSelect.Icon>
        </BaseSelect.Trigger>
      </div>
      <BaseSelect.Portal>
        <BaseSelect.Positioner
          className={styles.positioner}
          alignItemWithTrigger={false}
          sideOffset={4}
          collisionPadding={8}
        >
          <BaseSelect.Popup className={styles.popup}>
            <BaseSelect.List className={styles.list}>
              {options.map((option) => (
                <BaseSelect.Item key={option.value} value={option.value} className={styles.item}>
                  <BaseSelect.ItemText className={styles.text}>
                    <bdi>{option.label}</bdi>
                  </BaseSelect.ItemText>
                  <BaseSelect.ItemIndicator>
                    <Check aria-hidden="true" />
                  </BaseSelect.ItemIndicator>
                </BaseSelect.Item>
              ))}
            </BaseSelect.List>
          </BaseSelect.Popup>
        </BaseSelect.Positioner>
      </BaseSelect.Portal>
    </BaseSelect.Root>
  );
}
