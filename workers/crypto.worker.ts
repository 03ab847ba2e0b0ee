import { expose } from 'comlink';
import { browserEnv } from './entry/browserEnv.ts';
import { createCryptoApi } from './entry/createCryptoApi.ts';
import { createDispatch } from './entry/dispatch.ts';
import { freezeIntrinsics } from './entry/freezeIntrinsics.ts';
import { strictEndpoint } from './entry/strictEndpoint.ts';

declare const self: DedicatedWorkerGlobalScope;

freezeIntrinsics();
const dispatch = createDispatch(
  createCryptoApi({ env: browserEnv, indexedDB, locks: navigator.locks, subtle: crypto.subtle }),
);
// The frame hands over the page's end of a channel; nothing else ever speaks to this thread.
self.addEventListener('message', ({ ports: [page] }) => {
  if (page !== undefined) expose(dispatch, strictEndpoint(page));
});
