import { t } from '../i18n/i18n.ts';
import { type ExportFiles, exportProgressAtom } from '../store/account.ts';
import type { Deps } from './deps.ts';
import { toAppError } from './failures.ts';

export interface DataExport {
  /**
   * Writes both files from beginning to end, however long the history is.
   * @returns false if it was cancelled; nothing of the files is left then, nor after a failure
   */
  run(files: ExportFiles): Promise<boolean>;
  cancel(): void;
}

export function createDataExport(deps: Deps): DataExport {
  const { store } = deps;
  let running: AbortController | null = null;

  return {
    async run(files) {
      running?.abort();
      const own = new AbortController();
      running = own;
      const both = [files.data, files.page];
      store.set(exportProgressAtom, () => ({ done: 0, total: 0 }));
      try {
        // Of no use to whoever doesn't export anything.
        const { writeExport } = await import('./export/writeExport.ts');
        const written = writeExport(deps, files, {
          signal: own.signal,
          onProgress: (progress) => {
            if (!own.signal.aborted) store.set(exportProgressAtom, () => progress);
          },
        });
        // Whoever cancels need not wait for a relay that doesn't answer.
        await Promise.race([written, aborted(own.signal)]);
        for (const file of both) await file.close();
        return true;
      } catch (error) {
        await Promise.allSettled(both.map((file) => file.abort()));
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
