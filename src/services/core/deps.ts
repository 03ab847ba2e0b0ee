import type { createStore } from 'jotai';
import type { CryptoApi } from '../../crypto/client.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Locks } from '../../lib/locks.ts';
import type { Log } from '../../lib/log.ts';
import type { Api } from '../../net/api.ts';
import type { SessionEvents } from './sessionEvents.ts';

export type Store = ReturnType<typeof createStore>;

/** The dependencies of every service. Nothing here is global, so that a test or a second client can have its own. */
export interface Deps {
  readonly crypto: CryptoApi;
  readonly api: Api;
  readonly store: Store;
  readonly clock: Clock;
  /** A number in [0, 1). Only spreads retries; keys never come from it. */
  readonly random: () => number;
  readonly locks: Locks;
  readonly log: Log;
  readonly newId: () => string;
  /** The events `auth-error` and `ws-message` (spec sections 4 and 7); in the browser, the window. */
  readonly events: EventTarget;
}

/** The dependencies of the services of one session. */
export interface SessionDeps extends Deps {
  readonly sessionEvents: SessionEvents;
}
