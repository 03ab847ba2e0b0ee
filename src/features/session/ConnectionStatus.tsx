import { useAtomValue } from 'jotai';
import { CloudAlert, CloudOff } from 'lucide-react';
import { t } from '../../i18n/i18n.ts';
import { bannerAtom } from '../../store/banners.ts';
import {
  type CatchUp,
  catchUpAtom,
  offlineAtom,
  realtimeStatusAtom,
  relayTroubleAtom,
} from '../../store/connection.ts';
import { Spinner } from '../../ui/Spinner.tsx';
import styles from './ConnectionStatus.module.css';

function catchUpText({ done, of }: CatchUp): string {
  return of === null
    ? t('session.loadingHistory', { done })
    : t('session.catchingUp', { done, total: Math.max(done, of) });
}

/** The state of the connection to the relay, shown only while something is missing. */
export function ConnectionStatus() {
  const status = useAtomValue(realtimeStatusAtom);
  const offline = useAtomValue(offlineAtom);
  const trouble = useAtomValue(relayTroubleAtom);
  const catchUp = useAtomValue(catchUpAtom);
  const isSaidByBanner = useAtomValue(bannerAtom) === 'connection-error';
  return (
    <output className={styles.status}>
      {isSaidByBanner ? null : trouble === 'failing' ? (
        <Line
          key="failing"
          icon={<CloudAlert aria-hidden="true" />}
          text={t(offline ? 'session.failingWaiting' : 'session.failing')}
        />
      ) : offline ? (
        <Line key="offline" icon={<CloudOff aria-hidden="true" />} text={t('session.offlineWaiting')} />
      ) : trouble === 'silent' ? (
        <Line key="silent" icon={<CloudOff aria-hidden="true" />} text={t('session.unreachable')} />
      ) : catchUp !== null ? (
        // A screen reader must not read out every new number.
        <span aria-live="off">
          <Line icon={<Spinner />} text={catchUpText(catchUp)} />
        </span>
      ) : status === 'closed' ? (
        <Line key={status} icon={<CloudOff aria-hidden="true" />} text={t('session.offline')} />
      ) : (
        status !== 'connected' && <Line key={status} icon={<Spinner />} text={t(`session.${status}`)} />
      )}
    </output>
  );
}

function Line({ icon, text }: { icon: React.ReactNode; text: string }) {
  return (
    <span className={`${styles.status} ${styles.shown}`}>
      {icon}
      {text}
    </span>
  );
}
