import { Progress } from '@base-ui/react/progress';
import styles from './ProgressBar.module.css';

interface ProgressBarProps {
  /** Names the task: the accessible name. */
  label: string;
  /** The progress in words; shown, and read out as the value. */
  text: string;
  /** From 0 to `max`; null while nobody knows. */
  value: number | null;
  max: number;
}

/** Something that takes long, and how much of it is done. */
export function ProgressBar({ label, text, value, max }: ProgressBarProps) {
  return (
    <Progress.Root
      className={styles.progress}
      aria-label={label}
      value={value}
      max={max}
      getAriaValueText={() => text}
    >
      <Progress.Track className={styles.track}>
        <Progress.Indicator className={styles.indicator} />
      </Progress.Track>
      <span className={styles.text}>{text}</span>
    </Progress.Root>
  );
}
