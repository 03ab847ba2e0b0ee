import { byteText } from '../../i18n/byteText.ts';
import { t } from '../../i18n/i18n.ts';
import { AppError } from '../../lib/appError.ts';
import { visibleName } from '../../lib/people.ts';
import type { AppActions } from '../../store/actions.ts';
import type { ChosenFile } from '../../store/chosenFiles.ts';
import { prepare } from './prepare.ts';

/** Files of a message. */
const mostFiles = 20;

interface Choice {
  readonly set: (change: (files: readonly ChosenFile[]) => readonly ChosenFile[]) => void;
  /** With those that had been chosen before. */
  readonly count: number;
  readonly actions: Pick<AppActions, 'files'>;
}

/** Adds files to what is chosen, and makes them ready one after the other. */
export async function chooseFiles(files: readonly File[], { actions, count, set }: Choice): Promise<void> {
  if (count > mostFiles) throw new AppError('usage', t('files.tooMany', { count: mostFiles }));
  const entries = files.map((source) => ({ source, id: crypto.randomUUID() }));
  set((before) => [
    ...before,
    ...entries.map(
      ({ id, source }): ChosenFile => ({
        id,
        name: visibleName(source.name),
        file: null,
        problem: null,
        description: '',
      }),
    ),
  ]);
  const change = (id: string, changed: Partial<ChosenFile>) =>
    set((before) => before.map((one) => (one.id === id ? { ...one, ...changed } : one)));
  // Offline nobody can ask: the relay says it then, as the file gets there.
  const most = await (await actions.files()).largestFile().catch(() => Number.POSITIVE_INFINITY);
  for (const { id, source } of entries) {
    try {
      const file = await prepare(source, count);
      if (file.source.size > most)
        throw new AppError('payload-too-large', t('files.tooLarge', { size: byteText(most) }));
      change(id, { file });
    } catch (error) {
      change(id, { problem: error instanceof AppError ? error.message : t('files.unreadable') });
    }
  }
}
