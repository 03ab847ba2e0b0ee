import { t } from '../../i18n/i18n.ts';
import type { FileSink } from '../../lib/fileSink.ts';
import { type ExportFormat, exportProgressAtom } from '../../store/account.ts';
import type { Deps } from '../core/deps.ts';
import { toAppError } from '../core/failures.ts';

export interface DataExport {
  /**
   * Writes the file from beginning to end, however long the history is.
   * @returns false if it was cancelled; nothing of the file is left then, nor after a failure
   */
  run(format: ExportFormat, file: FileSink): Promise<boolean>;
  cancel(): void;
}

export function createDataExport(deps: Deps): DataExport {
  const { store } = deps;
  let running: AbortController | null = null;

  return {
    async run(format, file) {
      running?.abort();
      const own = new AbortController();
      running = own;
      store.set(exportProgressAtom, () => ({ format, done: 0, total: 0 }));
      try {
        // Loaded here, because most sessions export nothing.
        const { writeExport } = await import('./writeExport.ts');
        const written = writeExport(deps, format, file, {
          signal: own.signal,
          onProgress: (done, total) => {
            if (!own.signal.aborted) store.set(exportProgressAtom, () => ({ format, done, total }));
          },
        });
        // A person who cancels need not wait for a relay that doesn't answer.
        await Promise.race([written, aborted(own.signal)]);
        await file.close();
        return true;
      } catch (error) {
        await file.abort().catch(() => undefined);
        if (own.signal.aborted) return false;
        throw toAppError(error, t('errors.exportFailed'));
      } finally {
        if (running === own) {
          running = null;
          store.set(exportProgressAtom, () => null);
        }
      }
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
