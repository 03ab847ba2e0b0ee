import { t } from '../../i18n/i18n.ts';
import type { FileSink } from '../../lib/fileSink.ts';
import {
  type ExportedFiles,
  type ExportFormat,
  exportProgressAtom,
  type FilesMeasure,
} from '../../store/account.ts';
import type { Deps } from '../core/deps.ts';
import { toAppError } from '../core/failures.ts';
import type { ReadFile } from './files.ts';

export interface DataExport {
  /**
   * Writes the file from beginning to end, however long the history is.
   * @param withFiles true for an archive that has the files of the messages too
   * @returns null if it was cancelled; nothing of the file is left then, nor after a failure
   */
  run(format: ExportFormat, file: FileSink, withFiles: boolean): Promise<ExportedFiles | null>;
  /** Says how much the files of all messages are. @throws the signal's reason when it is aborted */
  measureFiles(signal: AbortSignal): Promise<FilesMeasure>;
  cancel(): void;
}

/** @param openFiles loads what reads files: once the relay gives nothing any more, its readers wait for it a while */
export function createDataExport(
  deps: Deps,
  openFiles: (signal: AbortSignal) => Promise<ReadFile>,
): DataExport {
  const { store } = deps;
  let running: AbortController | null = null;

  return {
    async run(format, file, withFiles) {
      running?.abort();
      const own = new AbortController();
      running = own;
      store.set(exportProgressAtom, () => ({ format, unit: 'messages', done: 0, total: 0 }));
      try {
        // Loaded here, because most sessions export nothing.
        const { writeExport } = await import('./writeExport.ts');
        const written = writeExport(deps, file, {
          format,
          read: withFiles ? await openFiles(own.signal) : null,
          signal: own.signal,
          onProgress: (progress) => {
            if (!own.signal.aborted) store.set(exportProgressAtom, () => ({ format, ...progress }));
          },
        });
        // A person who cancels need not wait for a relay that doesn't answer.
        const files = await Promise.race([written, aborted(own.signal)]);
        await file.close();
        return files;
      } catch (error) {
        await file.abort().catch(() => undefined);
        if (own.signal.aborted) return null;
        throw toAppError(error, t('errors.exportFailed'));
      } finally {
        if (running === own) {
          running = null;
          store.set(exportProgressAtom, () => null);
        }
      }
    },

    async measureFiles(signal) {
      const { measureFiles } = await import('./files.ts');
      return measureFiles(deps.crypto, signal);
    },

    cancel() {
      running?.abort();
      running = null;
      store.set(exportProgressAtom, () => null);
    },
  };
}

/** Rejects once the signal is aborted. */
function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    else signal.addEventListener('abort', () => reject(signal.reason));
  });
}
