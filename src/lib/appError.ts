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
