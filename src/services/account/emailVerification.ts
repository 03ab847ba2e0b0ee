import { t } from '../../i18n/i18n.ts';
import { AppError } from '../../lib/appError.ts';
import { cancelEmailChange, confirmEmail, emailCodePattern, sendEmailCode } from '../../net/emails.ts';
import type { EmailVerification, EmailVerificationChange } from '../../store/emailVerification.ts';
import { currentUserAtom } from '../../store/session.ts';
import type { Deps } from '../core/deps.ts';
import { toAppError } from '../core/failures.ts';
import { keepProfile } from './ownProfile.ts';

type EmailDeps = Pick<Deps, 'api' | 'crypto' | 'store'>;

/** See AppActions.updateEmailVerification. @throws AppError */
export async function updateEmailVerification(
  deps: EmailDeps,
  change: EmailVerificationChange | undefined,
): Promise<EmailVerification | null> {
  const { api } = deps;
  try {
    if (typeof change === 'object') return await confirm(deps, change.code);
    // Before the change: an answer that is lost after it would make a success look like a failure.
    const { email_verified: isVerified, pending_email: pending = null } = await api.accountData();
    if (change !== undefined) await api.call(change === 'send' ? sendEmailCode : cancelEmailChange, {});
    return isVerified === undefined ? null : { isVerified, pending: change === 'cancel' ? null : pending };
  } catch (error) {
    throw toAppError(error, t('profile.verification.failed'));
  }
}

async function confirm({ api, crypto, store }: EmailDeps, typed: string): Promise<EmailVerification> {
  const code = typed.replaceAll(/\s/g, '');
  // The relay would take it for a fault of the client.
  if (!emailCodePattern.test(code)) throw new AppError('wrong-code', t('profile.verification.wrong'));
  const user = await api.call(confirmEmail, { body: { code } });
  store.set(currentUserAtom, user);
  // For an offline start; the next answered one mends it.
  await keepProfile(crypto, user).catch(() => undefined);
  return { isVerified: true, pending: null };
}
