/** Instances of the worker's own script that have no keys, for the page /prove. */
import { wrap } from 'comlink';
import type { CryptoWorker } from '../../workers/api/cryptoApi.ts';
import { CryptoApiError } from '../../workers/api/errors.ts';
import type { ProofApi } from '../../workers/api/proofApi.ts';
import { clientOf } from './client.ts';
import { type KeysFrame, keysFrame } from './keysFrame.ts';

export type { ProofApi } from '../../workers/api/proofApi.ts';

export interface ProofRooms {
  /** Starts an instance. Its methods reject with a CryptoApiError, `keys-unreachable` where the frame can't be reached. */
  open(): ProofApi;
  /** Ends all of them; a call that has no answer yet never gets one. */
  close(): void;
}

export function createProofRooms(frame: KeysFrame = keysFrame()): ProofRooms {
  let onBroken = () => {};
  // Without this every call would wait for ever.
  const failed = Promise.race([
    frame.broken.then((part): never => {
      throw part === 'frame' ? new CryptoApiError('keys-unreachable') : new CryptoApiError('internal', part);
    }),
    new Promise<never>((_resolve, reject) => {
      onBroken = () => reject(new CryptoApiError('internal', 'worker'));
    }),
  ]);
  failed.catch(() => {});
  return {
    open() {
      const { port1, port2 } = new MessageChannel();
      const worker = wrap<CryptoWorker<ProofApi>>(port1);
      frame.prove(port2, onBroken);
      return clientOf<ProofApi>((method, args) => Promise.race([worker.call(method, args), failed]));
    },
    close: () => frame.endProof(),
  };
}
