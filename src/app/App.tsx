import '@fontsource-variable/inter/opsz.css';
import '../ui/tokens.css';
import '../ui/base.css';
import { CSPProvider } from '@base-ui/react/csp-provider';
import { type createStore, Provider } from 'jotai';
import { StrictMode } from 'react';
import { type createBrowserRouter, RouterProvider } from 'react-router-dom';
import { ToastRegion } from '../features/toasts/ToastRegion.tsx';

interface AppProps {
  store: ReturnType<typeof createStore>;
  router: ReturnType<typeof createBrowserRouter>;
}

export function App({ store, router }: AppProps) {
  return (
    <StrictMode>
      {/* The page's policy forbids style elements: all styles come from files. */}
      <CSPProvider disableStyleElements>
        <Provider store={store}>
          <RouterProvider router={router} />
          <ToastRegion />
        </Provider>
      </CSPProvider>
    </StrictMode>
  );
}
