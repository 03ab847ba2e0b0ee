import { t } from '../../i18n/i18n.ts';
import { AppError } from '../../lib/appError.ts';
import { Email, Username } from '../../net/contract.ts';

/** The names by which others know a person, and by which they log in. */
export interface OwnNames {
  readonly username: string;
  readonly email: string;
}

/**
 * The names as the relay takes them, without asking it.
 * @throws AppError `invalid-username`, `invalid-email`
 */
export function checkedNames(wanted: OwnNames): OwnNames {
  const username = Username.safeParse(wanted.username);
  if (!username.success) throw new AppError('invalid-username', t('errors.invalidUsername'));
  const email = Email.safeParse(wanted.email.trim());
  if (!email.success) throw new AppError('invalid-email', t('errors.invalidEmail'));
  return { username: username.data, email: email.data };
}
