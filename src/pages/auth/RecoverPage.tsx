import { Link } from 'react-router-dom';
import { AuthProgressLine } from '../../features/auth/AuthProgress.tsx';
import { RecoverForm } from '../../features/recovery/RecoverForm.tsx';
import { t } from '../../i18n/i18n.ts';
import { RichText } from '../../i18n/RichText.tsx';
import { paths } from '../../lib/paths.ts';
import { usePageTitle } from '../../ui/usePageTitle.ts';
import { AuthPage } from './AuthPage.tsx';

export function RecoverPage() {
  usePageTitle(t('recoveryForms.recover.pageTitle'));
  return (
    <AuthPage
      title={t('recoveryForms.recover.title')}
      lead={t('recoveryForms.recover.lead')}
      other={<RichText id="recoveryForms.recover.back" parts={{ link: <Link to={paths.login} /> }} />}
    >
      <RecoverForm progress={<AuthProgressLine />} />
    </AuthPage>
  );
}
