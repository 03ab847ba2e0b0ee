import type { FailureCode } from './errorCode.ts';

/** A failure whose message is a sentence for the person, taken from the error catalogue. */
export class AppError extends Error {
  readonly code: FailureCode;

  constructor(code: FailureCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'AppError';
    this.code = code;
  }
}

const cancelledCode = 'cancelled';

/** The failure of what the person has called off: nothing is said of it. */
export function cancelled(): AppError {
  return new AppError(cancelledCode, '');
}

/** Returns whether the person has called it off. */
export function isCancelled(error: unknown): boolean {
  return error instanceof AppError && error.code === cancelledCode;
}
