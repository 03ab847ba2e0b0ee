import type { Clock, Timer } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { limits, PresenceServerMessage } from './contract.ts';
import { createReconnector } from './reconnector.ts';

const pingIntervalMs = limits.presencePingSeconds * 1000;

export interface PresenceListeners {
  /** Replaces everything known. */
  onOnlineUsers(userIds: readonly string[]): void;
  onChange(change: { userId: string; online: boolean }): void;
  /** Nothing is known any more. */
  onLost(): void;
}

export interface PresenceOptions {
  readonly url: string;
  readonly userId: string;
  /** Read for every connection; without a token none is made. */
  readonly token: () => string | null;
  readonly listeners: PresenceListeners;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
  readonly createSocket: (url: string) => WebSocket;
}

export interface Presence {
  open(): void;
  /** Connects without waiting for the back-off, because the relay can probably be reached now. */
  reconnectNow(): void;
  close(): void;
}

function parseMessage(data: unknown): PresenceServerMessage | null {
  if (typeof data !== 'string') return null;
  try {
    const message = PresenceServerMessage.safeParse(JSON.parse(data));
    return message.success ? message.data : null;
  } catch {
    return null;
  }
}

/** The presence socket: tells that this person is here, and hears who else is. */
export function createPresence(options: PresenceOptions): Presence {
  const { clock, listeners, log, userId } = options;
  let socket: WebSocket | null = null;
  let pings: Timer | null = null;

  const reconnector = createReconnector({
    clock,
    random: options.random,
    canConnect: () => options.token() !== null,
    connect: attempt,
    onStatus: () => undefined,
  });

  function received(data: unknown): void {
    const message = parseMessage(data);
    if (message === null) return log.warn('invalid-event', { code: 'invalid-response' });
    // An open socket may still be refused for its token; one that answers has been accepted.
    reconnector.succeeded();
    if ('online' in message) listeners.onChange(message);
    else if (message.type === 'online_users') listeners.onOnlineUsers(message.userIds);
  }

  function attempt(): void {
    const current = options.createSocket(options.url);
    socket = current;
    current.addEventListener('open', () => {
      if (socket !== current) return;
      current.send(JSON.stringify({ userId, online: true, token: options.token() ?? '' }));
      pings = clock.every(pingIntervalMs, () => current.send(JSON.stringify({ type: 'ping' })));
    });
    current.addEventListener('message', (event) => {
      if (socket === current) received(event.data);
    });
    // A failed connection emits `error` and then `close`; only the latter always comes.
    current.addEventListener('close', () => {
      if (socket !== current) return;
      socket = null;
      pings?.cancel();
      listeners.onLost();
      reconnector.failed();
    });
  }

  return {
    open: () => reconnector.open(),
    reconnectNow: () => reconnector.reconnectNow(),
    close() {
      const current = socket;
      socket = null;
      pings?.cancel();
      if (current !== null) {
        if (current.readyState === current.OPEN) current.send(JSON.stringify({ userId, online: false }));
        current.close(1000);
      }
      reconnector.close();
      listeners.onLost();
    },
  };
}
