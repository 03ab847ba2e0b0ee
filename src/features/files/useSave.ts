import { useAtomValue, useSetAtom } from 'jotai';
import { fileName } from '../../i18n/fileName.ts';
import { t } from '../../i18n/i18n.ts';
import { openFile } from '../../lib/fileSink.ts';
import { requiredActionsAtom } from '../../store/actions.ts';
import { attemptAtom } from '../../store/attempt.ts';
import type { AttachedFile, FilePlace } from '../../store/files.ts';

/** Saves a file where the person says. Whatever it is, the browser is told that it is bytes, and opens nothing. */
export function useSave(place: FilePlace, file: AttachedFile): () => void {
  const actions = useAtomValue(requiredActionsAtom);
  const attempt = useSetAtom(attemptAtom);
  return () =>
    void attempt(
      async () => {
        const sink = await openFile({ name: fileName(file), type: 'application/octet-stream' });
        if (sink !== null) await (await actions.files()).save(place, sink);
      },
      { failure: t('files.saveFailed') },
    );
}
