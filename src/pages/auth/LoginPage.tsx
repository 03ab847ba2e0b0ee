import { Link } from 'react-router-dom';
import { LoginForm } from '../../features/auth/LoginForm.tsx';
import { t } from '../../i18n/i18n.ts';
import { RichText } from '../../i18n/RichText.tsx';
import { paths } from '../../lib/paths.ts';
import { operator } from '../../operator/index.ts';
import { usePageTitle } from '../../ui/usePageTitle.ts';
import { AuthPage } from './AuthPage.tsx';

export function LoginPage() {
  usePageTitle(t('auth.login.title'));
  return (
    <AuthPage
      title={t('auth.login.welcome')}
      lead={t('auth.login.lead')}
      other={
        <RichText
          id="auth.login.other"
          parts={{ product: <bdi>{operator.productName}</bdi>, link: <Link to={paths.signUp} /> }}
        />
      }
      help={<RichText id="recovery.forgotten" parts={{ link: <Link to={paths.recover} /> }} />}
    >
      <LoginForm />
    </AuthPage>
  );
}
