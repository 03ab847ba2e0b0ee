import type { MessageId } from '../../i18n/catalogue.ts';
import { t } from '../../i18n/i18n.ts';
import { AppError } from '../../lib/appError.ts';
import { errorCode, type FailureCode } from '../../lib/errorCode.ts';
import { ApiError, NetworkError } from '../../net/errors.ts';
import { detailOf } from '../core/failures.ts';

/** The worker's codes for refusing a message, with the reason to show the person. */
const cryptoReasons: Partial<Readonly<Record<FailureCode, MessageId>>> = {
  'identity-changed': 'errors.identityChanged',
  'position-taken': 'errors.positionTaken',
  storage: 'errors.storageFailed',
};

/** The catalogue's sentence for a message that could not be sent (spec section 8). */
export function sendErrorText(error: unknown): string {
  if (error instanceof AppError) return t('errors.sendFailedBecause', { detail: error.message });
  if (error instanceof NetworkError) return t('errors.sendNetworkError');
  if (error instanceof ApiError) {
    if (error.status === 401) return t('errors.sendUnauthenticated');
    if (error.status === 404) return t('errors.sendNotFound');
    if (error.status === 403) return t('errors.sendForbidden');
    if (error.status === 500) return t('errors.sendServerError');
    const detail = detailOf(error);
    return detail ? t('errors.sendFailedBecause', { detail }) : t('errors.sendFailed');
  }
  const reason = cryptoReasons[errorCode(error)];
  return reason === undefined ? t('errors.sendFailed') : t('errors.sendFailedBecause', { detail: t(reason) });
}

/** Returns whether the messages behind this one would meet the same failure, so that they fail with it. */
export function stopsAll(error: unknown): boolean {
  if (error instanceof NetworkError) return true;
  return error instanceof ApiError && (error.status === 401 || error.status >= 500);
}
