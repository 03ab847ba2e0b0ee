import { createStore } from 'jotai';
import { describe, expect, it, vi } from 'vitest';
import { type OnDemandOptions, startClientOnDemand } from '#src/app/clientOnDemand.ts';
import { actionsAtom, requiredActionsAtom } from '#src/store/actions.ts';
import { authStatusAtom } from '#src/store/session.ts';
import { fakeActions } from '../support/app.tsx';

function open({ token = false, isKept = false } = {}) {
  const store = createStore();
  const events = new EventTarget();
  const actions = fakeActions();
  const start = vi.fn<OnDemandOptions['start']>(async () => {
    store.set(actionsAtom, actions);
    return actions;
  });
  let hasToken = token;
  startClientOnDemand({ store, events, start, isKept, hasToken: () => hasToken });
  return {
    store,
    start,
    actions,
    current: () => store.get(requiredActionsAtom),
    anotherTabLogsIn: () => {
      hasToken = true;
      events.dispatchEvent(new Event('storage'));
    },
  };
}

const account = { identifier: 'aino', password: 'secret' };

describe('the client', () => {
  it('is not loaded for a visitor without a session', () => {
    const { start, store } = open();
    expect(start).not.toHaveBeenCalled();
    expect(store.get(authStatusAtom)).toBe('idle');
  });

  it('is loaded at once if there may be a session, while the status is loading', () => {
    const { start, store } = open({ token: true });
    expect(start).toHaveBeenCalledOnce();
    expect(store.get(authStatusAtom)).toBe('loading');
  });

  it('is loaded if the browser keeps the app, so that the kept one is renewed', () => {
    expect(open({ isKept: true }).start).toHaveBeenCalledOnce();
  });

  it('is loaded by a form that appears, and runs the form’s action once there', async () => {
    const { actions, current, start } = open();
    const form = current();
    form.prepareSignIn();
    await form.logIn(account);
    expect(start).toHaveBeenCalledOnce();
    expect(actions.logIn).toHaveBeenCalledExactlyOnceWith(account);
    expect(current()).toBe(actions);
  });

  it('rejects an action as unreachable when it could not be loaded, and is loaded again by the next one', async () => {
    const { actions, current, start } = open();
    start.mockRejectedValueOnce(new TypeError('Failed to fetch dynamically imported module'));
    await expect(current().logIn(account)).rejects.toMatchObject({
      code: 'unreachable',
      message: 'The server cannot be reached. Please check your internet connection and try again.',
    });
    await current().logIn(account);
    expect(actions.logIn).toHaveBeenCalledOnce();
  });

  it('is loaded once when another tab logs in', () => {
    const { anotherTabLogsIn, start } = open();
    anotherTabLogsIn();
    anotherTabLogsIn();
    expect(start).toHaveBeenCalledOnce();
  });

  it('leaves the status idle when it could not be loaded for a stored session', async () => {
    const store = createStore();
    const start = vi.fn<OnDemandOptions['start']>(async () =>
      Promise.reject(new TypeError('Failed to fetch')),
    );
    startClientOnDemand({ store, events: new EventTarget(), start, isKept: false, hasToken: () => true });
    await vi.waitFor(() => expect(store.get(authStatusAtom)).toBe('idle'), { timeout: 60_000 });
  });
});
