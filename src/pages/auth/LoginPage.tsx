import { Link } from 'react-router-dom';
import { LoginForm } from '../../features/auth/LoginForm.tsx';
import { paths } from '../../lib/paths.ts';
import { usePageTitle } from '../../ui/usePageTitle.ts';
import { AuthPage } from './AuthPage.tsx';

export function LoginPage() {
  usePageTitle('Log in');
  return (
    <AuthPage
      title="Welcome back"
      lead="Your keys are opened in this browser, by your password."
      other={
        <>
          New to Sinetti? <Link to={paths.signUp}>Create an account</Link>
        </>
      }
    >
      <LoginForm />
    </AuthPage>
  );
}
