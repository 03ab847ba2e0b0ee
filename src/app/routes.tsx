import { useEffect, useRef, useState } from 'react';
import { Navigate, Outlet, type RouteObject, useLocation } from 'react-router-dom';
import { paths } from '../lib/paths.ts';
import { mainId } from '../ui/SkipLink.tsx';
import { LoadingScreen } from '../ui/Spinner.tsx';
import { MembersOnly, SessionGate, VisitorsOnly } from './guards.tsx';
import { RouteFailure } from './RouteFailure.tsx';

/** Every route of spec section 2; each page is its own chunk. */
export const routes: RouteObject[] = [
  {
    element: <Root />,
    errorElement: <RouteFailure />,
    HydrateFallback: LoadingScreen,
    children: [
      {
        path: paths.landing,
        lazy: async () => {
          const { LandingPage } = await import('../pages/landing/LandingPage.tsx');
          return {
            element: (
              <VisitorsOnly>
                <LandingPage />
              </VisitorsOnly>
            ),
          };
        },
      },
      {
        path: paths.login,
        lazy: async () => {
          const { LoginPage } = await import('../pages/auth/LoginPage.tsx');
          return {
            element: (
              <VisitorsOnly>
                <LoginPage />
              </VisitorsOnly>
            ),
          };
        },
      },
      {
        path: paths.signUp,
        lazy: async () => {
          const { SignUpPage } = await import('../pages/auth/SignUpPage.tsx');
          return { element: <SignUpRoute page={SignUpPage} /> };
        },
      },
      {
        path: paths.dashboard,
        lazy: async () => {
          const { DashboardPage } = await import('../pages/dashboard/DashboardPage.tsx');
          return {
            element: (
              <MembersOnly>
                <DashboardPage />
              </MembersOnly>
            ),
          };
        },
      },
      {
        path: paths.privacyPolicy,
        lazy: async () => {
          const { PrivacyPolicyPage } = await import('../pages/legal/PrivacyPolicyPage.tsx');
          return { Component: PrivacyPolicyPage };
        },
      },
      {
        path: paths.terms,
        lazy: async () => {
          const { TermsPage } = await import('../pages/legal/TermsPage.tsx');
          return { Component: TermsPage };
        },
      },
      {
        path: paths.about,
        lazy: async () => {
          const { AboutPage } = await import('../pages/legal/AboutPage.tsx');
          return { Component: AboutPage };
        },
      },
      {
        path: paths.contact,
        lazy: async () => {
          const { ContactPage } = await import('../pages/contact/ContactPage.tsx');
          return { Component: ContactPage };
        },
      },
      { path: '*', element: <Navigate to={paths.landing} replace /> },
    ],
  },
];

function Root() {
  useRouteChange();
  return (
    <SessionGate>
      <Outlet />
    </SessionGate>
  );
}

/** A new page starts at its top, and with the keyboard's focus in it. */
function useRouteChange() {
  const { pathname } = useLocation();
  const previous = useRef(pathname);
  useEffect(() => {
    if (previous.current === pathname) return;
    previous.current = pathname;
    window.scrollTo(0, 0);
    document.getElementById(mainId)?.focus({ preventScroll: true });
  }, [pathname]);
}

/** The success sentence of a new account must be readable before the dashboard takes over. */
function SignUpRoute({
  page: Page,
}: {
  page: React.ComponentType<{ onBusyChange: (busy: boolean) => void }>;
}) {
  const [busy, setBusy] = useState(false);
  return (
    <VisitorsOnly hold={busy}>
      <Page onBusyChange={setBusy} />
    </VisitorsOnly>
  );
}
