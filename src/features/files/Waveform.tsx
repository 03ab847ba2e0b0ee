import styles from './Waveform.module.css';
import { loudest } from './waveformOf.ts';

/** How loud a recording is along its time, and in another colour as far as it has been played. */
export function Waveform({ values, share }: { values: readonly number[]; share: number }) {
  const path = values
    .map((value, at) => {
      const half = 1 + (Math.min(value, loudest) / loudest) * 14;
      return `M${at * 4 + 2} ${16 - half}V${16 + half}`;
    })
    .join('');
  return (
    <svg
      className={styles.waveform}
      viewBox={`0 0 ${values.length * 4} 32`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      <path d={path} />
      <path className={styles.played} d={path} style={{ clipPath: `inset(0 ${(1 - share) * 100}% 0 0)` }} />
    </svg>
  );
}
