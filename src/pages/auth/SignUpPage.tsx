import { useAtomValue } from 'jotai';
import { useEffect, useRef, useState } from 'react';
import { Link, useLocation } from 'react-router-dom';
import { SignUpForm } from '../../features/auth/SignUpForm.tsx';
import { t } from '../../i18n/i18n.ts';
import { RichText } from '../../i18n/RichText.tsx';
import { paths } from '../../lib/paths.ts';
import { requiredActionsAtom } from '../../store/actions.ts';
import { Alert } from '../../ui/Alert.tsx';
import { usePageTitle } from '../../ui/usePageTitle.ts';
import { AuthPage } from './AuthPage.tsx';

export function SignUpPage({ onBusyChange }: { onBusyChange: (busy: boolean) => void }) {
  usePageTitle(t('auth.signUp.pageTitle'));
  const invitation = /^#invitation=([\w-]{22})$/.exec(useLocation().hash)?.[1] ?? null;
  const mode = useSignUpMode();
  const isClosed = mode === 'closed';
  return (
    <AuthPage
      title={t('auth.signUp.title')}
      lead={t('auth.signUp.lead')}
      other={<RichText id="auth.signUp.other" parts={{ link: <Link to={paths.login} /> }} />}
    >
      {isClosed || (mode === 'invitation' && invitation === null) ? (
        <Alert kind="info">{t(isClosed ? 'auth.signUp.closed' : 'auth.signUp.byInvitation')}</Alert>
      ) : (
        <>
          {invitation !== null && <Alert kind="info">{t('auth.signUp.invited')}</Alert>}
          <SignUpForm invitation={invitation} onBusyChange={onBusyChange} />
        </>
      )}
    </AuthPage>
  );
}

/** The way in which accounts come here; null until the server has said so. It answers the form as well. */
function useSignUpMode() {
  const actions = useAtomValue(requiredActionsAtom);
  const [mode, setMode] = useState<Awaited<ReturnType<typeof actions.signUpMode>> | null>(null);
  const isAsked = useRef(false);
  useEffect(() => {
    // The actions become other ones once the client has loaded.
    if (isAsked.current) return;
    isAsked.current = true;
    actions.signUpMode().then(setMode, () => undefined);
  }, [actions]);
  return mode;
}
