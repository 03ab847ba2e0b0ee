import { type ReactNode, Suspense, useEffect, useRef, useState } from 'react';
import { ErrorBoundary } from 'react-error-boundary';
import { Navigate, Route, Routes, useLocation } from 'react-router-dom';
import { withTexts } from '../i18n/i18n.ts';
import { paths } from '../lib/paths.ts';
import { type Chunk, chunk } from '../ui/chunk.tsx';
import { mainId } from '../ui/SkipLink.tsx';
import { LoadingScreen } from '../ui/Spinner.tsx';
import { DashboardPage } from './dashboardOnDemand.tsx';
import { MembersOnly, SessionGate, VisitorsOnly } from './guards.tsx';
import { RouteFailure } from './RouteFailure.tsx';

// Each page is its own chunk, with the texts that only it has.
const landing = chunk(() => import('../pages/landing/LandingPage.tsx'));
const login = chunk(() => import('../pages/auth/LoginPage.tsx'));
const recover = chunk(() => withTexts('members', withTexts('tabs', import('../pages/auth/RecoverPage.tsx'))));
const signUp = chunk(() => import('../pages/auth/SignUpPage.tsx'));
const privacyPolicy = chunk(() => withTexts('legal', import('../pages/legal/PrivacyPolicyPage.tsx')));
const terms = chunk(() => withTexts('legal', import('../pages/legal/TermsPage.tsx')));
const about = chunk(() => withTexts('legal', import('../pages/legal/AboutPage.tsx')));
const prove = chunk(() =>
  withTexts('legal', withTexts('tabs', withTexts('members', import('./ProveRoute.tsx')))),
);
const contact = chunk(() => import('../pages/contact/ContactPage.tsx'));

const LandingPage = landing.component((page) => page.LandingPage);
const LoginPage = login.component((page) => page.LoginPage);
const RecoverPage = recover.component((page) => page.RecoverPage);
const SignUpPage = signUp.component((page) => page.SignUpPage);
const PrivacyPolicyPage = privacyPolicy.component((page) => page.PrivacyPolicyPage);
const TermsPage = terms.component((page) => page.TermsPage);
const AboutPage = about.component((page) => page.AboutPage);
const ProveRoute = prove.component((page) => page.ProveRoute);
const ContactPage = contact.component((page) => page.ContactPage);

const visitorsPages: Readonly<Record<string, Pick<Chunk<unknown>, 'load'>>> = {
  [paths.landing]: landing,
  [paths.login]: login,
  [paths.recover]: recover,
  [paths.signUp]: signUp,
  // A visitor is sent from the dashboard to the log-in page.
  [paths.dashboard]: login,
  [paths.privacyPolicy]: privacyPolicy,
  [paths.terms]: terms,
  [paths.about]: about,
  [paths.contact]: contact,
  [paths.prove]: prove,
};

/** Loads the page that a visitor sees first. Never rejects: drawing the page asks again for a chunk that failed. */
export async function loadVisitorsPage(pathname: string): Promise<void> {
  await (visitorsPages[pathname] ?? landing).load().catch(() => undefined);
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
        <Route path={paths.prove} element={<ProveRoute />} />
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
