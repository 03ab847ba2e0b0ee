import { atom } from 'jotai';
import { contactsAtom } from './contacts.ts';
import { displayName, unknownPersonName } from './people.ts';
import { sessionAtom } from './sessionAtom.ts';
import { trustAtom } from './trust.ts';

/** User id to username, of everybody whom this person is or was in a group with. */
export const memberNamesAtom = sessionAtom<ReadonlyMap<string, string>>(new Map());

/** User id to the name that the relay gives a contact, where they have signed another one. */
export const otherNamesAtom = sessionAtom<ReadonlyMap<string, string>>(new Map());

/** Display names of contacts and of those met in groups; {@link unknownPersonName} for everybody else. */
export const nameOfAtom = atom((get): ((userId: string) => string) => {
  const contacts = new Map(get(contactsAtom).items.map((contact) => [contact.id, contact]));
  const met = get(memberNamesAtom);
  const trust = get(trustAtom);
  return (userId) => {
    const contact = contacts.get(userId);
    if (contact !== undefined) return displayName(contact);
    const username = trust.get(userId)?.name ?? met.get(userId);
    return username === undefined ? unknownPersonName() : displayName({ username });
  };
});
