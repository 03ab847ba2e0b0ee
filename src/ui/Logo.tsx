import { operator } from '../operator/index.ts';
import styles from './Logo.module.css';

const sealOutline =
  'M16 2.4A3.9 3.9 0 0 1 22.8 4.22A3.9 3.9 0 0 1 27.78 9.2A3.9 3.9 0 0 1 29.6 16A3.9 3.9 0 0 1 27.78 22.8A3.9 3.9 0 0 1 22.8 27.78A3.9 3.9 0 0 1 16 29.6A3.9 3.9 0 0 1 9.2 27.78A3.9 3.9 0 0 1 4.22 22.8A3.9 3.9 0 0 1 2.4 16A3.9 3.9 0 0 1 4.22 9.2A3.9 3.9 0 0 1 9.2 4.22A3.9 3.9 0 0 1 16 2.4Z';

/** The product's mark, a seal. */
export function LogoMark({ className }: { className?: string | undefined }) {
  return (
    <svg viewBox="0 0 32 32" className={className ?? styles.mark} aria-hidden="true">
      <path d={sealOutline} fill="currentColor" />
      <path
        className={styles.initial}
        d="M20.2 12.1C19.6 10.3 18 9.5 16 9.5c-2.4 0-4.2 1.2-4.2 3.2 0 4.3 8.6 2.3 8.6 6.7 0 2-1.9 3.3-4.4 3.3-2.3 0-4-1-4.6-2.9"
        fill="none"
        strokeWidth="2.4"
        strokeLinecap="round"
      />
    </svg>
  );
}

export function Logo() {
  return (
    <span className={styles.logo}>
      <LogoMark />
      {operator.productName}
    </span>
  );
}
