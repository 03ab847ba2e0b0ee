import { AppError } from '../../lib/appError.ts';
import type { Store } from './deps.ts';

/**
 * The store as one session sees it. Once the session is over every write throws, which ends the task that outlived it:
 * its messages must not appear in the next person's session.
 */
export function sessionScopedStore(store: Store, isActive: () => boolean): Store {
  return {
    ...store,
    set: (atom, ...args) => {
      if (!isActive()) throw new AppError('session-ended', 'The session has ended.');
      return store.set(atom, ...args);
    },
  };
}
