import { fileName } from '../../i18n/fileName.ts';
import { t } from '../../i18n/i18n.ts';
import type { AttachedFile } from '../../store/files.ts';

/** A picture or film in words, for those who don't see it: those of its sender, else its name. */
export function mediaWords(file: AttachedFile): string {
  const named = file.kind === 'film' ? 'files.filmNamed' : 'files.pictureNamed';
  return file.description || t(named, { name: fileName(file) });
}
