import { t } from '../../i18n/i18n.ts';

/** Characters after trimming. */
const groupNameMax = 100;

/** Returns the problem of a new group's name, or null. */
export function groupNameProblem(input: string): string | null {
  const characters = Array.from(input.trim()).length;
  if (characters === 0) return t('groups.nameRequired');
  return characters > groupNameMax ? t('groups.nameTooLong', { max: groupNameMax }) : null;
}
