import type { WritableAtom } from 'jotai';
import { createBackoff } from '../../lib/backoff.ts';
import type { Timer } from '../../lib/clock.ts';
import { coalesce } from '../../lib/coalesce.ts';
import type { LoadedList } from '../../store/loadedList.ts';
import type { Deps } from './deps.ts';
import { timings } from './timings.ts';

export interface ListOptions<T> {
  readonly atom: WritableAtom<LoadedList<T>, [LoadedList<T>], void>;
  /** Asks the relay, and puts its answer into the atom. */
  readonly read: () => Promise<void>;
  /** Puts there what this browser has kept of its last answer, unless there is something newer. Never rejects. */
  readonly recall: () => Promise<void>;
  /** The sentence for when it could not be loaded. */
  readonly failure: string;
}

/** None of these rejects. A list is asked for once at a time, and what fails is tried again by back-off. */
export interface List {
  /** Shows what this browser has kept, until the relay has answered. */
  recall(): Promise<void>;
  /** Loads with an indicator and an error sentence; once it is loaded, as {@link refresh}. */
  load(): Promise<void>;
  /** Quietly reads it again: it has changed. */
  refresh(): Promise<void>;
  /** Quietly reads it again if it is loaded, and nobody is doing so. */
  poll(): Promise<void>;
}

/** The lists of a session. */
export interface Lists {
  create<T>(options: ListOptions<T>): List;
  /** For who doesn't want to wait: asks anew for every list that isn't loaded. Never rejects. */
  retry(): Promise<void>;
  stop(): void;
}

export interface ListsOptions extends Pick<Deps, 'clock' | 'random' | 'store'> {
  readonly hasToken: () => boolean;
}

export function createLists({ clock, hasToken, random, store }: ListsOptions): Lists {
  const retries = new Set<() => Promise<void>>();
  const timers = new Set<Timer>();
  let stopped = false;

  function create<T>({ atom, failure, read, recall }: ListOptions<T>): List {
    const backoff = createBackoff({ baseMs: timings.listRetryBase, maxMs: timings.listRetryMax, random });
    let timer: Timer | null = null;
    let underWay = 0;
    let recalled: Promise<void> | null = null;

    const isLoaded = () => store.get(atom).loaded;
    const recallOnce = () => (recalled ??= recall());

    function set(change: Partial<Omit<LoadedList<T>, 'items'>>): void {
      const present = store.get(atom);
      const next = { ...present, ...change };
      const isSame =
        next.loading === present.loading && next.loaded === present.loaded && next.error === present.error;
      if (!isSame) store.set(atom, next);
    }

    function cancel(): void {
      if (timer === null) return;
      timer.cancel();
      timers.delete(timer);
      timer = null;
    }

    function tryLater(): void {
      cancel();
      timer = clock.after(backoff.next(), () => {
        cancel();
        if (hasToken()) void refresh();
        else tryLater();
      });
      timers.add(timer);
    }

    async function attempt(): Promise<void> {
      if (stopped) return;
      cancel();
      underWay += 1;
      const succeeded = await read().then(
        () => true,
        () => false,
      );
      underWay -= 1;
      if (stopped) return;
      if (succeeded) {
        cancel();
        backoff.reset();
        return set({ loading: false, loaded: true, error: null });
      }
      // The other one may do better.
      if (underWay > 0) return;
      tryLater();
      if (isLoaded()) return;
      await recallOnce();
      if (!stopped && !isLoaded()) set({ loading: false, error: failure });
    }

    const refresh = coalesce(attempt);

    retries.add(async () => {
      if (isLoaded()) return;
      set({ loading: true });
      // Beside one that may never be answered.
      await attempt();
    });

    return {
      recall: recallOnce,
      refresh,
      async load() {
        if (!isLoaded()) set({ loading: true, error: null });
        await refresh();
      },
      async poll() {
        if (isLoaded() && underWay === 0 && timer === null) await refresh();
      },
    };
  }

  return {
    create,

    async retry() {
      await Promise.all([...retries].map((retry) => retry()));
    },

    stop() {
      stopped = true;
      for (const timer of timers) timer.cancel();
      timers.clear();
    },
  };
}
