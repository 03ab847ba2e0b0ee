import { t } from '../../i18n/i18n.ts';
import type { FileSink } from '../../lib/fileSink.ts';
import type { Blobs } from '../../net/blobs.ts';
import {
  downloadKey,
  downloadsAtom,
  type FileActions,
  type FileDownload,
  type FilePlace,
} from '../../store/files.ts';
import type { SessionDeps } from '../core/deps.ts';
import { toAppError } from '../core/failures.ts';
import { createPatientBlobs } from './patientBlobs.ts';
import { openInOrder, wholeFile } from './reading.ts';

/** Pieces from which on a download is told of: a smaller one is over before anybody could stop it. */
const toldFrom = 10;

/** Writes files of messages to where the person says; large ones can be paused, and wait for a relay that is away for a moment. */
export function createDownloads({
  blobs,
  deps: { clock, crypto, random, store },
}: {
  readonly deps: Pick<SessionDeps, 'clock' | 'crypto' | 'random' | 'store'>;
  readonly blobs: Pick<Blobs, 'read'>;
}): Pick<FileActions, 'save'> {
  async function write(place: FilePlace, sink: FileSink, stop: AbortController): Promise<void> {
    const key = downloadKey(place);
    const patient = createPatientBlobs({ clock, random }, blobs, stop.signal);
    let resumed = Promise.resolve();
    let letGoOn = () => {};
    let written = 0;
    let isTold = false;
    const change = (changed: Partial<FileDownload>) => {
      if (!isTold) return;
      store.set(downloadsAtom, (all) => {
        const before = all[key];
        return before === undefined ? all : { ...all, [key]: { ...before, ...changed } };
      });
    };
    const started: FileDownload = {
      progress: 0,
      isPaused: false,
      pause() {
        resumed = new Promise((resolve) => {
          letGoOn = resolve;
        });
        change({ isPaused: true });
      },
      resume() {
        letGoOn();
        change({ isPaused: false });
      },
      cancel() {
        stop.abort();
        letGoOn();
      },
    };

    // With the session everything in the store ends.
    const unsubscribe = store.sub(downloadsAtom, () => {
      if (isTold && store.get(downloadsAtom)[key] === undefined) started.cancel();
    });

    /** Asks a relay that gave nothing yet once only: who has just pressed the button is told at once. */
    const read: Blobs['read'] = (...range) => (written === 0 ? blobs.read(...range) : patient.read(...range));

    try {
      const file = await openInOrder({ blobs: { read }, crypto }, place);
      if (file.pieces >= toldFrom && store.get(downloadsAtom)[key] === undefined) {
        store.set(downloadsAtom, (all) => ({ ...all, [key]: started }));
        isTold = true;
      }
      for await (const piece of wholeFile(file)) {
        await resumed;
        stop.signal.throwIfAborted();
        await sink.write(piece);
        written += 1;
        change({ progress: written / file.pieces });
      }
    } finally {
      unsubscribe();
      if (isTold) store.set(downloadsAtom, ({ [key]: _over, ...others }) => others);
    }
  }

  return {
    async save(place, sink) {
      const stop = new AbortController();
      try {
        await write(place, sink, stop);
        await sink.close();
      } catch (error) {
        await sink.abort();
        if (stop.signal.aborted) return;
        throw toAppError(error, t('files.saveFailed'));
      }
    },
  };
}
