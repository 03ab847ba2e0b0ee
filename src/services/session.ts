import { AppError } from '../lib/appError.ts';
import { delay, type Timer } from '../lib/clock.ts';
import { errorCode } from '../lib/errorCode.ts';
import { paths } from '../lib/paths.ts';
import type { Profile, Session as SessionAnswer } from '../net/api.ts';
import { ApiError } from '../net/errors.ts';
import {
  type AuthProgress,
  authErrorAtom,
  authProgressAtom,
  authStatusAtom,
  connectionBannerAtom,
  currentUserAtom,
} from '../store/session.ts';
import type { Deps } from './deps.ts';
import { createVault, fetchVault, registerDevice, topUpKeyPackages } from './enrolment.ts';
import { apiErrorOf, type Background, isUnreachable, toAppError } from './failures.ts';
import { texts } from './texts.ts';
import { timings } from './timings.ts';
import { isUsableToken, type LoginProofStore, tokenUserId, type TokenStore } from './token.ts';

/** Dispatched when a call was answered 401: the token has been removed already. */
export const authErrorEvent = 'auth-error';

/** What lives as long as a session does. */
export interface SessionScope {
  start(): Promise<void>;
  stop(): void;
}

export interface SessionOptions {
  readonly deps: Deps;
  readonly tokens: TokenStore;
  readonly loginProofs: LoginProofStore;
  /** How this browser is called in the list of devices. */
  readonly deviceName: string;
  readonly openScope: (userId: string) => Promise<SessionScope>;
  readonly navigate: (path: string) => void;
  readonly background: Background;
}

export interface Session {
  /** At start: takes up the stored session if there is one. Never rejects. */
  resume(): Promise<void>;
  signUp(input: {
    username: string;
    email: string;
    password: string;
    privacyConsent: boolean;
  }): Promise<void>;
  logIn(input: { identifier: string; password: string }): Promise<void>;
  logOut(options?: { erase?: boolean }): Promise<void>;
  /** Asks the relay whether the token still holds; shows the banner when it doesn't. Never rejects. */
  check(): Promise<void>;
  /** Ends the session and goes to the login page after a while. */
  leaveForLogin(afterMs: number): void;
  /**
   * Another tab has changed the stored token. When it is somebody else's now, this tab's keys must go without touching
   * theirs, which only a reload does.
   */
  onTokenChanged(): 'unchanged' | 'signed-out' | 'reload';
  /** Stops the timers and the scope without signing out; for tests and hot reloads. */
  dispose(): void;
}

export function createSession(options: SessionOptions): Session {
  const { background, deps, loginProofs, tokens } = options;
  const { api, clock, crypto, events, log, store } = deps;
  let scope: SessionScope | null = null;
  let timers: Timer[] = [];

  function progress(step: AuthProgress | null): void {
    store.set(authProgressAtom, step);
  }

  function closeScope(): void {
    for (const timer of timers) timer.cancel();
    timers = [];
    scope?.stop();
    scope = null;
    store.set(connectionBannerAtom, false);
    store.set(currentUserAtom, null);
  }

  /** The session is over and not by the person's wish: the keys are locked, and the login page says why. */
  async function expire(reason: string = texts.sessionExpired): Promise<void> {
    closeScope();
    tokens.remove();
    store.set(authStatusAtom, 'error');
    store.set(authErrorAtom, reason);
    await crypto.lock();
  }

  async function openScope(user: Profile): Promise<void> {
    closeScope();
    const opened = await options.openScope(user.id);
    scope = opened;
    await opened.start();
    timers = [clock.every(timings.tokenCheck, () => background(check))];
    store.set(currentUserAtom, user);
    store.set(authErrorAtom, null);
    store.set(authStatusAtom, 'success');
  }

  async function check(): Promise<void> {
    if (scope === null) return;
    if (tokens.read() === null) return store.set(connectionBannerAtom, true);
    try {
      await api.profile();
      store.set(connectionBannerAtom, false);
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) store.set(connectionBannerAtom, true);
    }
  }

  /** From the relay's answer to a session on screen. */
  async function enter(
    { access_token, user, loginProof }: SessionAnswer,
    obtainVault: typeof fetchVault,
  ): Promise<void> {
    tokens.save(access_token);
    if (loginProof !== undefined) loginProofs.save(loginProof);
    progress('opening-vault');
    await crypto.openVault(user.id, await obtainVault(deps, user.id));
    progress('registering-device');
    await registerDevice(deps, options.deviceName);
    await topUpKeyPackages(deps);
    progress('syncing');
    await openScope(user);
  }

  /** A sign-in that failed half way leaves neither a token nor open keys behind. */
  async function signIn(steps: () => Promise<void>, sentence: (error: unknown) => string): Promise<void> {
    store.set(authErrorAtom, null);
    try {
      await steps();
    } catch (error) {
      closeScope();
      tokens.remove();
      store.set(authStatusAtom, 'error');
      log.warn('sign-in-failed', { code: apiErrorOf(error)?.code ?? errorCode(error) });
      await crypto.lock().catch(() => undefined);
      throw toAppError(error, sentence(error));
    } finally {
      progress(null);
    }
  }

  function onAuthError(): void {
    if (scope !== null) background(() => expire());
  }
  events.addEventListener(authErrorEvent, onAuthError);

  return {
    check,

    async resume() {
      const token = tokens.read();
      if (token === null || !isUsableToken(token, clock.now())) {
        tokens.remove();
        store.set(authStatusAtom, 'idle');
        return;
      }
      store.set(authStatusAtom, 'loading');
      try {
        const user = await api.profile();
        // The token is good and the keys are gone: the browser has cleared or evicted its storage.
        if (!(await crypto.resume(user.id))) throw new AppError('storage-erased', texts.storageErased);
        await registerDevice(deps, options.deviceName);
        await openScope(user);
      } catch (error) {
        log.warn('sign-in-failed', { code: apiErrorOf(error)?.code ?? errorCode(error) });
        await expire(error instanceof AppError ? error.message : undefined).catch(() => undefined);
      }
    },

    async signUp({ username, email, password, privacyConsent }) {
      if (!privacyConsent) throw new AppError('consent-missing', texts.consentMissing);
      await signIn(
        async () => {
          progress('deriving-keys');
          const { authKey, passwordParams } = await crypto.beginSignUp(password);
          progress('signing-in');
          const answer = await api.register({
            username,
            email,
            password: authKey,
            passwordParams,
            full_name: username,
            consent: { privacyConsent, consentTimestamp: new Date(clock.now()).toISOString() },
          });
          await enter(answer, createVault);
        },
        (error) => (isUnreachable(error) ? texts.signUpUnavailable : texts.signUpFailed),
      );
    },

    async logIn({ identifier, password }) {
      await signIn(
        async () => {
          progress('deriving-keys');
          const { authKey } = await crypto.beginLogin(password, await api.authParams(identifier));
          progress('signing-in');
          const loginProof = loginProofs.read();
          const credentials = { email: identifier, password: authKey };
          await enter(await api.login({ ...credentials, ...(loginProof && { loginProof }) }), fetchVault);
        },
        (error) => (isUnreachable(error) ? texts.loginUnavailable : texts.loginFailed),
      );
    },

    async logOut({ erase = false } = {}) {
      // The relay ends the session at once when it can be told; without it the token simply runs out unused.
      const told = tokens.read() === null ? Promise.resolve() : api.logout().catch(() => undefined);
      await Promise.race([told, delay(clock, timings.logoutAnswer)]);
      closeScope();
      tokens.remove();
      store.set(authErrorAtom, null);
      store.set(authStatusAtom, 'idle');
      if (erase) loginProofs.remove();
      await (erase ? crypto.erase() : crypto.lock());
    },

    leaveForLogin(afterMs) {
      // Closing the scope cancels it: who has left already is not sent again.
      timers.push(
        clock.after(afterMs, () => {
          background(() => expire());
          options.navigate(paths.login);
        }),
      );
    },

    onTokenChanged() {
      const user = store.get(currentUserAtom);
      const token = tokens.read();
      if (user === null) return token === null ? 'unchanged' : 'reload';
      if (token === null) {
        closeScope();
        store.set(authStatusAtom, 'idle');
        background(() => crypto.lock());
        return 'signed-out';
      }
      return tokenUserId(token) === user.id ? 'unchanged' : 'reload';
    },

    dispose() {
      events.removeEventListener(authErrorEvent, onAuthError);
      for (const timer of timers) timer.cancel();
      timers = [];
      scope?.stop();
      scope = null;
    },
  };
}
