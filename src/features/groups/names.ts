import { t } from '../../i18n/i18n.ts';
import { visibleName } from '../../lib/people.ts';
import type { Group } from '../../store/groups.ts';

/** Characters after trimming. */
const groupNameMax = 100;

/** What a group is called on screen. */
export function groupName(group: Pick<Group, 'name'>): string {
  return visibleName(group.name ?? '') || t('groups.unnamed');
}

/** What is wrong with a name to create a group by, or null. */
export function groupNameProblem(input: string): string | null {
  const characters = Array.from(input.trim()).length;
  if (characters === 0) return t('groups.nameRequired');
  return characters > groupNameMax ? t('groups.nameTooLong', { max: groupNameMax }) : null;
}
