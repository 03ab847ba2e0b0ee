import { clsx } from 'clsx';
import type { ReactNode } from 'react';
import { displayName } from '../../store/people.ts';
import { Avatar } from '../../ui/Avatar.tsx';
import styles from './people.module.css';

interface PersonRowProps {
  person: { readonly username: string; readonly email?: string };
  detail: string;
  online?: boolean | undefined;
  /** On a phone the actions move below. */
  stacking?: boolean;
  children?: ReactNode;
}

/** One person with the actions for them. */
export function PersonRow({ person, detail, online, stacking = false, children }: PersonRowProps) {
  const name = displayName(person);
  return (
    <div className={clsx(styles.person, stacking && styles.stacking)}>
      <Avatar name={name} size={40} online={online} />
      <div className={styles.who}>
        <p className={styles.name}>
          <bdi>{name}</bdi>
        </p>
        <p className={styles.detail}>
          <bdi>{detail}</bdi>
        </p>
      </div>
      {children !== undefined && <div className={styles.actions}>{children}</div>}
    </div>
  );
}
