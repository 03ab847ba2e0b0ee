import { createProofRooms, type ProofApi, type ProofRooms } from '../../crypto/proofRoom.ts';
import { askWorker } from '../../lib/askWorker.ts';
import { inUseMessage } from '../../serviceWorker/releaseMessages.ts';
import type { Proof } from '../../store/proof.ts';
import { checkFiles, type FilesDeps } from './files.ts';
import { World } from './play.ts';
// oxlint-disable-next-line import/default -- the default export is Vite's: the address of the file
import vectorsUrl from './vectors.json?url';
import { runVectors, type SelectedVectors } from './vectors.ts';

/** The browser, with its notes of this page's loading. */
function filesOfPage(): FilesDeps {
  // A browser may have no service workers, as on a page without TLS.
  const controller = (navigator.serviceWorker as ServiceWorkerContainer | undefined)?.controller ?? null;
  return {
    fetch: (input, init) => fetch(input, init),
    origin: window.location.origin,
    loaded: () => performance.getEntriesByType('resource').map(({ name }) => name),
    worker: controller && (() => askWorker<string | null>(controller, inUseMessage)),
  };
}

/** Makes what the page /prove can do. Nothing is started before it is asked for. */
export function createProof(): Proof {
  let rooms: ProofRooms | null = null;
  function open(): ProofApi {
    rooms ??= createProofRooms();
    return rooms.open();
  }
  // It is a file of this build, and a case that is none is refused by the worker.
  const read = async () => (await fetch(vectorsUrl)).json() as Promise<readonly SelectedVectors[]>;
  let room: ProofApi | null = null;
  return {
    async runVectors(onProgress) {
      room ??= open();
      try {
        return await runVectors({ room, read, now: () => performance.now() }, onProgress);
      } catch (error) {
        // The next run has an instance of its own.
        room = null;
        throw error;
      }
    },
    checkFiles: () => checkFiles(filesOfPage()),
    startPlay: (texts) => World.create(open, texts),
    close() {
      room = null;
      rooms?.close();
    },
  };
}
