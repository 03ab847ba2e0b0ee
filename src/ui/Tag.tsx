import styles from './Tag.module.css';

/** A word that sets one thing in a list apart. */
export function Tag({ children }: { children: string }) {
  return <span className={styles.tag}>{children}</span>;
}
