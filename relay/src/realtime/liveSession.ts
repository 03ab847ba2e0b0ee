import { endCodeOf, type Session, type SessionEndCode } from '../auth/session.ts';
import { ApiError } from '../errors.ts';
import type { Unsubscribe } from './hub.ts';
import type { RealtimeServices } from './realtimeServices.ts';

type LiveServices = Pick<RealtimeServices, 'sessions' | 'hub' | 'clock' | 'connections'>;

/** The connection that a session is proven for. */
export interface SessionHolder {
  /** Called once at most, and never after the session was released. */
  sessionEnded(code: SessionEndCode): void;
}

/** The longest delay that setTimeout takes, about 24.8 days; a token can live longer. */
const maxTimerMs = 2 ** 31 - 1;
/** Milliseconds until a session is looked for again where the database gave no answer. */
const unansweredMs = 60_000;

/**
 * The session behind a connection that stays open. It tells when the session has ended or expired. A class, because a
 * relay holds one for each connection, and closures would take several times its memory.
 */
export class LiveSession {
  readonly session: Session;
  readonly #services: LiveServices;
  readonly #token: string;
  readonly #holder: SessionHolder;
  readonly #unsubscribe: Unsubscribe;
  #timer: NodeJS.Timeout | null = null;
  #isReleased = false;

  private constructor(services: LiveServices, token: string, session: Session, holder: SessionHolder) {
    this.session = session;
    this.#services = services;
    this.#token = token;
    this.#holder = holder;
    services.connections.open(session.userId);
    this.#unsubscribe = services.hub.onSignal(session.id, (signal) => {
      if (signal.type === 'session-ended') this.#end(signal.code);
    });
    this.#awaitExpiry(session);
  }

  /**
   * Proves a token for a connection.
   * @throws ApiError unauthenticated, one of `sessionEndCodes`, limit-reached (too many connections of one person)
   */
  static async open(services: LiveServices, token: string, holder: SessionHolder): Promise<LiveSession> {
    const live = new LiveSession(services, token, await services.sessions.verify(token), holder);
    try {
      // Once more, now that the signal is listened to: the first answer may be older than the end of the session.
      await services.sessions.verify(token);
    } catch (error) {
      live.release();
      throw error;
    }
    return live;
  }

  /**
   * Looks whether the session has ended: its time is over, or the signal that says so may have been missed. One that has got a device since
   * the connection began lives longer than was said then.
   */
  checkAgain(): void {
    this.#services.sessions.verify(this.#token).then(
      (session) => this.#awaitExpiry(session),
      (error: unknown) => {
        if (error instanceof ApiError) this.#end(endCodeOf(error));
        else this.#checkAgainIn(unansweredMs);
      },
    );
  }

  /** Stops watching. Calling it more than once is harmless. */
  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.#services.connections.close(this.session.userId);
    this.#unsubscribe();
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  #end(code: SessionEndCode): void {
    if (this.#isReleased) return;
    this.release();
    this.#holder.sessionEnded(code);
  }

  #awaitExpiry({ expiresAt }: Session): void {
    this.#checkAgainIn(expiresAt - this.#services.clock());
  }

  #checkAgainIn(delay: number): void {
    if (this.#isReleased) return;
    if (this.#timer !== null) clearTimeout(this.#timer);
    const ms = Math.min(Math.max(delay, 0), maxTimerMs);
    this.#timer = setTimeout(() => this.checkAgain(), ms).unref();
  }
}
