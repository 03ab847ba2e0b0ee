import { lazy, type ReactNode, Suspense, useEffect, useRef, useState } from 'react';
import { ErrorBoundary } from 'react-error-boundary';
import { Navigate, Route, Routes, useLocation } from 'react-router-dom';
import { addTexts } from '../i18n/i18n.ts';
import { paths } from '../lib/paths.ts';
import { mainId } from '../ui/SkipLink.tsx';
import { LoadingScreen } from '../ui/Spinner.tsx';
import { DashboardPage } from './dashboardOnDemand.tsx';
import { MembersOnly, SessionGate, VisitorsOnly } from './guards.tsx';
import { RouteFailure } from './RouteFailure.tsx';

// Each page is its own chunk.
const LandingPage = lazy(async () => ({
  default: (await import('../pages/landing/LandingPage.tsx')).LandingPage,
}));
const RecoverPage = lazy(async () => ({
  default: (await import('../pages/auth/RecoverPage.tsx')).RecoverPage,
}));
const LoginPage = lazy(async () => ({ default: (await import('../pages/auth/LoginPage.tsx')).LoginPage }));
const SignUpPage = lazy(async () => ({ default: (await import('../pages/auth/SignUpPage.tsx')).SignUpPage }));
const PrivacyPolicyPage = lazy(async () => {
  const [{ PrivacyPolicyPage }] = await withLegalTexts(import('../pages/legal/PrivacyPolicyPage.tsx'));
  return { default: PrivacyPolicyPage };
});
const TermsPage = lazy(async () => {
  const [{ TermsPage }] = await withLegalTexts(import('../pages/legal/TermsPage.tsx'));
  return { default: TermsPage };
});
const AboutPage = lazy(async () => {
  const [{ AboutPage }] = await withLegalTexts(import('../pages/legal/AboutPage.tsx'));
  return { default: AboutPage };
});
const ContactPage = lazy(async () => ({
  default: (await import('../pages/contact/ContactPage.tsx')).ContactPage,
}));

function withLegalTexts<Page>(page: Promise<Page>) {
  return Promise.all([page, addTexts('legal')]);
}

/** Every route of spec section 2. */
export function AppRoutes() {
  return (
    <Root>
      <Routes>
        <Route path={paths.landing} element={visitors(<LandingPage />)} />
        <Route path={paths.login} element={visitors(<LoginPage />)} />
        <Route path={paths.recover} element={visitors(<RecoverPage />)} />
        <Route path={paths.signUp} element={<SignUpRoute />} />
        <Route
          path={paths.dashboard}
          element={
            <MembersOnly>
              <DashboardPage />
            </MembersOnly>
          }
        />
        <Route path={paths.privacyPolicy} element={<PrivacyPolicyPage />} />
        <Route path={paths.terms} element={<TermsPage />} />
        <Route path={paths.about} element={<AboutPage />} />
        <Route path={paths.contact} element={<ContactPage />} />
        <Route path="*" element={<Navigate to={paths.landing} replace />} />
      </Routes>
    </Root>
  );
}

function visitors(page: ReactNode) {
  return <VisitorsOnly>{page}</VisitorsOnly>;
}

function Root({ children }: { children: ReactNode }) {
  const { pathname } = useLocation();
  return (
    <ErrorBoundary FallbackComponent={RouteFailure} resetKeys={[pathname]}>
      <SessionGate>
        <Suspense fallback={<LoadingScreen />}>
          {children}
          <RouteChange pathname={pathname} />
        </Suspense>
      </SessionGate>
    </ErrorBoundary>
  );
}

/** A new page starts at its top, and with the keyboard's focus in it. */
function RouteChange({ pathname }: { pathname: string }) {
  const previous = useRef(pathname);
  useEffect(() => {
    if (previous.current === pathname) return;
    previous.current = pathname;
    window.scrollTo(0, 0);
    document.getElementById(mainId)?.focus({ preventScroll: true });
  }, [pathname]);
  return null;
}

/** The success sentence of a new account must be readable before the dashboard takes over. */
function SignUpRoute() {
  const [busy, setBusy] = useState(false);
  return (
    <VisitorsOnly hold={busy}>
      <SignUpPage onBusyChange={setBusy} />
    </VisitorsOnly>
  );
}
