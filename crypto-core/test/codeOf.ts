import { CryptoError } from '../src/errors.ts';

/** The code of the CryptoError that a call throws; 'none' when it throws nothing. Anything else thrown is rethrown. */
export function codeOf(call: () => unknown): string {
  try {
    call();
  } catch (error) {
    if (error instanceof CryptoError) return error.code;
    throw error;
  }
  return 'none';
}

/** The whole message of the CryptoError that a call throws, code and check ID first; 'none' when it throws nothing. */
export function refusalOf(call: () => unknown): string {
  try {
    call();
  } catch (error) {
    if (error instanceof CryptoError) return error.message;
    throw error;
  }
  return 'none';
}
