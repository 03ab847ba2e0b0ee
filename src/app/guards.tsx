import { useAtomValue, useSetAtom } from 'jotai';
import { type ReactNode, useEffect, useState } from 'react';
import { Navigate } from 'react-router-dom';
import { paths } from '../lib/paths.ts';
import { authStatusAtom, currentUserAtom, signedOutPathAtom } from '../store/session.ts';
import { LoadingScreen } from '../ui/Spinner.tsx';

/**
 * Shows the spinner until it is known whether there is a session. Later loading, such as logging in, is the form's own
 * to show: unmounting the form would lose what was typed.
 */
export function SessionGate({ children }: { children: ReactNode }) {
  const status = useAtomValue(authStatusAtom);
  const [settled, setSettled] = useState(status !== 'loading');
  if (!settled && status !== 'loading') setSettled(true);
  return settled ? children : <LoadingScreen />;
}

/**
 * Shows a page to visitors only. `hold` keeps a page that still has something to say; a new member leaves it after
 * that, and it stays on screen until the dashboard can be drawn.
 */
export function VisitorsOnly({ children, hold = false }: { children: ReactNode; hold?: boolean }) {
  const status = useAtomValue(authStatusAtom);
  const user = useAtomValue(currentUserAtom);
  const leaves = status === 'success' && user !== null && !hold;
  // A person who arrives as a member never sees the page.
  const [shown] = useState(!leaves);
  return (
    <>
      {shown ? children : <LoadingScreen />}
      {leaves && <Navigate to={paths.dashboard} replace />}
    </>
  );
}

export function MembersOnly({ children }: { children: ReactNode }) {
  const user = useAtomValue(currentUserAtom);
  const signedOutPath = useAtomValue(signedOutPathAtom);
  const setSignedOutPath = useSetAtom(signedOutPathAtom);

  // The path was meant for this way out only: a later visit to the dashboard asks to log in.
  useEffect(() => () => setSignedOutPath(paths.login), [setSignedOutPath]);

  if (user !== null) return children;
  // The data that the page showed is gone with the session.
  return (
    <>
      <LoadingScreen />
      <Navigate to={signedOutPath} replace />
    </>
  );
}
