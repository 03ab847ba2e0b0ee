import { Switch as BaseSwitch } from '@base-ui/react/switch';
import styles from './Switch.module.css';

interface SwitchProps {
  /** Its accessible name. */
  label: string;
  /** Id of the element that explains it. */
  describedBy?: string;
  checked: boolean;
  onCheckedChange: (checked: boolean) => void;
  disabled?: boolean;
}

/** Something that is on or off, and changes at once. */
export function Switch({ label, describedBy, checked, onCheckedChange, disabled = false }: SwitchProps) {
  return (
    <BaseSwitch.Root
      className={styles.track}
      aria-label={label}
      aria-describedby={describedBy}
      checked={checked}
      onCheckedChange={(next) => onCheckedChange(next)}
      disabled={disabled}
    >
      <BaseSwitch.Thumb className={styles.thumb} />
    </BaseSwitch.Root>
  );
}
