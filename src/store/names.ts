import { atom } from 'jotai';
import { displayName, unknownPersonName } from '../lib/people.ts';
import { contactsAtom } from './contacts.ts';
import { groupsAtom } from './groups.ts';
import { currentUserAtom } from './session.ts';

const currentUserIdAtom = atom((get) => get(currentUserAtom)?.id);

/** Names met in this session: whoever leaves a group keeps theirs above the messages that stay. */
const metNamesAtom = atom((get) => {
  // Another person's session begins without them.
  get(currentUserIdAtom);
  return new Map<string, string>();
});

/** Display names of contacts and of members of one's groups; {@link unknownPersonName} for everybody else. */
export const nameOfAtom = atom((get): ((userId: string) => string) => {
  const met = get(metNamesAtom);
  for (const { members } of get(groupsAtom).items) {
    for (const { userId, username } of members) {
      if (username !== null) met.set(userId, displayName({ username }));
    }
  }
  for (const contact of get(contactsAtom).items) met.set(contact.id, displayName(contact));
  return (userId) => met.get(userId) ?? unknownPersonName;
});
