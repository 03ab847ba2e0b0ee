import { endCodeOf, type Session, type SessionEndCode } from '../auth/session.ts';
import { ApiError } from '../errors.ts';
import type { RealtimeServices } from './realtimeServices.ts';

export interface LiveSession {
  readonly session: Session;
  /** Stops watching. Calling it more than once is harmless. */
  readonly release: () => void;
}

/** The longest delay that setTimeout takes, about 24.8 days; a token can live longer. */
const maxTimerMs = 2 ** 31 - 1;
/** Milliseconds until a session is looked for again where the database gave no answer. */
const unansweredMs = 60_000;

/**
 * Proves a token for a connection that stays open, and tells when the session behind it has ended or expired.
 * @param onEnd called once at most, and never after `release`
 * @throws ApiError unauthenticated, one of `sessionEndCodes`, limit-reached (too many connections of one person)
 */
export async function openLiveSession(
  services: Pick<RealtimeServices, 'sessions' | 'hub' | 'clock' | 'connections'>,
  token: string,
  onEnd: (code: SessionEndCode) => void,
): Promise<LiveSession> {
  const session = await services.sessions.verify(token);
  const closeConnection = services.connections.open(session.userId);
  let timer: NodeJS.Timeout;
  let isReleased = false;
  const release = () => {
    isReleased = true;
    closeConnection();
    unsubscribe();
    stopAwaiting();
    clearTimeout(timer);
  };
  const end = (code: SessionEndCode) => {
    release();
    onEnd(code);
  };
  const unsubscribe = services.hub.onSignal(session.id, (signal) => {
    if (signal.type === 'session-ended') end(signal.code);
  });
  // The end may have been among what was missed.
  const stopAwaiting = services.hub.onInterruption(() => {
    services.sessions.verify(token).catch((error: unknown) => {
      if (error instanceof ApiError) end(endCodeOf(error));
    });
  });
  const lookAgainIn = (delay: number) => {
    if (!isReleased) timer = setTimeout(lookAgain, Math.min(Math.max(delay, 0), maxTimerMs)).unref();
  };
  const awaitExpiry = ({ expiresAt }: Session) => lookAgainIn(expiresAt - services.clock());
  // A session that has got a device since the connection began lives longer than was said then.
  const lookAgain = () => {
    services.sessions.verify(token).then(awaitExpiry, (error: unknown) => {
      if (!(error instanceof ApiError)) lookAgainIn(unansweredMs);
      else if (!isReleased) end(endCodeOf(error));
    });
  };
  awaitExpiry(session);
  try {
    // Once more, now that the signal is listened to: the first answer may be older than the end of the session.
    await services.sessions.verify(token);
  } catch (error) {
    release();
    throw error;
  }
  return { session, release };
}
