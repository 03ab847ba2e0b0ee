import { expose } from 'comlink';
import { createCryptoApi } from './createCryptoApi.ts';
import { createDoor } from './door.ts';
import { browserEnv } from './env.ts';

expose(
  createDoor(createCryptoApi({ env: browserEnv, indexedDB, locks: navigator.locks, subtle: crypto.subtle })),
);
