import type { ErrorCode } from './contract.ts';

/** The relay's codes, and `invalid-response` for an answer that breaks the contract. */
export type ApiErrorCode = ErrorCode | 'invalid-response';

/** The relay answered, and the answer is not a success. */
export class ApiError extends Error {
  /** HTTP status; over MQTT the one that goes with the code. */
  readonly status: number;
  readonly code: ApiErrorCode;
  /** A sentence for the person, when the relay gave one. */
  readonly detail: string | null;
  /** With `stale-epoch`: the conversation's current epoch. */
  readonly epoch: number | undefined;

  constructor(input: {
    status: number;
    code: ApiErrorCode;
    detail: string | null;
    epoch?: number | undefined;
  }) {
    super(input.code);
    this.name = 'ApiError';
    this.status = input.status;
    this.code = input.code;
    this.detail = input.detail;
    this.epoch = input.epoch;
  }
}

/** No answer: `unreachable` when the connection failed, `timeout` when it took too long. What was sent may have arrived. */
export class NetworkError extends Error {
  readonly code: 'unreachable' | 'timeout';

  constructor(code: 'unreachable' | 'timeout', message: string = code, options?: ErrorOptions) {
    super(message, options);
    this.name = 'NetworkError';
    this.code = code;
  }
}

export function isApiError(error: unknown, ...codes: ApiErrorCode[]): error is ApiError {
  return error instanceof ApiError && (codes.length === 0 || codes.includes(error.code));
}
