import type { MessageView } from '../../crypto/client.ts';
import { t } from '../../i18n/i18n.ts';
import { type BlobsOptions, createBlobs } from '../../net/blobs.ts';
import type { FileActions, FilePlace } from '../../store/files.ts';
import { toAppError } from '../core/failures.ts';
import { oncePerSession } from '../core/oncePerSession.ts';
import { createDownloads } from './downloads.ts';
import { createGallery } from './gallery.ts';
import { createPatientBlobs } from './patientBlobs.ts';
import { createPieceStore } from './pieceStore.ts';
import { openInOrder, wholeFile } from './reading.ts';
import { createStreams, requirePlayable } from './streams.ts';
import { createUnneededBlobs } from './unneededBlobs.ts';
import { createUploads, type UploadsOptions } from './uploads.ts';

export interface FilesOptions extends Omit<UploadsOptions, 'blobs' | 'pieces'> {
  readonly relay: Omit<BlobsOptions, 'clock'>;
  readonly indexedDB: IDBFactory;
  /** Undefined where the browser has no service workers. */
  readonly serviceWorker?: ServiceWorkerContainer | undefined;
}

export interface Files {
  readonly actions: FileActions;
  /** An own message with files is about to be deleted for everybody, by the message of this id. */
  onDeleting(deletionId: string, message: MessageView): Promise<void>;
  /** Goes on with what was on its way as the page was left. */
  resume(): Promise<void>;
  /** Reads one file after the other for an export, and waits a while where the relay gives nothing. */
  reader(signal: AbortSignal): (place: FilePlace) => AsyncGenerator<ArrayBuffer>;
}

/** Returns the files of a session. */
export const filesOf = oncePerSession(createFiles);

function createFiles(options: FilesOptions): Files {
  const { clock, crypto, newId } = options.deps;
  const blobs = createBlobs({ ...options.relay, clock });
  const pieces = createPieceStore(options.indexedDB, options.ownUserId);
  const uploads = createUploads({ ...options, blobs, pieces });
  const unneeded = createUnneededBlobs({ ...options, blobs });
  const reading = { blobs, crypto };
  const { isActive, serviceWorker: container } = options;
  return {
    onDeleting: (deletionId, message) => unneeded.note(deletionId, message),
    reader(signal) {
      const patient = { blobs: createPatientBlobs(options.deps, blobs, signal), crypto };
      return async function* read(place) {
        yield* wholeFile(await openInOrder(patient, place));
      };
    },
    async resume() {
      await uploads.resume();
      await unneeded.remove();
    },
    actions: {
      send: uploads.send,
      forward: uploads.forward,
      retryUpload: uploads.retryUpload,
      discardUpload: uploads.discardUpload,
      pauseUpload: uploads.pauseUpload,
      resumeUpload: uploads.resumeUpload,

      async largestFile() {
        try {
          return (await blobs.storage()).maxBlobBytes;
        } catch (error) {
          throw toAppError(error, t('files.uploadFailed'));
        }
      },

      async read(place, { type }) {
        const parts: Blob[] = [];
        // A blob each: the browser keeps them elsewhere than in this page's memory.
        for await (const piece of wholeFile(await openInOrder(reading, place))) {
          if (parts.length === 0) requirePlayable(piece, type);
          parts.push(new Blob([piece]));
        }
        return new Blob(parts, { type });
      },

      stream: createStreams({ reading, container, newId, isActive }),

      save: createDownloads({ deps: options.deps, blobs }).save,

      loadGallery: createGallery(options),
    },
  };
}
