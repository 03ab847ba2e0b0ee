import { createProofRooms, type ProofApi, type ProofRooms } from '../../crypto/proofRoom.ts';
import type { Proof } from '../../store/proof.ts';
import { checkFiles, filesOfPage } from './files.ts';
import { World } from './play.ts';
// oxlint-disable-next-line import/default -- the default export is Vite's: the address of the file
import vectorsUrl from './vectors.json?url';
import { runVectors, type SelectedVectors } from './vectors.ts';

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
