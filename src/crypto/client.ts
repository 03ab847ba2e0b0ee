/** The page's side of the worker that holds the keys: the only place that calls it. */
import { transfer, wrap } from 'comlink';
import type { CryptoApi, CryptoWorker } from '../../workers/api/cryptoApi.ts';
import { CryptoApiError, type CryptoApiErrorCode, fromWire } from '../../workers/api/errors.ts';
import { type KeysFrame, keysFrame } from './keysFrame.ts';

export type {
  AttachedFile,
  ClaimedKeyPackage,
  CommitSubmission,
  ContactTrust,
  ConversationChange,
  ConversationEvent,
  ConversationState,
  CryptoApi,
  DeviceIdentity,
  FileFacts,
  FileKind,
  FilePreview,
  FilesPage,
  GivenReceipt,
  GroupState,
  LogEntryInput,
  LogEvidence,
  MessageChange,
  MessageContent,
  MessageEvidence,
  MessageVersion,
  MessageView,
  MovedOn,
  OlderState,
  OpenedDevice,
  Operation,
  OperationKind,
  OwnState,
  PasswordParams,
  PreparedMessage,
  ProcessResult,
  ProofRequest,
  PublicField,
  QueuedMessage,
  Quote,
  Reaction,
  ReadyMessage,
  RetentionRules,
  RotatedVault,
  SafetyNumbers,
  SealedState,
  SealedVault,
  SeenEntry,
  SentEvidence,
  StoredVault,
  ToldState,
  UndecryptableReason,
  UnsentChange,
  UploadedFile,
  ViewComparison,
  WireBytes,
  Words,
} from '../../workers/api/cryptoApi.ts';
export { CryptoApiError, type CryptoApiErrorCode } from '../../workers/api/errors.ts';

declare module '../lib/errorCode.ts' {
  interface FailureCodes {
    readonly crypto: CryptoApiErrorCode;
  }
}

/** A channel to the worker, for as long as that worker lives. */
interface Line {
  readonly call: CryptoWorker['call'];
  /** Ends every call that has no answer yet. */
  end(): void;
}

/** Connects to the worker in its frame. Every method of the client rejects with a CryptoApiError. */
export function createCryptoClient(frame: KeysFrame = keysFrame()): CryptoApi {
  // Without this every call would wait for ever.
  const failed = frame.broken.then((part): never => {
    throw part === 'frame' ? new CryptoApiError('keys-unreachable') : new CryptoApiError('internal', part);
  });

  function openLine(): Line {
    const { port1, port2 } = new MessageChannel();
    const worker = wrap<CryptoWorker>(port1);
    /**
     * Rejects the calls that have no answer yet. A race of each call with a promise that lasts as long as the page would hold every answer
     * in memory for as long: all pieces of all files.
     */
    const waiting = new Set<(error: unknown) => void>();
    let over: { readonly error: unknown } | null = null;
    const endWith = (error: unknown) => {
      over ??= { error };
      for (const reject of waiting) reject(error);
      waiting.clear();
    };
    failed.catch(endWith);
    frame.start(port2);
    return {
      call: (method, args) =>
        new Promise((resolve, reject) => {
          if (over !== null) return reject(over.error);
          waiting.add(reject);
          // A piece of a file is in memory once: whoever gives it to the worker has it no more.
          const pieces = args.filter((arg) => arg instanceof ArrayBuffer);
          worker
            .call(method, transfer(args, pieces))
            .then(resolve, reject)
            .finally(() => waiting.delete(reject));
        }),
      end() {
        port1.close();
        endWith(new CryptoApiError('locked'));
      },
    };
  }

  let line: Line | null = openLine();
  frame.onLocked(() => {
    line?.end();
    // Another worker is started with the next call: whoever has logged out may never make one.
    line = null;
  });

  return clientOf<CryptoApi>(async (method, args) => {
    // The frame's own thread does it, however long the worker is busy.
    if (method === 'lock') return Promise.race([lock(frame), failed]);
    line ??= openLine();
    return line.call(method, args);
  });
}

async function lock(frame: KeysFrame): ReturnType<CryptoWorker['call']> {
  try {
    await frame.lock();
    return { ok: true, value: undefined };
  } catch (error) {
    return { ok: false, code: 'storage', detail: error instanceof Error ? error.message : '' };
  }
}

/** Makes a CryptoApi of the worker's dispatch, whose failures it throws with their codes. */
export function clientOf<Api extends CryptoApi>(call: CryptoWorker<Api>['call']): Api {
  return new Proxy({} as Api, {
    get(_target, method) {
      // A client that looks like a promise would be called when it is awaited.
      if (typeof method !== 'string' || method === 'then') return undefined;
      return async (...args: unknown[]) => {
        const result = await call(method as keyof Api, args);
        if (!result.ok) throw fromWire(result.code, result.detail);
        return result.value;
      };
    },
  });
}
