import { Link } from 'react-router-dom';
import { SignUpForm } from '../../features/auth/SignUpForm.tsx';
import { t } from '../../i18n/i18n.ts';
import { RichText } from '../../i18n/RichText.tsx';
import { paths } from '../../lib/paths.ts';
import { usePageTitle } from '../../ui/usePageTitle.ts';
import { AuthPage } from './AuthPage.tsx';

export function SignUpPage({ onBusyChange }: { onBusyChange: (busy: boolean) => void }) {
  usePageTitle(t('auth.signUp.pageTitle'));
  return (
    <AuthPage
      title={t('auth.signUp.title')}
      lead={t('auth.signUp.lead')}
      other={<RichText id="auth.signUp.other" parts={{ link: <Link to={paths.login} /> }} />}
    >
      <SignUpForm onBusyChange={onBusyChange} />
    </AuthPage>
  );
}
