import { proofThread } from '../api/proofApi.ts';

/** One person's page needs four at a time. Each has memory of its own, and a script in the page may ask without end. */
const mostAtOnce = 8;

export interface Proofs {
  /** Starts an instance, which is called through a port. */
  readonly start: (port: MessagePort) => void;
  readonly end: () => void;
}

/**
 * Instances of the worker's script that have no keys: the page lets them prove things, and ends them.
 * @param startWorker starts a thread of this name
 * @param onBroken called where one can't be started, or has died
 */
export function createProofs(startWorker: (name: string) => Worker, onBroken: () => void): Proofs {
  const running = new Set<Worker>();
  function end(proof: Worker): void {
    proof.terminate();
    running.delete(proof);
  }
  return {
    start(port) {
      if (running.size >= mostAtOnce) return onBroken();
      const proof = startWorker(proofThread + crypto.randomUUID());
      proof.addEventListener('error', () => {
        end(proof);
        onBroken();
      });
      proof.postMessage(null, [port]);
      running.add(proof);
      return undefined;
    },
    end: () => running.forEach(end),
  };
}
