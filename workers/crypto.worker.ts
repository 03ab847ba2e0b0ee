import { expose } from 'comlink';
import { browserEnv } from './entry/browserEnv.ts';
import { createCryptoApi } from './entry/createCryptoApi.ts';
import { createDoor } from './entry/dispatch.ts';

expose(
  createDoor(createCryptoApi({ env: browserEnv, indexedDB, locks: navigator.locks, subtle: crypto.subtle })),
);
