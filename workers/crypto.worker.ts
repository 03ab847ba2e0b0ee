import { expose } from 'comlink';
import { browserEnv } from './entry/browserEnv.ts';
import { createCryptoApi } from './entry/createCryptoApi.ts';
import { createDispatch } from './entry/dispatch.ts';
import { freezeIntrinsics } from './entry/freezeIntrinsics.ts';
import { strictEndpoint } from './entry/strictEndpoint.ts';

freezeIntrinsics();
const api = createCryptoApi({ env: browserEnv, indexedDB, locks: navigator.locks, subtle: crypto.subtle });
expose(createDispatch(api), strictEndpoint(self));
