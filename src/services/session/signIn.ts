import { t } from '../../i18n/i18n.ts';
import { AppError } from '../../lib/appError.ts';
import { errorCode } from '../../lib/errorCode.ts';
import type { Profile, RegisterInput, Session as SessionAnswer } from '../../net/api.ts';
import type { AppActions } from '../../store/actions.ts';
import { type AuthProgress, authErrorAtom, authProgressAtom, authStatusAtom } from '../../store/session.ts';
import { createVault, fetchVault, registerDevice, topUpKeyPackages } from '../account/enrolment.ts';
import { checkedNames } from '../account/ownNames.ts';
import { keepProfile } from '../account/ownProfile.ts';
import { takeInRevocations } from '../account/revocations.ts';
import { signOwnName } from '../account/signedName.ts';
import { createAccountStates } from '../core/accountState.ts';
import type { Deps } from '../core/deps.ts';
import {
  apiErrorOf,
  type Background,
  failureCode,
  isUnreachable,
  mayBeDone,
  toAppError,
} from '../core/failures.ts';
import { registerStart } from '../core/place.ts';
import type { LoginProofStore, TokenStore } from './token.ts';

export interface SignInOptions {
  readonly deps: Deps;
  readonly tokens: TokenStore;
  readonly loginProofs: LoginProofStore;
  /** The name of this browser in the list of devices. */
  readonly deviceName: string;
  readonly background: Background;
  /** Brings the session on screen: the keys are open, and the relay knows the device. */
  readonly onEntered: (user: Profile) => Promise<void>;
  /** Takes off the screen again what was there already. */
  readonly onFailed: () => void;
}

/** The ways into an account. Each rejects with an AppError, in the sentence for the person, and leaves nothing behind. */
export type SignIn = Pick<AppActions, 'signUp' | 'logIn' | 'recover'>;

export function createSignIn(options: SignInOptions): SignIn {
  const { background, deps, deviceName, loginProofs, tokens } = options;
  const { api, clock, crypto, log, store } = deps;

  function progress(step: AuthProgress | null): void {
    store.set(authProgressAtom, step);
  }

  /** From the relay's answer to a session on screen. */
  async function enter(
    { access_token, user, loginProof }: SessionAnswer,
    openVault: (userId: string) => Promise<void>,
    typed: string,
  ): Promise<void> {
    tokens.save(access_token);
    if (loginProof !== undefined) loginProofs.save(loginProof);
    progress('opening-vault');
    await openVault(user.id);
    progress('registering-device');
    await registerDevice(deps, deviceName);
    // Before this device meets anybody: the person's other devices may know them. First which of those are revoked, whose
    // word counts for nothing.
    const met = takeInRevocations(deps, user.id).then(() => createAccountStates(deps).read());
    await Promise.all([met, registerStart(deps)]);
    // A relay that says another name gets no signature of it.
    const isTyped = typed.trim().toLowerCase() === user.username.toLowerCase();
    if (isTyped) await signOwnName(deps, user);
    await crypto.forgetVault();
    await topUpKeyPackages(deps);
    progress('syncing');
    background(() => keepProfile(crypto, user));
    await options.onEntered(user);
  }

  /**
   * A path that failed may have made the account all the same: the next one then calls the name taken, and a log-in with
   * the key that was just derived, which nobody else has, tells whose it is.
   */
  async function register(account: RegisterInput): Promise<SessionAnswer> {
    try {
      return await api.register(account);
    } catch (error) {
      const code = apiErrorOf(error)?.code;
      if (!mayBeDone(error) || (code !== 'username-taken' && code !== 'email-taken')) throw error;
      const { email, password, passwordProofKey } = account;
      return api
        .login({ email, password, ...(passwordProofKey && { passwordProofKey }) })
        .catch(() => Promise.reject(error));
    }
  }

  /** A sign-in that failed half way leaves neither a token nor open keys behind. */
  async function attempt(steps: () => Promise<void>, sentence: (error: unknown) => string): Promise<void> {
    store.set(authErrorAtom, null);
    try {
      await steps();
    } catch (error) {
      options.onFailed();
      tokens.remove();
      store.set(authStatusAtom, 'error');
      log.warn('sign-in-failed', { code: failureCode(error) });
      await crypto.lock().catch(() => undefined);
      throw toAppError(error, sentence(error));
    } finally {
      progress(null);
    }
  }

  return {
    async signUp({ invitation, password, privacyConsent, ...wanted }) {
      if (!privacyConsent) throw new AppError('consent-missing', t('errors.consentMissing'));
      // Before anything is derived, which takes seconds.
      const names = checkedNames(wanted);
      await attempt(
        async () => {
          progress('deriving-keys');
          const { authKey, passwordParams, proofKey } = await crypto.beginSignUp(password);
          progress('signing-in');
          const answer = await register({
            ...names,
            password: authKey,
            passwordParams,
            passwordProofKey: proofKey,
            full_name: names.username,
            ...(invitation && { invitation }),
            consent: { privacyConsent, consentTimestamp: new Date(clock.now()).toISOString() },
          });
          await enter(
            answer,
            async (userId) => crypto.openVault(userId, await createVault(deps, userId)),
            names.username,
          );
        },
        (error) => (isUnreachable(error) ? t('errors.signUpUnavailable') : t('errors.signUpFailed')),
      );
    },

    async logIn({ identifier, password }) {
      await attempt(
        async () => {
          progress('deriving-keys');
          const params = await api.authParams(identifier);
          const { authKey, proofKey } = await crypto.beginLogin(password, params);
          progress('signing-in');
          const loginProof = loginProofs.read();
          const credentials = { email: identifier, password: authKey, passwordProofKey: proofKey };
          const answer = await api.login({ ...credentials, ...(loginProof && { loginProof }) });
          await enter(
            answer,
            async (userId) => crypto.openVault(userId, await fetchVault(deps, userId)),
            identifier,
          );
        },
        (error) => (isUnreachable(error) ? t('errors.loginUnavailable') : t('errors.loginFailed')),
      );
    },

    async recover({ identifier, recoveryKey, password }) {
      await attempt(
        async () => {
          progress('deriving-keys');
          const keys = await crypto.beginRecovery(recoveryKey);
          progress('signing-in');
          const loginProof = loginProofs.read();
          const proof = { email: identifier, ...keys, ...(loginProof && { loginProof }) };
          await enter(
            await api.recover(proof),
            async (userId) => {
              const { replaceForgottenPassword } = await import('../account/password.ts');
              await replaceForgottenPassword(deps, userId, password);
            },
            identifier,
          );
        },
        (error) =>
          errorCode(error) === 'bad-recovery-key' ? t('recovery.badKey') : t('recovery.recoverFailed'),
      );
    },
  };
}
