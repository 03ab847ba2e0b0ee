import type { CryptoApi, CryptoWorker } from '../api/cryptoApi.ts';
import { CryptoApiError } from '../api/errors.ts';

/**
 * Creates the one call that the worker exposes. It answers failures as values instead of rejecting, so that their
 * codes survive.
 * @param api as `createCryptoApi` makes it: its own properties are its methods
 */
export function createDispatch<Api extends CryptoApi>(api: Api): CryptoWorker<Api> {
  return {
    async call(method, args) {
      // Each method checks its own arguments. Inherited properties are no methods.
      if (!Object.hasOwn(api, method) || !Array.isArray(args)) {
        return { ok: false, code: 'usage', detail: 'unknown method' };
      }
      const target = api[method] as (...args: never[]) => Promise<unknown>;
      try {
        return { ok: true, value: await target(...(args as never[])) };
      } catch (error) {
        // The api rejects with nothing else.
        if (!(error instanceof CryptoApiError)) throw error;
        return { ok: false, code: error.code, detail: error.detail };
      }
    },
  };
}
