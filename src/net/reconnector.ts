import { createBackoff } from '../lib/backoff.ts';
import type { Clock, Timer } from '../lib/clock.ts';

const firstDelayMs = 1_000;
const longestDelayMs = 30_000;

export type RealtimeStatus = 'connecting' | 'connected' | 'reconnecting' | 'closed';

export interface Reconnector {
  open(): void;
  close(): void;
  /** Makes a scheduled attempt at once, because it probably works now. */
  reconnectNow(): void;
  /** The attempt has led to a working connection. */
  succeeded(): void;
  /** The attempt has failed, or the connection was lost. */
  failed(): void;
}

/** Keeps one connection up until it is closed, waiting longer after each failure in a row. */
export function createReconnector(options: {
  clock: Clock;
  random: () => number;
  /** Without it (no token) an attempt is skipped and the next one is scheduled. */
  canConnect: () => boolean;
  connect: () => void;
  onStatus: (status: RealtimeStatus) => void;
}): Reconnector {
  const backoff = createBackoff({ baseMs: firstDelayMs, maxMs: longestDelayMs, random: options.random });
  let wanted = false;
  let timer: Timer | null = null;

  function schedule(): void {
    timer?.cancel();
    timer = options.clock.after(backoff.next(), attempt);
  }

  function attempt(): void {
    timer = null;
    if (options.canConnect()) options.connect();
    else schedule();
  }

  return {
    open() {
      if (wanted) return;
      wanted = true;
      options.onStatus('connecting');
      attempt();
    },
    reconnectNow() {
      if (timer === null) return;
      timer.cancel();
      backoff.reset();
      attempt();
    },
    close() {
      if (!wanted) return;
      wanted = false;
      timer?.cancel();
      timer = null;
      backoff.reset();
      options.onStatus('closed');
    },
    succeeded() {
      backoff.reset();
      options.onStatus('connected');
    },
    failed() {
      if (!wanted) return;
      options.onStatus('reconnecting');
      schedule();
    },
  };
}
