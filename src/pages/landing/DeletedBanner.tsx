import { X } from 'lucide-react';
import { useEffect, useState } from 'react';
import { useNavigate, useSearchParams } from 'react-router-dom';
import { t } from '../../i18n/i18n.ts';
import { paths } from '../../lib/paths.ts';
import { Alert } from '../../ui/Alert.tsx';
import { IconButton } from '../../ui/Button.tsx';
import styles from './LandingPage.module.css';

/** Milliseconds (spec section 9). */
const bannerDuration = 5000;

/** After an account was deleted: said once, for a few seconds, and gone from the address at once. */
export function DeletedBanner() {
  const [parameters] = useSearchParams();
  const navigate = useNavigate();
  const [shown, setShown] = useState(parameters.get('deleted') === 'true');

  useEffect(() => {
    if (!shown) return undefined;
    void navigate(paths.landing, { replace: true });
    const timer = setTimeout(() => setShown(false), bannerDuration);
    return () => clearTimeout(timer);
  }, [shown, navigate]);

  if (!shown) return null;
  return (
    <div className={styles.banner}>
      <Alert
        kind="success"
        action={
          <IconButton size="small" label={t('app.dismiss')} icon={<X />} onClick={() => setShown(false)} />
        }
      >
        {t('landing.deleted')}
      </Alert>
    </div>
  );
}
