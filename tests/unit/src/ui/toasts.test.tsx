import { act, render, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { createStore, Provider } from 'jotai';

import { describe, expect, it, vi } from 'vitest';
import { ToastRegion } from '#src/features/toasts/ToastRegion.tsx';
import { showToastAtom, toastsAtom } from '#src/store/toasts.ts';

function showRegion() {
  const store = createStore();
  render(
    <Provider store={store}>
      <ToastRegion />
    </Provider>,
  );
  return store;
}

describe('toasts', () => {
  it('shows each once, and forgets the one that is dismissed by key', async () => {
    const store = showRegion();
    act(() => {
      store.set(showToastAtom, 'success', 'Contact request rejected');
      store.set(showToastAtom, 'error', 'Network error.');
    });
    expect(await screen.findAllByText('Contact request rejected')).not.toHaveLength(0);

    await userEvent.keyboard('{F6}');
    expect(screen.getByRole('region', { name: 'Notifications' })).toHaveFocus();
    await userEvent.tab();
    expect(screen.getByRole('alertdialog', { name: 'Network error.' })).toHaveFocus();
    await userEvent.keyboard('{Escape}');
    await waitFor(() =>
      expect(store.get(toastsAtom).map(({ text }) => text)).toEqual(['Contact request rejected']),
    );
  });

  it('stand at the top of the visible part of the page', () => {
    const visible = Object.assign(new EventTarget(), { offsetTop: 0 });
    vi.stubGlobal('visualViewport', visible);
    showRegion();
    const top = () =>
      screen.getByRole('region', { name: 'Notifications' }).style.getPropertyValue('--visible-top');
    expect(top()).toBe('0px');
    visible.offsetTop = 212.4;
    act(() => void visible.dispatchEvent(new Event('scroll')));
    expect(top()).toBe('212px');
    vi.unstubAllGlobals();
  });

  it.each([
    ['success', 3000],
    ['error', 5000],
  ] as const)('of %s stay for %d ms', (kind, durationMs) => {
    const store = createStore();
    store.set(showToastAtom, kind, 'Done');
    expect(store.get(toastsAtom)).toMatchObject([{ kind, durationMs }]);
  });

  it('are removed when their time is over', async () => {
    vi.useFakeTimers({ shouldAdvanceTime: true });
    try {
      const store = showRegion();
      act(() => store.set(showToastAtom, 'success', 'Done'));
      await act(() => vi.advanceTimersByTimeAsync(2500));
      expect(store.get(toastsAtom)).toHaveLength(1);
      await act(() => vi.advanceTimersByTimeAsync(1000));
      expect(store.get(toastsAtom)).toHaveLength(0);
    } finally {
      vi.useRealTimers();
    }
  });
});
