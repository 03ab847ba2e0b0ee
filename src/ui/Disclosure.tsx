import { Collapsible } from '@base-ui/react/collapsible';
import type { ReactNode } from 'react';
import styles from './Disclosure.module.css';

/** More about something, folded away. */
export function Disclosure({ summary, children }: { summary: string; children: ReactNode }) {
  return (
    <Collapsible.Root>
      <Collapsible.Trigger className={styles.trigger}>{summary}</Collapsible.Trigger>
      <Collapsible.Panel className={styles.panel}>{children}</Collapsible.Panel>
    </Collapsible.Root>
  );
}
