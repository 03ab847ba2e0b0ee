import { createStore } from 'jotai';
import { createRoot } from 'react-dom/client';
import { BrowserRouter } from 'react-router-dom';
import { keysFrame } from '../crypto/keysFrame.ts';
import { activateLocale, addTexts, applyToDocument } from '../i18n/i18n.ts';
import { localeStorageKey, preferredLocale } from '../i18n/locales.ts';
import { delay, systemClock } from '../lib/clock.ts';
import { errorCode } from '../lib/errorCode.ts';
import { createLog } from '../lib/log.ts';
import { notedAnswers } from '../lib/notedAnswers.ts';
import { loadOperator, operator, operatorPath } from '../operator/index.ts';
import { tokenStorageKey } from '../services/session/token.ts';
import { releaseAgreementKey } from '../serviceWorker/messages.ts';
import { parsePreferences, preferencesAtom, preferencesStorageKey } from '../store/preferences.ts';
import { applyTheme } from '../ui/theme.ts';
import { App } from './App.tsx';
import { startClientOnDemand } from './clientOnDemand.ts';
import { loadDashboard } from './dashboardOnDemand.tsx';
import { reloadOnTakeover } from './reloadOnTakeover.ts';
import { loadVisitorsPage } from './routes.tsx';

/** Milliseconds that a visitor's page has to come before the screen says that it loads. */
const loadingIsShownAfter = 300;

const loadReleases = () => import('./releases.tsx');
/** Tells if this browser holds on to a signed release (src/serviceWorker/releases.ts). */
const isPinned = () => localStorage.getItem(releaseAgreementKey) !== null;

async function start() {
  performance.setResourceTimingBufferSize(notedAnswers);
  if ('serviceWorker' in navigator) {
    const wasPinned = isPinned();
    reloadOnTakeover(navigator.serviceWorker, () => {
      // A relay that withholds what would notice a stranger's service worker is not to have the keys beside it.
      if (wasPinned || isPinned())
        loadReleases().then(
          ({ onTakeover }) => onTakeover(),
          () => keysFrame().lock(),
        );
      else window.location.reload();
    });
  }
  const container = document.getElementById('root');
  if (container === null) throw new Error('index.html has no #root');
  // The theme comes first, so that nothing is painted in the other one.
  applyTheme(parsePreferences(localStorage.getItem(preferencesStorageKey)).theme, document);
  const store = createStore();
  const log = createLog(console);
  async function readOperator() {
    if (!(await loadOperator(fetch))) log.warn('invalid-response', { route: operatorPath });
    document.getElementById('keys')?.setAttribute('title', operator.productName);
  }
  const told = readOperator();
  // Before there is a router a full navigation does the same.
  let navigate = (path: string): void => window.location.assign(path);

  const hasToken = () => localStorage.getItem(tokenStorageKey) !== null;
  const locale = preferredLocale(localStorage.getItem(localeStorageKey), navigator.languages);
  const texts = activateLocale(locale, hasToken() ? ['visitors', 'members'] : ['visitors']);
  if (isPinned()) void loadReleases();
  startClientOnDemand({
    store,
    hasToken,
    isKept: Boolean(navigator.serviceWorker?.controller),
    async start() {
      // The frame is answered while the client is still being loaded: its worker takes longest to be ready.
      keysFrame();
      const [{ bootstrap }] = await Promise.all([import('./bootstrap.ts'), addTexts('members'), told]);
      return bootstrap({
        store,
        log,
        loadScreens: loadDashboard,
        navigate: (path) => navigate(path),
      });
    },
    events: window,
  });
  // A fast network shows the visitor's page first; a slow one shows that it loads.
  const page = hasToken() ? null : loadVisitorsPage(window.location.pathname);
  await Promise.all([texts, told]);
  await Promise.race([page, delay(systemClock, loadingIsShownAfter)]);
  applyToDocument(document);
  store.sub(preferencesAtom, () => applyTheme(store.get(preferencesAtom).theme, document));

  // React would print the error's message, which may hold text that somebody wrote.
  const logFailure = (error: unknown) => log.error('screen-failure', { code: errorCode(error) });
  createRoot(container, { onCaughtError: logFailure, onUncaughtError: logFailure }).render(
    <App
      store={store}
      router={BrowserRouter}
      onNavigator={(change) => {
        navigate = change;
      }}
    />,
  );
}

void start();
