import { type ErrorBody, type ErrorCode, errorStatus } from '../contract/index.ts';

export type ErrorExtra = Pick<ErrorBody, 'epoch' | 'version' | 'retryAfter'>;

/** A refusal that the caller may see. Everything else that is thrown is a defect and answers `internal`. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code: ErrorCode;
  readonly extra: ErrorExtra;

  /** @param detail a sentence for a person, free of personal data */
  constructor(code: ErrorCode, detail: string, extra: ErrorExtra = {}) {
    super(detail);
    this.code = code;
    this.extra = extra;
  }

  /** HTTP status. */
  get status(): (typeof errorStatus)[ErrorCode] {
    return errorStatus[this.code];
  }

  toBody(): ErrorBody {
    return { detail: this.message, code: this.code, ...this.extra };
  }
}

/** What the operator must mend before the relay can run: said in one sentence, without a stack. */
export class StartupError extends Error {
  override readonly name = 'StartupError';
}

/**
 * What to answer for anything thrown while serving a request.
 * A full disk is `storage-full`; whatever is not known is `internal`, and its message stays inside.
 */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (hasCode(error, 'SQLITE_FULL')) return new ApiError('storage-full', 'The server has no space left.');
  return new ApiError('internal', 'Something went wrong on the server.');
}

/** Whether a thrown value carries this `code`, as Node's, SQLite's and Fastify's errors do. */
export function hasCode(error: unknown, code: string): boolean {
  return errorCode(error) === code;
}

/** The `code` of a thrown value, or null if it has none. */
export function errorCode(error: unknown): string | null {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null;
}
