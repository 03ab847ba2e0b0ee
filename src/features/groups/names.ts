import { visibleName } from '../../lib/people.ts';
import type { Group } from '../../store/groups.ts';
import { groupNameMax, groupTexts } from './texts.ts';

/** What a group is called on screen. */
export function groupName(group: Pick<Group, 'name'>): string {
  return visibleName(group.name ?? '') || groupTexts.unnamed;
}

/** What is wrong with a name to create a group by, or null. */
export function groupNameProblem(input: string): string | null {
  const characters = Array.from(input.trim()).length;
  if (characters === 0) return groupTexts.nameRequired;
  return characters > groupNameMax ? groupTexts.nameTooLong : null;
}
