import { CryptoError } from '@sinetti/crypto-core';
import { CryptoApiError } from './errors.ts';

/**
 * Returns a caught error as the worker's API reports it. Only messages that are written to be shown cross the
 * API: of an unexpected error just its name does, since its message could quote anything.
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
  // IndexedDB, Web Locks and WebCrypto refuse with nothing else.
  if (error instanceof DOMException) return new CryptoApiError('storage', error.name);
  return new CryptoApiError('internal', error instanceof Error ? error.name : typeof error);
}
