import { t } from '../../i18n/i18n.ts';
import { visibleName } from '../../lib/people.ts';
import type { Group } from '../../store/groups.ts';

/** Characters after trimming. */
const groupNameMax = 100;

/** Returns a group's name on screen. */
export function groupName(group: Pick<Group, 'name'>): string {
  return visibleName(group.name ?? '') || t('groups.unnamed');
}

/** Returns the problem of a new group's name, or null. */
export function groupNameProblem(input: string): string | null {
  const characters = Array.from(input.trim()).length;
  if (characters === 0) return t('groups.nameRequired');
  return characters > groupNameMax ? t('groups.nameTooLong', { max: groupNameMax }) : null;
}
