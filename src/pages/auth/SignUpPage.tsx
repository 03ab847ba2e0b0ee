import { Link } from 'react-router-dom';
import { SignUpForm } from '../../features/auth/SignUpForm.tsx';
import { paths } from '../../lib/paths.ts';
import { usePageTitle } from '../../ui/usePageTitle.ts';
import { AuthPage } from './AuthPage.tsx';

export function SignUpPage({ onBusyChange }: { onBusyChange: (busy: boolean) => void }) {
  usePageTitle('Sign up');
  return (
    <AuthPage
      title="Create your account"
      lead="Your keys are made in this browser and stay yours."
      other={
        <>
          Already have an account? <Link to={paths.login}>Log in</Link>
        </>
      }
    >
      <SignUpForm onBusyChange={onBusyChange} />
    </AuthPage>
  );
}
