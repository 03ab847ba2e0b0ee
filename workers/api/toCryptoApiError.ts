import { CryptoError } from '@sinetti/crypto-core';
import { CryptoApiError } from './errors.ts';

/**
 * What a caught error is called on the other side of the worker's API. Only messages that are written to be shown cross it:
 * of an unexpected error just its name does, since its message could quote anything.
 */
export function toCryptoApiError(error: unknown): CryptoApiError {
  if (error instanceof CryptoApiError) return error;
  if (error instanceof CryptoError) {
    const prefix = `${error.code}: `;
    return new CryptoApiError(
      error.code,
      error.message.startsWith(prefix) ? error.message.slice(prefix.length) : '',
    );
  }
  // Everything that IndexedDB, Web Locks and WebCrypto refuse with.
  if (error instanceof DOMException) return new CryptoApiError('storage', error.name);
  return new CryptoApiError('internal', error instanceof Error ? error.name : typeof error);
}
