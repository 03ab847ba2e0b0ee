import { CryptoError } from '../src/errors.ts';

/** Returns the code of the CryptoError that a call throws, or 'none'. Rethrows any other error. */
export function codeOf(call: () => unknown): string {
  try {
    call();
  } catch (error) {
    if (error instanceof CryptoError) return error.code;
    throw error;
  }
  return 'none';
}

/** Returns the message of the CryptoError that a call throws, code and check ID first, or 'none'. */
export function refusalOf(call: () => unknown): string {
  try {
    call();
  } catch (error) {
    if (error instanceof CryptoError) return error.message;
    throw error;
  }
  return 'none';
}
