import type { MessageId } from '../../i18n/catalogue.ts';
import { activeLanguage, t } from '../../i18n/i18n.ts';
import { AppError } from '../../lib/appError.ts';
import { errorCode, type FailureCode } from '../../lib/errorCode.ts';
import type { Log } from '../../lib/log.ts';
import { ApiError, isServerFailure, isUnknownPath, NetworkError } from '../../net/errors.ts';
import type { RelayTrouble } from '../../store/connection.ts';

/** The answer inside a failure; of several paths' the one that says most: about what was asked, else about the server. */
export function apiErrorOf(error: unknown): ApiError | null {
  if (error instanceof ApiError) return error;
  if (!(error instanceof AggregateError)) return null;
  const answers = error.errors.filter((one: unknown) => one instanceof ApiError);
  return (
    answers.find((answer) => !isServerFailure(answer) && !isUnknownPath(answer)) ??
    answers.find(isServerFailure) ??
    answers[0] ??
    null
  );
}

/** Returns the code of the answer inside a failure, else the failure's own. */
export function failureCode(error: unknown): FailureCode {
  return apiErrorOf(error)?.code ?? errorCode(error);
}

/**
 * Returns whether the request may have been carried out although it failed: one of several paths gave no answer, or
 * broke down.
 */
export function mayBeDone(error: unknown): boolean {
  if (!(error instanceof AggregateError)) return false;
  return error.errors.some((one: unknown) => one instanceof NetworkError || isServerFailure(one));
}

/** Returns whether nothing answered at all. */
export function isUnreachable(error: unknown): boolean {
  if (error instanceof NetworkError) return true;
  return error instanceof AggregateError && error.errors.every((one) => one instanceof NetworkError);
}

/** Returns the trouble that keeps the relay, or a proxy before it, from serving; null for any other failure. */
export function troubleOf(error: unknown): RelayTrouble | null {
  if (isUnreachable(error)) return 'silent';
  return (apiErrorOf(error)?.status ?? 0) >= 500 ? 'failing' : null;
}

/**
 * Returns whether the failure says nothing about what was asked: the relay isn't reached, is in trouble, or asks to
 * wait.
 */
export function isPassing(error: unknown): boolean {
  return troubleOf(error) !== null || apiErrorOf(error)?.status === 429;
}

/**
 * Returns the trouble that keeps the relay from answering what was asked. @throws the failure itself when that says
 * something
 */
export function passingTrouble(error: unknown): RelayTrouble {
  if (!isPassing(error)) throw error;
  return troubleOf(error) ?? 'failing';
}

/** Failures that the page says in its own language, whatever it was that the person wanted. */
const ownSentences: Partial<Record<FailureCode, MessageId>> = {
  'account-suspended': 'errors.accountSuspended',
  'invitation-refused': 'errors.invitationRefused',
  'keys-unreachable': 'errors.keysUnreachable',
  'sign-up-closed': 'auth.signUp.closed',
  'stale-vault': 'errors.staleVault',
};

/** The relay's own sentence, or null. It is English; for what anybody can meet, another language has one that says less. */
export function detailOf(error: unknown): string | null {
  const answer = apiErrorOf(error);
  return answer?.code === 'quota' && activeLanguage() !== 'en' ? t('errors.quota') : (answer?.detail ?? null);
}

/** The relay's own sentence when it gave one, else the catalogue's. */
export function toAppError(error: unknown, sentence: string): AppError {
  if (error instanceof AppError) return error;
  const code = isUnreachable(error) ? 'unreachable' : failureCode(error);
  const own = ownSentences[code];
  if (own !== undefined) return new AppError(code, t(own), { cause: error });
  return new AppError(code, detailOf(error) || sentence, { cause: error });
}

/** Starts a task nobody waits for. What the network layer has logged already is not logged twice. */
export type Background = (task: () => Promise<unknown>) => void;

/** Starts such a task all the same, and resolves when it has ended, well or not. */
export function ended(background: Background, task: () => Promise<unknown>): Promise<void> {
  return new Promise((resolve) => background(() => task().finally(resolve)));
}

export function createBackground(log: Log): Background {
  return (task) => {
    task().catch((error: unknown) => {
      if (apiErrorOf(error) !== null || isUnreachable(error)) return;
      const code = errorCode(error);
      if (code === 'session-ended' || code === 'locked') return;
      if (code === 'internal') log.error('background-failure', { code });
      else log.warn('background-failure', { code });
    });
  };
}
