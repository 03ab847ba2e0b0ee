import { useAtomValue } from 'jotai';
import { t } from '../../i18n/i18n.ts';
import { offlineAtom } from '../../store/connection.ts';
import { Alert } from '../../ui/Alert.tsx';

/** Says above a form that it needs a connection to the relay. */
export function OfflineNotice() {
  return useAtomValue(offlineAtom) ? <Alert kind="info">{t('session.needsConnection')}</Alert> : null;
}
