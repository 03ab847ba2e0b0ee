import type { createStore } from 'jotai';
import { t } from '../i18n/i18n.ts';
import { AppError } from '../lib/appError.ts';
import { type AppActions, actionsAtom } from '../store/actions.ts';
import { authStatusAtom } from '../store/session.ts';

export interface OnDemandOptions {
  readonly store: ReturnType<typeof createStore>;
  /** Returns whether there may be a session to take up. */
  readonly hasToken: () => boolean;
  /** True if the browser keeps the app already, so that starting the client downloads nothing. */
  readonly isKept: boolean;
  /** Loads the client, puts its actions into the store and takes up the stored session. */
  readonly start: () => Promise<AppActions>;
  /** The source of `storage` events, which tell that another tab has logged in. */
  readonly events: Pick<EventTarget, 'addEventListener'>;
}

/**
 * Starts the client at once if there may be a session, else with the first form that will need it: a visitor who reads
 * is spared the download of the services, the network code and the worker.
 */
export function startClientOnDemand({ events, hasToken, isKept, start, store }: OnDemandOptions): void {
  let started: Promise<AppActions> | null = null;

  function ensureStarted(): Promise<AppActions> {
    started ??= start().catch((error: unknown) => {
      // The next call tries again, because the server may be reachable then.
      started = null;
      throw new AppError('unreachable', t('app.loadFailed'), { cause: error });
    });
    return started;
  }
  const startQuietly = () => void ensureStarted().catch(() => store.set(authStatusAtom, 'idle'));

  if (!hasToken()) {
    store.set(authStatusAtom, 'idle');
    store.set(actionsAtom, forwarding(ensureStarted, startQuietly));
  }
  if (hasToken() || isKept) startQuietly();
  events.addEventListener('storage', () => {
    if (started === null && hasToken()) startQuietly();
  });
}

/** Actions that wait until there is a client to do them. */
function forwarding(ensureStarted: () => Promise<AppActions>, prepareSignIn: () => void): AppActions {
  return new Proxy({} as AppActions, {
    get(_target, name: keyof AppActions | 'then' | symbol) {
      // The store would await an object with a `then`.
      if (typeof name !== 'string' || name === 'then') return undefined;
      if (name === 'prepareSignIn') return prepareSignIn;
      return async (...args: unknown[]) => {
        const actions = await ensureStarted();
        return (actions[name] as (...args: unknown[]) => unknown)(...args);
      };
    },
  });
}
