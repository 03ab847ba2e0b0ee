import { atom } from 'jotai';
import { t } from '../i18n/i18n.ts';
import { visibleName } from '../lib/people.ts';
import { blocksAtom } from './blocks.ts';
import { type ConversationKey, chatsAtom, groupIdOfKey, groupKeyOf } from './chats.ts';
import { contactsAtom } from './contacts.ts';
import { type Group, groupsAtom } from './groups.ts';
import { nameOfAtom } from './names.ts';
import { currentUserAtom } from './session.ts';

/** Returns a group's name on screen. */
export function groupName(group: Pick<Group, 'name'> | undefined): string {
  return visibleName(group?.name ?? '') || t('groups.unnamed');
}

/** Returns the name of any conversation: the other person's, the group's, or that of the notes. */
export const conversationNameAtom = atom((get): ((key: ConversationKey) => string) => {
  const groups = get(groupsAtom).items;
  const nameOf = get(nameOfAtom);
  const ownId = get(currentUserAtom)?.id;
  return (key) => {
    const groupId = groupIdOfKey(key);
    if (groupId !== null) return groupName(groups.find(({ id }) => id === groupId));
    return key === ownId ? t('notes.title') : nameOf(key);
  };
});

/** Conversations to which something can be sent, those written in last first, then by name. */
export const destinationsAtom = atom((get): readonly { key: ConversationKey; name: string }[] => {
  const blocked = new Set(get(blocksAtom)?.map(({ id }) => id));
  const ownId = get(currentUserAtom)?.id;
  const nameOf = get(conversationNameAtom);
  const chats = get(chatsAtom);
  const keys = [
    ...get(contactsAtom).items.flatMap(({ id }) => (blocked.has(id) ? [] : id)),
    ...get(groupsAtom).items.flatMap(({ ended, id }) => (ended ? [] : groupKeyOf(id))),
    ...(ownId === undefined ? [] : [ownId]),
  ];
  const lastAt = (key: ConversationKey) =>
    Date.parse((chats[key]?.messages.at(-1) ?? chats[key]?.state?.lastMessage)?.timestamp ?? '') || 0;
  return keys
    .map((key) => ({ key, name: nameOf(key) }))
    .sort((one, other) => lastAt(other.key) - lastAt(one.key) || one.name.localeCompare(other.name));
});
