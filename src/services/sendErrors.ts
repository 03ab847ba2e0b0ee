import { AppError } from '../lib/appError.ts';
import { errorCode } from '../lib/errorCode.ts';
import { ApiError, NetworkError } from '../net/errors.ts';
import { texts } from './texts.ts';

/** What the worker can refuse a message with, as a reason for the person. */
const cryptoReasons: Readonly<Record<string, string>> = {
  'identity-changed': texts.identityChanged,
  storage: texts.storageFailed,
};

/** The catalogue's sentence for a message that could not be sent (spec section 8). */
export function sendErrorText(error: unknown): string {
  if (error instanceof AppError) return texts.sendFailedBecause(error.message);
  if (error instanceof NetworkError) return texts.sendNetworkError;
  if (error instanceof ApiError) {
    if (error.status === 401) return texts.sendUnauthenticated;
    if (error.status === 404) return texts.sendNotFound;
    if (error.status === 403) return texts.sendForbidden;
    if (error.status === 500) return texts.sendServerError;
    return error.detail ? texts.sendFailedBecause(error.detail) : texts.sendFailed;
  }
  const reason = cryptoReasons[errorCode(error)];
  return reason === undefined ? texts.sendFailed : texts.sendFailedBecause(reason);
}

/** Whether the messages behind this one would meet the same failure, so that they fail with it. */
export function stopsAll(error: unknown): boolean {
  if (error instanceof NetworkError) return true;
  return error instanceof ApiError && (error.status === 401 || error.status >= 500);
}
