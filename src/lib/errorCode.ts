/** The codes of failures: the page's own, and those that `net` and `crypto` add where they have them. */
export interface FailureCodes {
  readonly page:
    | 'cancelled'
    | 'consent-missing'
    | 'damaged-file'
    | 'internal'
    | 'invalid-email'
    | 'invalid-username'
    | 'members-in-doubt'
    | 'network'
    | 'no-device'
    | 'request-failed'
    | 'session-ended'
    | 'storage-erased';
}

export type FailureCode = FailureCodes[keyof FailureCodes];

/** The stable code of a failure, whichever room it comes from; `internal` for what carries none. */
export function errorCode(error: unknown): FailureCode {
  // Every error that has its code as text is of one of these rooms: a browser's own codes are numbers.
  if (error instanceof Error && 'code' in error && typeof error.code === 'string')
    return error.code as FailureCode;
  return 'internal';
}
