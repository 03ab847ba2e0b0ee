import type { MessageId } from '../../i18n/catalogue.ts';
import { t } from '../../i18n/i18n.ts';
import { AppError } from '../../lib/appError.ts';
import { delay, type Timer } from '../../lib/clock.ts';
import { errorCode } from '../../lib/errorCode.ts';
import { accountDeletedPath, paths } from '../../lib/paths.ts';
import type { Profile } from '../../net/api.ts';
import type { ApiErrorCode } from '../../net/errors.ts';
import type { RelayTrouble } from '../../store/connection.ts';
import {
  authErrorAtom,
  authStatusAtom,
  connectionBannerAtom,
  currentUserAtom,
  signedOutPathAtom,
} from '../../store/session.ts';
import {
  type Revocation,
  registerDevice,
  revocationOfThisDevice,
  topUpKeyPackages,
} from '../account/enrolment.ts';
import {
  askProfile,
  keepProfile,
  type ProfileAnswer,
  recallProfile,
  unknownProfile,
} from '../account/ownProfile.ts';
import { failureCode, passingTrouble, toAppError } from '../core/failures.ts';
import { deviceCopiedEvent, registerStart } from '../core/place.ts';
import { timings } from '../core/timings.ts';
import { type Connectivity, type ConnectivityOptions, createConnectivity } from './connectivity.ts';
import { createSignIn, type SignIn } from './signIn.ts';
import { isUsableToken, type LoginProofStore, tokenUserId } from './token.ts';

/** Dispatched when a call was answered 401: the token has been removed already. */
export const authErrorEvent = 'auth-error';

/** The services that live as long as a session does. */
export interface SessionScope {
  /** Shows what this browser has. */
  start(): Promise<void>;
  /** The relay has answered, or doesn't for now: it may be talked to. */
  connect(): void;
  /** Nothing more is asked of the relay until {@link connect}. */
  disconnect(): void;
  /** The relay can be reached again: what waited can go, and what was missed can come. */
  onReachable(): void;
  stop(): void;
}

export interface SessionOptions
  extends Pick<ConnectivityOptions, 'deps' | 'tokens' | 'deviceName' | 'isOnline' | 'background'> {
  readonly loginProofs: LoginProofStore;
  readonly openScope: (userId: string) => Promise<SessionScope>;
  readonly navigate: (path: string) => void;
  /** Erases what is kept of a person's files outside the worker's storage. */
  readonly eraseFiles: (userId: string) => Promise<void>;
}

export interface Session
  extends SignIn,
    Pick<Connectivity, 'check' | 'onNetworkChanged' | 'onConnected' | 'onDisconnected'> {
  /**
   * At start: takes up the stored session if there is one, first with what this browser has. Resolves once the relay has
   * said whether it holds, or is taken to be out of reach. Never rejects.
   */
  resume(): Promise<void>;
  logOut(options?: { erase?: boolean }): Promise<void>;
  /**
   * Ends the session with the account: once `deleteAtRelay` has done so, nothing of the person stays in this browser,
   * and the landing page says that it is gone. Rejects when it hasn't; the session lasts then, if the relay knows it.
   */
  endAccount(deleteAtRelay: () => Promise<unknown>): Promise<void>;
  /** This browser's device was revoked from another one: signs out, locks, and says so. */
  onDeviceRevoked(): Promise<void>;
  /** The relay takes the token no more: with which code it has said so first. */
  onTokenRefused(code: ApiErrorCode): void;
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

/** The sentence for a session that was ended elsewhere, by the code of the relay. */
const refusals: Partial<Record<ApiErrorCode, MessageId>> = {
  'device-revoked': 'devices.revokedHere',
  'password-changed': 'errors.passwordChanged',
  'device-copied': 'devices.copiedHere',
  'account-suspended': 'errors.accountSuspended',
};

export function createSession(options: SessionOptions): Session {
  const { background, deps, loginProofs, tokens } = options;
  const { api, clock, crypto, events, log, store } = deps;
  let scope: SessionScope | null = null;
  /** The scope of a session that is not on screen yet. */
  let prepared: SessionScope | null = null;
  let timers: Timer[] = [];
  /** The sentence for why the relay has refused the token, if it has said more than that the session is over. */
  let refusal: MessageId | null = null;
  /** The account is being deleted: the relay ends the session before it says so. */
  let isEnding = false;

  function closeScope(): void {
    for (const timer of timers) timer.cancel();
    timers = [];
    scope?.stop();
    prepared?.stop();
    scope = null;
    prepared = null;
    connectivity.reset();
    store.set(currentUserAtom, null);
  }

  function eraseFailed(error: unknown): void {
    log.warn('erase-failed', { code: errorCode(error) });
  }

  function endOnPurpose(): void {
    closeScope();
    tokens.remove();
    store.set(authErrorAtom, null);
    store.set(authStatusAtom, 'idle');
  }

  /** Locks the keys, and lets the login page say why. */
  async function close(reason: string): Promise<void> {
    closeScope();
    store.set(authStatusAtom, 'error');
    store.set(authErrorAtom, reason);
    await crypto.lock();
  }

  /** The session is over and not by the person's wish. */
  async function expire(reason: string = t(refusal ?? 'errors.sessionExpired')): Promise<void> {
    tokens.remove();
    await close(reason);
  }

  async function prepare(userId: string): Promise<SessionScope> {
    closeScope();
    const made = await options.openScope(userId);
    prepared = made;
    return made;
  }

  /** Brings the session on screen, with what this browser has. */
  async function show(opened: SessionScope, user: Profile): Promise<void> {
    prepared = null;
    scope = opened;
    store.set(currentUserAtom, user);
    await opened.start();
    if (scope !== opened) return;
    timers = [
      clock.every(timings.tokenCheck, () => background(() => connectivity.check())),
      clock.every(timings.reachPolling, () => background(() => connectivity.look())),
    ];
    store.set(authErrorAtom, null);
    store.set(authStatusAtom, 'success');
  }

  async function openScope(user: Profile): Promise<SessionScope> {
    const opened = await prepare(user.id);
    await show(opened, user);
    return opened;
  }

  /** @param trouble what keeps the relay from confirming the session, which goes on offline then */
  function connect(opened: SessionScope, trouble: RelayTrouble | null): void {
    if (scope !== opened) return;
    refusal = null;
    connectivity.begin(trouble);
    opened.connect();
  }

  /** Another tab or device may have changed what was known. */
  function update(user: Profile, known: Profile | null): void {
    if (JSON.stringify(user) === JSON.stringify(known)) return;
    store.set(currentUserAtom, user);
    background(() => keepProfile(crypto, user));
  }

  /**
   * Has the relay confirm the session that is on screen.
   * @param kept what this browser knew of the person
   * @throws whatever it refuses it with
   */
  async function confirm(
    opened: SessionScope,
    userId: string,
    kept: Profile | null,
    asked: Promise<ProfileAnswer>,
  ): Promise<void> {
    const { trouble, user } = await asked;
    if (scope !== opened) return;
    const registration = trouble === null ? await register() : { trouble, isAnew: false };
    if (scope !== opened) return;
    if (user === null || registration.trouble !== null) {
      await crypto.openDevice();
      // It may have been found again meanwhile.
      return connect(opened, connectivity.isConfirmed() ? null : registration.trouble);
    }
    if (user.id !== userId) throw new AppError('unauthenticated', t('errors.sessionExpired'));
    update(user, kept);
    connect(registration.isAnew ? await openScope(user) : opened, null);
    background(() => topUpKeyPackages(deps));
  }

  /** Registers this device at the relay. */
  async function register(): Promise<{ trouble: RelayTrouble | null; isAnew: boolean }> {
    try {
      return { trouble: null, isAnew: await registerDevice(deps, options.deviceName) };
    } catch (error) {
      return { trouble: passingTrouble(error), isAnew: false };
    }
  }

  /** Ends the token at the relay. Its answer changes nothing: a token that was not ended simply runs out unused. */
  async function tellEnd(token: string, revocation: Revocation | null): Promise<void> {
    const logOut = () => api.logout(token).catch(() => undefined);
    if (revocation === null) return logOut();
    await api.revokeOwnDevice(revocation.deviceId, revocation.statement, token).catch(logOut);
  }

  function onAuthError(): void {
    if (scope !== null && !isEnding) background(() => expire());
  }
  events.addEventListener(authErrorEvent, onAuthError);

  /** This browser's data is in another place as well: stops at once, and has the device end there too. */
  async function onCopied(): Promise<void> {
    const token = tokens.read();
    if (isEnding || token === null || (scope ?? prepared) === null) return;
    closeScope();
    const words = await Promise.all([crypto.openDevice(), crypto.signCopied()]).catch(() => null);
    await expire(t('devices.copiedHere'));
    if (words === null) return;
    const [{ deviceId }, signature] = words;
    await api.deviceCopied(deviceId, { signature }, token);
  }
  const heedCopied = () => background(onCopied);
  events.addEventListener(deviceCopiedEvent, heedCopied);

  const connectivity = createConnectivity({
    ...options,
    current: () => (isEnding ? null : scope),
    onProfile: update,
    async onRefused(confirmed) {
      // The banner would leave the person to guess why; and a session that has never been confirmed ends as one whose
      // profile could not be loaded at start.
      if (refusal !== null || !confirmed) await expire();
      else store.set(connectionBannerAtom, true);
    },
  });
  connectivity.reset();

  const signIn = createSignIn({
    deps,
    tokens,
    loginProofs,
    deviceName: options.deviceName,
    background,
    onEntered: async (user) => connect(await openScope(user), null),
    onFailed: closeScope,
  });

  return {
    ...signIn,
    ...connectivity,

    async resume() {
      const token = tokens.read();
      if (token === null || !isUsableToken(token, clock.now())) {
        tokens.remove();
        store.set(authStatusAtom, 'idle');
        return;
      }
      store.set(authStatusAtom, 'loading');
      const asked = askProfile(deps);
      // Told of below, where it is waited for.
      asked.catch(() => undefined);
      let opened: SessionScope | null = null;
      try {
        const userId = tokenUserId(token) ?? (await asked).user?.id ?? null;
        const unlocked = userId === null ? Promise.resolve(false) : crypto.resume(userId);
        unlocked.catch(() => undefined);
        // While the worker starts, which takes longer than all that this thread does.
        const made = userId === null ? null : await prepare(userId);
        if (userId === null || made === null || !(await unlocked)) {
          await asked;
          // The token is good and the keys are gone: the browser has cleared or evicted its storage.
          throw new AppError('storage-erased', t('errors.storageErased'));
        }
        const kept = await recallProfile(crypto, userId);
        const user = kept ?? (await asked).user ?? unknownProfile(userId);
        // A session that has been refused by now is not shown at all.
        await Promise.race([asked, Promise.resolve(null)]);
        // Ended meanwhile, or somebody has signed in.
        if (prepared !== made) return;
        opened = made;
        await show(opened, user);
        // Only now, since drawing it writes to the disk, and what the first screen reads would wait for that. It goes beside
        // what is asked of the relay anyway: nothing can be sent before it has answered.
        background(() => registerStart(deps));
        await confirm(opened, userId, kept, asked);
      } catch (error) {
        // Ended meanwhile, in this tab or in another.
        if (errorCode(error) === 'session-ended' || (opened !== null && scope !== opened)) return;
        const code = failureCode(error);
        log.warn('sign-in-failed', { code });
        // A failure without a code need not end the session: a part of the app didn't load, or the page is
        // being left. The token stays, for the next start to take it up.
        const ended =
          code === 'internal' || code === 'keys-unreachable'
            ? close(toAppError(error, t('errors.sessionNotOpened')).message)
            : expire(error instanceof AppError ? error.message : undefined);
        await ended.catch(() => undefined);
      }
    },

    async logOut({ erase = false } = {}) {
      const token = tokens.read();
      const userId = store.get(currentUserAtom)?.id;
      // First, so that nothing is asked any more with a token that the relay ends.
      endOnPurpose();
      if (erase) loginProofs.remove();
      const revocation = erase ? await revocationOfThisDevice(deps).catch(() => null) : null;
      const ended = token === null ? Promise.resolve() : tellEnd(token, revocation);
      // Before the relay answers: whoever logs in next must not meet these keys.
      await (erase ? crypto.erase() : crypto.lock());
      if (erase && userId !== undefined) await options.eraseFiles(userId).catch(eraseFailed);
      await Promise.race([ended, delay(clock, timings.logoutAnswer)]);
    },

    async onDeviceRevoked() {
      if (scope !== null && !isEnding) await expire(t('devices.revokedHere'));
    },

    onTokenRefused(code) {
      refusal = refusals[code] ?? null;
    },

    async endAccount(deleteAtRelay) {
      const opened = scope;
      const userId = store.get(currentUserAtom)?.id;
      isEnding = true;
      opened?.disconnect();
      try {
        await deleteAtRelay();
      } catch (error) {
        if (tokens.read() === null) await expire();
        else if (scope === opened) opened?.connect();
        throw error;
      } finally {
        isEnding = false;
      }
      store.set(signedOutPathAtom, accountDeletedPath);
      endOnPurpose();
      loginProofs.remove();
      // Were it to fail, what is left is sealed, and the key of it went with the account.
      await crypto.erase().catch(eraseFailed);
      if (userId !== undefined) await options.eraseFiles(userId).catch(eraseFailed);
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
      events.removeEventListener(deviceCopiedEvent, heedCopied);
      for (const timer of timers) timer.cancel();
      timers = [];
      scope?.stop();
      scope = null;
    },
  };
}
