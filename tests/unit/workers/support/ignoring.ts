import { CryptoApiError } from '#workers/api/errors.ts';

/** Answers undefined for failures that a page expects where a person's tabs act at once. */
export function ignoring(...codes: readonly string[]): (error: unknown) => undefined {
  return (error) => {
    if (!(error instanceof CryptoApiError && codes.includes(error.code))) throw error;
    return undefined;
  };
}
