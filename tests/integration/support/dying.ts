import type { CryptoApi } from '#src/crypto/client.ts';

/** A tab's worker that finishes a call whose answer reaches nobody any more. */
export function dyingAfter(method: keyof CryptoApi): {
  readonly died: Promise<void>;
  readonly wrapCrypto: (api: CryptoApi) => CryptoApi;
} {
  let tell: () => void = () => undefined;
  const died = new Promise<void>((resolve) => {
    tell = resolve;
  });
  const wrapCrypto = (api: CryptoApi): CryptoApi =>
    new Proxy(api, {
      get(target, name: keyof CryptoApi) {
        if (name !== method) return target[name];
        return async (...args: never[]) => {
          await (target[method] as (...given: never[]) => Promise<unknown>)(...args);
          tell();
          return new Promise(() => undefined);
        };
      },
    });
  return { died, wrapCrypto };
}
