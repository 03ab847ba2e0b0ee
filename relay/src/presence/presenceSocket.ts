import type { RawData, WebSocket } from 'ws';
import type * as z from 'zod/mini';
import { PresenceClientMessage, type PresenceServerMessage } from '../../contract/index.ts';
import type { ServedErrorCode } from '../../contract/served.ts';
import type { SessionEndCode } from '../auth/session.ts';
import { ApiError } from '../errors.ts';
import { takeFrom } from '../rateLimits/bucket.ts';
import { LiveSession, type SessionHolder } from '../realtime/liveSession.ts';
import { toBuffer } from '../realtime/rawData.ts';
import type { RealtimeServices } from '../realtime/realtimeServices.ts';
import { socketClosed } from '../realtime/socketClosed.ts';
import { ContactWatch, type Watcher } from './contactWatch.ts';

/** The settings that all sockets share. */
export interface PresenceOptions {
  /** Milliseconds from opening the socket to the message that carries the token. */
  readonly authenticationTimeoutMs: number;
  /** Milliseconds without any message after which a tab counts as gone. */
  readonly pingTimeoutMs: number;
  /** Bytes that may wait in the socket for a client that reads too slowly. */
  readonly maxBufferedBytes: number;
  /** Milliseconds that a client has to close its side after the relay has closed its own. */
  readonly closeTimeoutMs: number;
}

/** Close codes: RFC 6455 section 7.4.1, and two of our own that read like their HTTP counterparts. */
export const presenceCloseCode = {
  goingAway: 1001,
  unsupportedData: 1003,
  policyViolation: 1008,
  internalError: 1011,
  tryAgainLater: 1013,
  unauthenticated: 4401,
  pingTimeout: 4408,
} as const;
type ClientMessage = z.infer<typeof PresenceClientMessage>;
type PresenceCloseCode = (typeof presenceCloseCode)[keyof typeof presenceCloseCode];

/** A client has no reason to send more before it is answered. */
const maxEarlyMessages = 8;

/** A client pings twice a minute, and a person comes and goes; each change goes to every contact. */
const messageQuota = { count: 60, periodMs: 60_000 };

/** The state of an authenticated socket. */
interface Authenticated {
  readonly live: LiveSession;
  readonly watch: ContactWatch;
}

/** One tab's presence socket: says whether its person is here, and hears the same of the contacts. */
export class PresenceSocket implements SessionHolder, Watcher {
  readonly #socket: WebSocket;
  readonly #services: RealtimeServices;
  readonly #options: PresenceOptions;
  readonly #sockets: Set<PresenceSocket>;
  /** To be called once somebody has logged in; null after it. */
  #admitted: (() => void) | null;
  /** Waits for the token; null once it is proven. */
  #authenticationTimer: NodeJS.Timeout | null;
  readonly #silenceTimer: NodeJS.Timeout;
  /** Messages that came while the first one's token was being proven; null before and after. */
  #early: ClientMessage[] | null = null;
  #authenticated: Authenticated | null = null;
  /** Set where the end of the session may have been missed while its token was being proven. */
  #mustCheck = false;
  #ended = false;
  /** The bucket of `messageQuota`. */
  #fullAt = 0;

  /**
   * @param sockets those that are open, which this one leaves as it closes
   * @param admitted called once somebody has logged in
   */
  constructor(
    socket: WebSocket,
    services: RealtimeServices,
    options: PresenceOptions,
    sockets: Set<PresenceSocket>,
    admitted: () => void,
  ) {
    this.#socket = socket;
    this.#services = services;
    this.#options = options;
    this.#sockets = sockets;
    this.#admitted = admitted;
    this.#authenticationTimer = setTimeout(() => {
      this.close(presenceCloseCode.unauthenticated);
    }, options.authenticationTimeoutMs);
    this.#silenceTimer = setTimeout(() => {
      this.close(presenceCloseCode.pingTimeout);
    }, options.pingTimeoutMs);
    socket.on('message', (data, isBinary) => this.#receive(data, isBinary));
    socket.on('close', () => {
      this.#sockets.delete(this);
      this.#release();
    });
  }

  /** Resolves when the socket is closed. */
  done(): Promise<void> {
    return socketClosed(this.#socket);
  }

  /** Looks whether the session has ended, because the signal that says so may have been missed. */
  checkSession(): void {
    if (this.#authenticated === null) this.#mustCheck = true;
    else this.#authenticated.live.checkAgain();
  }

  sessionEnded(code: SessionEndCode): void {
    this.close(presenceCloseCode.unauthenticated, code);
  }

  onOnline(userIds: readonly string[]): void {
    this.#send({ type: 'online_users', userIds: [...userIds] });
  }

  onStatus(payload: string): void {
    this.#sendText(payload);
  }

  /**
   * Does nothing if the socket is closing already.
   * @param reason the code of the error, for whoever reads the connection
   */
  close(code: PresenceCloseCode, reason?: ServedErrorCode): void {
    if (this.#ended) return;
    this.#release();
    this.#socket.close(code, reason);
    const timer = setTimeout(() => this.#socket.terminate(), this.#options.closeTimeoutMs).unref();
    this.#socket.once('close', () => clearTimeout(timer));
  }

  #receive(data: RawData, isBinary: boolean): void {
    if (this.#ended) return;
    if (isBinary) return this.close(presenceCloseCode.unsupportedData);
    const { fullAt, waitMs } = takeFrom(this.#fullAt, messageQuota, this.#services.clock());
    this.#fullAt = fullAt;
    if (waitMs > 0) return this.close(presenceCloseCode.policyViolation);
    this.#silenceTimer.refresh();
    const message = parseMessage(data);
    if (message === null) return this.close(presenceCloseCode.policyViolation);
    if (this.#authenticated !== null) return this.#handle(message, this.#authenticated);
    if (this.#early === null) {
      this.#early = [];
      this.#authenticate(message).catch((error: unknown) => this.onError(error));
    } else {
      this.#early.push(message);
      if (this.#early.length > maxEarlyMessages) this.close(presenceCloseCode.policyViolation);
    }
  }

  #handle(message: ClientMessage, { live }: Authenticated): void {
    if (this.#ended) return;
    if ('type' in message) return this.#send({ type: 'pong' });
    const { userId } = live.session;
    if (message.userId !== userId) return this.close(presenceCloseCode.policyViolation);
    const { onlineUsers } = this.#services;
    if (message.online) onlineUsers.add(userId, this);
    else onlineUsers.remove(userId, this);
  }

  async #authenticate(message: ClientMessage): Promise<void> {
    // Before it is known whose socket this is, one message counts: the one that says so.
    if ('type' in message || !message.online || message.token === undefined) {
      return this.close(presenceCloseCode.unauthenticated);
    }
    const live = await LiveSession.open(this.#services, message.token, this);
    const { userId } = live.session;
    if (this.#ended) return live.release();
    if (message.userId !== userId) {
      live.release();
      return this.close(presenceCloseCode.unauthenticated);
    }
    const watch = new ContactWatch(this.#services, userId, this);
    const authenticated = { live, watch };
    this.#authenticated = authenticated;
    this.#stopAuthenticationTimer();
    this.#admitted?.();
    this.#admitted = null;
    if (this.#mustCheck) live.checkAgain();
    this.#services.onlineUsers.add(userId, this);
    for (const early of this.#early ?? []) this.#handle(early, authenticated);
    this.#early = null;
    await watch.read();
  }

  onError(error: unknown): void {
    if (error instanceof ApiError) {
      const { tryAgainLater, unauthenticated } = presenceCloseCode;
      return this.close(error.code === 'limit-reached' ? tryAgainLater : unauthenticated, error.code);
    }
    this.#services.log.error({ err: error }, 'a presence socket failed');
    this.close(presenceCloseCode.internalError);
  }

  #send(message: PresenceServerMessage): void {
    this.#sendText(JSON.stringify(message));
  }

  #sendText(text: string): void {
    if (this.#ended || this.#socket.readyState !== this.#socket.OPEN) return;
    this.#socket.send(text);
    if (this.#socket.bufferedAmount > this.#options.maxBufferedBytes) {
      this.close(presenceCloseCode.tryAgainLater);
    }
  }

  #stopAuthenticationTimer(): void {
    if (this.#authenticationTimer !== null) clearTimeout(this.#authenticationTimer);
    this.#authenticationTimer = null;
  }

  #release(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#stopAuthenticationTimer();
    clearTimeout(this.#silenceTimer);
    if (this.#authenticated === null) return;
    const { live, watch } = this.#authenticated;
    live.release();
    watch.stop();
    this.#services.onlineUsers.remove(live.session.userId, this);
  }
}

function parseMessage(data: RawData): ClientMessage | null {
  try {
    return PresenceClientMessage.parse(JSON.parse(toBuffer(data).toString()));
  } catch {
    return null;
  }
}
