import { clsx } from 'clsx';
import type { ReactNode } from 'react';
import styles from './SkeletonRows.module.css';
import { LoadingLine } from './Spinner.tsx';

interface SkeletonRowsProps {
  /** Says what loads. */
  text: string;
  /** Beside the text. */
  action?: ReactNode;
  /** About as many as fit. */
  count?: number;
  /** The avatars' shape. */
  shape?: 'round' | 'square';
}

/** The shape of a list that is being loaded. */
export function SkeletonRows({ text, action, count = 6, shape = 'round' }: SkeletonRowsProps) {
  return (
    <>
      <div className={styles.head}>
        <LoadingLine text={text} />
        {action}
      </div>
      <div aria-hidden="true" className={clsx(shape === 'square' && styles.square)}>
        {Array.from({ length: count }, (_, index) => (
          <div key={index} className={styles.row}>
            <span className={styles.mark} />
            <span className={styles.lines}>
              <span className={styles.line} />
              <span className={styles.line} />
            </span>
          </div>
        ))}
      </div>
    </>
  );
}
