/** The stable code of a failure, whichever layer it comes from; `internal` for what carries none. */
export function errorCode(error: unknown): string {
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') return error.code;
  return 'internal';
}
