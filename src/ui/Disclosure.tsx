import { type ReactNode, useId, useState } from 'react';
import styles from './Disclosure.module.css';

/** More about something, folded away. */
export function Disclosure({ summary, children }: { summary: string; children: ReactNode }) {
  const [open, setOpen] = useState(false);
  const id = useId();
  return (
    <div>
      <button
        type="button"
        className={styles.trigger}
        aria-expanded={open}
        aria-controls={open ? id : undefined}
        onClick={() => setOpen(!open)}
      >
        {summary}
      </button>
      {open && (
        <div className={styles.panel} id={id}>
          {children}
        </div>
      )}
    </div>
  );
}
