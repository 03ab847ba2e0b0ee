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
  readonly open: () => ProofApi;
  /** Ends all of them; a call that has no answer yet never gets one. */
  readonly close: () => void;
}

export function createProofRooms(frame: KeysFrame = keysFrame()): ProofRooms {
  const unreachable = frame.broken.then((part): never => {
    throw part === 'frame' ? new CryptoApiError('keys-unreachable') : new CryptoApiError('internal', part);
  });
  unreachable.catch(() => {});
  return {
    open() {
      const { port1, port2 } = new MessageChannel();
      const worker = wrap<CryptoWorker<ProofApi>>(port1);
      // Without this every call would wait for ever.
      const died = new Promise<never>((_resolve, reject) => {
        frame.prove(port2, () => reject(new CryptoApiError('internal', 'worker')));
      });
      died.catch(() => {});
      return clientOf<ProofApi>((method, args) =>
        Promise.race([worker.call(method, args), died, unreachable]),
      );
    },
    close: () => frame.endProof(),
  };
}
