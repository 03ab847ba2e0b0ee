/** The page's side of the room that holds the keys: the only place that talks to the worker. */
import { wrap } from 'comlink';
import type { CryptoApi, CryptoWorker } from '../../workers/api/cryptoApi.ts';
import { CryptoApiError, type CryptoApiErrorCode, fromWire } from '../../workers/api/errors.ts';
import { cryptoWorker } from './worker.ts';

export type {
  ClaimedKeyPackage,
  CommitSubmission,
  ContactTrust,
  ConversationChange,
  ConversationEvent,
  ConversationState,
  CryptoApi,
  DeviceIdentity,
  GroupState,
  LogEntryInput,
  MessageContent,
  MessageView,
  PasswordParams,
  PreparedMessage,
  ProcessResult,
  ProofRequest,
  QueuedMessage,
  ReadyMessage,
  SafetyNumbers,
  SealedVault,
  UndecryptableReason,
  WireBytes,
} from '../../workers/api/cryptoApi.ts';
export { CryptoApiError, type CryptoApiErrorCode } from '../../workers/api/errors.ts';

declare module '../lib/errorCode.ts' {
  interface FailureCodes {
    readonly crypto: CryptoApiErrorCode;
  }
}

/** Starts the worker, if nothing has yet. Every method of the client rejects with a CryptoApiError. */
export function createCryptoClient(): CryptoApi {
  const { worker, broken } = cryptoWorker();
  // Without this every call would wait for ever.
  const failed = broken.then((): never => {
    throw new CryptoApiError('internal', 'worker');
  });
  failed.catch(() => {});
  const dispatch = wrap<CryptoWorker>(worker);
  return clientOf((method, args) => Promise.race([dispatch.call(method, args), failed]));
}

/** Makes a CryptoApi of the worker's dispatch, whose failures it throws with their codes. */
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
