import { t } from '../../i18n/i18n.ts';
import { Alert } from '../../ui/Alert.tsx';

/** Says that something could not be tried out, and why as far as the browser knows. */
export function TrialFailure() {
  return <Alert kind="error">{t(navigator.onLine ? 'prove.failed' : 'prove.offline')}</Alert>;
}
