import { Toggle } from '@base-ui/react/toggle';
import { ToggleGroup } from '@base-ui/react/toggle-group';
import styles from './Choice.module.css';

interface ChoiceProps<Value extends string> {
  /** Its accessible name. */
  label: string;
  options: readonly { readonly value: Value; readonly label: string; readonly lang?: string }[];
  value: Value;
  onValueChange: (value: Value) => void;
}

/** A choice of one of a few options in sight. Arrow keys move among them; pressing one chooses it. */
export function Choice<Value extends string>({ label, options, value, onValueChange }: ChoiceProps<Value>) {
  return (
    <ToggleGroup
      className={styles.choice}
      aria-label={label}
      value={[value]}
      onValueChange={([next]) => {
        // Pressing the chosen option again keeps it.
        if (next !== undefined) onValueChange(next);
      }}
    >
      {options.map((option) => (
        <Toggle key={option.value} value={option.value} className={styles.option} lang={option.lang}>
          {option.label}
        </Toggle>
      ))}
    </ToggleGroup>
  );
}
