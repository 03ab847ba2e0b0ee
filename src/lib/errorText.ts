import { AppError } from './appError.ts';

/** Returns the text to show for a failure: the message of an AppError, else the fallback (any other message is for developers). */
export function errorText(error: unknown, fallback: string): string {
  return error instanceof AppError && error.message !== '' ? error.message : fallback;
}
