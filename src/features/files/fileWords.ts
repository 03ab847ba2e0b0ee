import { fileName } from '../../i18n/fileName.ts';
import { t } from '../../i18n/i18n.ts';
import type { AttachedFile } from '../../store/files.ts';

/** A picture in words, for those who don't see it: those of its sender, else its name. */
export function pictureWords(file: AttachedFile): string {
  return file.description || t('files.pictureNamed', { name: fileName(file) });
}
