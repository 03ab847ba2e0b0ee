import type { ErrorCode } from './contract.ts';

/** The relay's codes, and `invalid-response` for an answer that breaks the contract. */
export type ApiErrorCode = ErrorCode | 'invalid-response';

declare module '../lib/errorCode.ts' {
  interface FailureCodes {
    readonly net: ApiErrorCode | NetworkError['code'];
  }
}

/** The relay answered, and the answer is not a success. */
export class ApiError extends Error {
  /** HTTP status; over MQTT the one that goes with the code. */
  readonly status: number;
  /** The relay's code; for an answer of another server, the code that fits its status. */
  readonly code: ApiErrorCode;
  /** It has no code of the relay's: a proxy, or another server, has answered. */
  readonly isForeign: boolean;
  /** A sentence for the person, when the relay gave one. */
  readonly detail: string | null;
  /** With `stale-epoch`: the conversation's current epoch. */
  readonly epoch: number | undefined;
  /** With `device-conflict`: the data of the device was found in two places. */
  readonly copied: boolean;

  constructor(input: {
    status: number;
    code: ApiErrorCode;
    detail: string | null;
    epoch?: number | undefined;
    copied?: boolean | undefined;
    isForeign?: boolean;
  }) {
    super(input.code);
    this.name = 'ApiError';
    this.status = input.status;
    this.code = input.code;
    this.detail = input.detail;
    this.epoch = input.epoch;
    this.copied = input.copied ?? false;
    this.isForeign = input.isForeign ?? false;
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

/**
 * Returns whether the relay itself has answered with one of the codes: a proxy's 404 says nothing of what was asked
 * for.
 */
export function isApiError(error: unknown, ...codes: ApiErrorCode[]): error is ApiError {
  return error instanceof ApiError && !error.isForeign && codes.includes(error.code);
}

/** Returns whether the server doesn't know the path, which says nothing about what was asked. */
export function isUnknownPath(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 404 || error.status === 405);
}

/**
 * Returns whether the server has failed, which says nothing about what was asked. An answer that breaks the contract
 * counts.
 */
export function isServerFailure(error: unknown): error is ApiError {
  return error instanceof ApiError && (error.status >= 500 || error.code === 'invalid-response');
}
