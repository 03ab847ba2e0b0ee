import { expose } from 'comlink';
import { browserEnv } from './entry/browserEnv.ts';
import { createCryptoApi } from './entry/createCryptoApi.ts';
import { createDispatch } from './entry/dispatch.ts';
import { freezeIntrinsics } from './entry/freezeIntrinsics.ts';
import { createPrompt } from './entry/prompt.ts';
import { strictEndpoint } from './entry/strictEndpoint.ts';

declare const self: DedicatedWorkerGlobalScope;

freezeIntrinsics();
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- only a window's has one
const prompt = createPrompt((request) => self.postMessage(request));
const dispatch = createDispatch(
  createCryptoApi({
    env: browserEnv,
    indexedDB,
    locks: navigator.locks,
    subtle: crypto.subtle,
    monotonic: () => performance.now(),
    storage: navigator.storage,
    prompt,
  }),
);
// Only the frame speaks to this thread: it answers what it was asked, and hands over the page's end of a channel.
self.addEventListener('message', ({ data, ports: [page] }) => {
  if (page === undefined) prompt.receive(data);
  else expose(dispatch, strictEndpoint(page));
});
