import { expose } from 'comlink';
import { browserEnv } from './entry/browserEnv.ts';
import { createCryptoApi } from './entry/createCryptoApi.ts';
import { createDispatch } from './entry/dispatch.ts';

expose(
  createDispatch(
    createCryptoApi({ env: browserEnv, indexedDB, locks: navigator.locks, subtle: crypto.subtle }),
  ),
);
