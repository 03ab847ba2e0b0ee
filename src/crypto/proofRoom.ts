/** Instances of the worker's own script that have no keys, for the page /prove. */
import { wrap } from 'comlink';
import type { CryptoWorker } from '../../workers/api/cryptoApi.ts';
import { CryptoApiError } from '../../workers/api/errors.ts';
import { type FrameRequest, isOfType } from '../../workers/api/frameMessages.ts';
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
  const { control } = frame;
  const ask = (request: FrameRequest, ...ports: MessagePort[]) => control.postMessage(request, ports);
  return {
    open() {
      const { port1, port2 } = new MessageChannel();
      const worker = wrap<CryptoWorker<ProofApi>>(port1);
      // Without this every call would wait for ever.
      const died = new Promise<never>((_resolve, reject) => {
        control.addEventListener('message', ({ data }) => {
          if (isOfType(data, 'proof-broken')) reject(new CryptoApiError('internal', 'worker'));
        });
      });
      died.catch(() => {});
      ask({ type: 'prove' }, port2);
      return clientOf<ProofApi>((method, args) =>
        Promise.race([worker.call(method, args), died, unreachable]),
      );
    },
    close: () => ask({ type: 'end-proof' }),
  };
}
