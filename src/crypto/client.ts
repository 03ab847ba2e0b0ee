/** The page's side of the room that holds the keys: the only place that starts the worker or talks to it. */
import { wrap } from 'comlink';
// oxlint-disable-next-line import/default -- the default export is Vite's: the address of the built worker
import workerUrl from '../../workers/crypto.worker.ts?worker&url';
import type { CryptoApi, CryptoWorker } from '../../workers/api.ts';
import { CryptoApiError, fromWire } from '../../workers/errors.ts';

export type {
  ClaimedKeyPackage,
  CommitSubmission,
  ConversationState,
  CryptoApi,
  DeviceIdentity,
  GroupFacts,
  LogEntryInput,
  MessageContent,
  MessageView,
  PasswordParams,
  PreparedMessage,
  ProcessResult,
  SealedVault,
  UndecryptableReason,
  WireBytes,
} from '../../workers/api.ts';
export { CryptoApiError, type CryptoApiErrorCode } from '../../workers/errors.ts';

/** Starts the worker. Every method of the client rejects with a CryptoApiError. */
export function createCryptoClient(): CryptoApi {
  // The type of `new Worker` knows strings only; under Trusted Types the string has to have come from the policy.
  const url = trustedWorkerUrl() as unknown as string;
  const worker = new Worker(url, { type: 'module', name: 'sinetti-crypto' });
  const broken = new Promise<never>((_resolve, reject) => {
    // It can't be loaded or has died: without this every call would wait for ever.
    worker.addEventListener('error', () => reject(new CryptoApiError('internal', 'worker')));
  });
  broken.catch(() => {});
  const door = wrap<CryptoWorker>(worker);
  return clientOf((method, args) => Promise.race([door.call(method, args), broken]));
}

/** A CryptoApi whose methods go through the one call of the door, failures with their codes. */
function clientOf(call: CryptoWorker['call']): CryptoApi {
  return new Proxy({} as CryptoApi, {
    get(_target, method) {
      // A client that looks like a promise would be called when it is awaited.
      if (typeof method !== 'string' || method === 'then') return undefined;
      return async (...args: unknown[]) => {
        const result = await call(method as keyof CryptoApi, args);
        if (!result.ok) throw fromWire(result.code, result.detail);
        return result.value;
      };
    },
  });
}

interface TrustedTypesFactory {
  createPolicy(
    name: string,
    rules: { createScriptURL(url: string): string },
  ): { createScriptURL(url: string): object };
}

/** The worker's address, by a policy that allows nothing else; plain where the browser has no Trusted Types. */
function trustedWorkerUrl(): string | object {
  const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypesFactory };
  if (trustedTypes === undefined) return workerUrl;
  const policy = trustedTypes.createPolicy('sinetti-worker', {
    createScriptURL(url) {
      if (url !== workerUrl) throw new TypeError('not the worker');
      return url;
    },
  });
  return policy.createScriptURL(workerUrl);
}
