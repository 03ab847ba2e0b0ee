import type { CryptoApi, CryptoWorker } from '../api/cryptoApi.ts';
import { toCryptoApiError } from '../api/toCryptoApiError.ts';
import { isCryptoApiMethod } from './createCryptoApi.ts';

/**
 * Creates the one call that the worker exposes. It never rejects, but answers failures as values, so that
 * their codes survive.
 */
export function createDispatch(api: CryptoApi): CryptoWorker {
  return {
    async call(method, args) {
      // Each method checks its own arguments.
      const target: ((...args: never[]) => Promise<unknown>) | null = isCryptoApiMethod(method)
        ? api[method]
        : null;
      if (target === null || !Array.isArray(args))
        return { ok: false, code: 'usage', detail: 'unknown method' };
      try {
        return { ok: true, value: await target(...(args as never[])) };
      } catch (error) {
        const { code, detail } = toCryptoApiError(error);
        return { ok: false, code, detail };
      }
    },
  };
}
