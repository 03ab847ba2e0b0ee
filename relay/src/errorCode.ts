/** The `code` of a thrown value, or null if it has none. Alone here: the thread of SQLite needs nothing else of errors. */
export function errorCode(error: unknown): string | null {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null;
}
