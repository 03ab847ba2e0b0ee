import { useAtomValue } from 'jotai';
import { CloudOff } from 'lucide-react';
import { type RealtimeStatus, realtimeStatusAtom } from '../../store/connection.ts';
import { Spinner } from '../../ui/Spinner.tsx';
import styles from './ConnectionStatus.module.css';

const statusTexts: Record<Exclude<RealtimeStatus, 'connected'>, string> = {
  connecting: 'Connecting…',
  reconnecting: 'Reconnecting…',
  closed: 'Offline',
};

/** The state of the real-time connection, said only while it isn't up. */
export function ConnectionStatus() {
  const status = useAtomValue(realtimeStatusAtom);
  return (
    <output className={styles.status}>
      {status !== 'connected' && (
        <span className={`${styles.status} ${styles.shown}`} key={status}>
          {status === 'closed' ? <CloudOff aria-hidden="true" /> : <Spinner />}
          {statusTexts[status]}
        </span>
      )}
    </output>
  );
}
