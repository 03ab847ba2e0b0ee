import { act, render } from '@testing-library/react';
import type { createStore } from 'jotai';
import { type ReactNode, useLayoutEffect } from 'react';
import { MemoryRouter, type MemoryRouterProps, useLocation, useNavigate } from 'react-router-dom';
import { App } from '#src/app/App.tsx';

/** The whole application at the last of these addresses, with the others behind it in the history. */
export function openApp(
  store: ReturnType<typeof createStore>,
  ...addresses: NonNullable<MemoryRouterProps['initialEntries']>
) {
  const inside: { path?: string; navigate?: ReturnType<typeof useNavigate> } = {};

  function Probe() {
    const { pathname } = useLocation();
    const navigate = useNavigate();
    useLayoutEffect(() => {
      inside.path = pathname;
      inside.navigate = navigate;
    });
    return null;
  }
  function Router({ children }: { children: ReactNode }) {
    return (
      <MemoryRouter initialEntries={addresses} initialIndex={addresses.length - 1}>
        {children}
        <Probe />
      </MemoryRouter>
    );
  }
  render(<App store={store} router={Router} />);
  return {
    path: () => inside.path,
    /** As the browser's buttons do. */
    go: (delta: number) => act(async () => inside.navigate?.(delta)),
  };
}
