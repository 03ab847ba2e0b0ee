import '@fontsource-variable/inter/opsz.css';
import '../ui/tokens.css';
import '../ui/base.css';
import { CSPProvider } from '@base-ui/react/csp-provider';
import { type createStore, Provider, useAtomValue } from 'jotai';
import {
  type ComponentType,
  lazy,
  type ReactNode,
  StrictMode,
  Suspense,
  useEffect,
  useEffectEvent,
  useState,
} from 'react';
import { ErrorBoundary } from 'react-error-boundary';
import { useNavigate } from 'react-router-dom';
import { authStatusAtom, currentUserAtom } from '../store/session.ts';
import { afterPaint } from '../ui/afterPaint.ts';
import { AppRoutes } from './routes.tsx';

const ToastRegion = lazy(async () => ({
  default: (await import('../features/toasts/ToastRegion.tsx')).ToastRegion,
}));

interface AppProps {
  store: ReturnType<typeof createStore>;
  /** The source of addresses: the browser's bar, or a test's memory. */
  router: ComponentType<{ children: ReactNode }>;
  /** Gets the way to change the address without a click. */
  onNavigator?: (navigate: (path: string) => void) => void;
}

export function App({ store, router: Router, onNavigator }: AppProps) {
  return (
    <StrictMode>
      {/* The page's policy forbids style elements: all styles come from files. */}
      <CSPProvider disableStyleElements>
        <Provider store={store}>
          <Router>
            <AppRoutes />
            {onNavigator !== undefined && <Navigator onNavigator={onNavigator} />}
          </Router>
          <Toasts />
        </Provider>
      </CSPProvider>
    </StrictMode>
  );
}

function Navigator({ onNavigator }: Required<Pick<AppProps, 'onNavigator'>>) {
  const navigate = useNavigate();
  const announce = useEffectEvent(() => onNavigator((path) => void navigate(path)));
  useEffect(() => announce(), []);
  return null;
}

/**
 * Loads for members once their page is drawn, to be there before a toast is: a region that comes with its first text is
 * not read out. It stays, so that a logged-out person can read why.
 */
function Toasts() {
  const isUser = useAtomValue(currentUserAtom) !== null;
  const isShown = useAtomValue(authStatusAtom) === 'success' && isUser;
  const [wanted, setWanted] = useState(false);
  useEffect(() => (isShown ? afterPaint(() => setWanted(true)) : undefined), [isShown]);
  if (!wanted) return null;
  return (
    <ErrorBoundary fallback={null}>
      <Suspense>
        <ToastRegion />
      </Suspense>
    </ErrorBoundary>
  );
}
