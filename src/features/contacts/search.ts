import type { Person } from '../../store/contacts.ts';

/**
 * Filters results to people whose username, id or email contains the text, without oneself and existing contacts (spec
 * section 5, which searches by email too).
 */
export function offeredPeople(
  results: readonly Person[],
  query: string,
  exclude: { ownId: string | undefined; contactIds: ReadonlySet<string> },
): Person[] {
  const wanted = query.trim().toLocaleLowerCase();
  return results.filter(
    ({ id, username, email }) =>
      id !== exclude.ownId &&
      !exclude.contactIds.has(id) &&
      [username, id, email].some((field) => field.toLocaleLowerCase().includes(wanted)),
  );
}
