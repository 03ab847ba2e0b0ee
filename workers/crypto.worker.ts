import { expose } from 'comlink';
import { browserEnv } from './entry/browserEnv.ts';
import { createCryptoApi } from './entry/createCryptoApi.ts';
import { createDispatch } from './entry/dispatch.ts';
import { freezeIntrinsics } from './entry/freezeIntrinsics.ts';
import { createPrompt } from './entry/prompt.ts';
import { createProofApi, isProof, sweepProofs } from './entry/proof.ts';
import { strictEndpoint } from './entry/strictEndpoint.ts';

declare const self: DedicatedWorkerGlobalScope;

freezeIntrinsics();
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- only a window's has one
const prompt = createPrompt((request) => self.postMessage(request));
const surroundings = {
  env: browserEnv,
  indexedDB,
  locks: navigator.locks,
  subtle: crypto.subtle,
  monotonic: () => performance.now(),
  storage: navigator.storage,
};
// The frame has named the thread, and nobody can name it anew.
const dispatch = createDispatch(
  isProof(self.name) ? createProofApi(surroundings, self.name) : createCryptoApi({ ...surroundings, prompt }),
);
if (isProof(self.name)) void sweepProofs(self.name, indexedDB, navigator.locks);
// Only the frame speaks to this thread: it answers what it was asked, and hands over the page's end of a channel.
self.addEventListener('message', ({ data, ports: [page] }) => {
  if (page === undefined) prompt.receive(data);
  else expose(dispatch, strictEndpoint(page));
});
