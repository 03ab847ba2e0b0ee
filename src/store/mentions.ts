import { atom } from 'jotai';
import { type ConversationKey, groupIdOfKey, type MessageContent } from './chats.ts';
import { groupsAtom } from './groups.ts';
import { mutesAtom } from './mutes.ts';
import { nameOfAtom } from './names.ts';
import { withOwnName } from './people.ts';
import { currentUserAtom } from './session.ts';

/** A person who can be mentioned, by the name that they have now. */
export interface Mentionable {
  readonly id: string;
  readonly name: string;
}

const mentionLink = /\[@(?:[^\]\\]|\\.){0,200}\]\(sinetti:user\/([\w-]{1,64})\)/g;

/** Returns the current name of anybody, one's own too. */
export const ownOrOtherNameAtom = atom((get): ((userId: string) => string) => {
  const user = get(currentUserAtom);
  const nameOf = get(nameOfAtom);
  return withOwnName(user, nameOf);
});

/** Returns who can be mentioned in a conversation: the people in a group, and nobody anywhere else. */
export const mentionablesAtom = atom((get): ((key: ConversationKey) => readonly Mentionable[]) => {
  const groups = get(groupsAtom).items;
  const nameOf = get(ownOrOtherNameAtom);
  return (key) => {
    const groupId = groupIdOfKey(key);
    const members = groups.find(({ id }) => id === groupId)?.members ?? [];
    return members.map(({ userId: id }) => ({ id, name: nameOf(id) }));
  };
});

/** Returns a text as it is sent to a conversation: each `@name` of somebody in it as a link that names them by their id. */
export const withMentionLinksAtom = atom((get) => (key: ConversationKey, text: string): string => {
  if (!text.includes('@')) return text;
  const people = get(mentionablesAtom)(key);
  // The longest name first: one may begin like another. A name that two have means neither.
  const named = people
    .filter(({ name }) => people.filter((person) => person.name === name).length === 1)
    .sort((one, other) => other.name.length - one.name.length);
  let rest = text;
  let sent = '';
  for (let at = rest.indexOf('@'); at >= 0; at = rest.indexOf('@')) {
    const isBegin = !/[\p{L}\p{N}_@]$/u.test(at === 0 ? sent : rest.slice(0, at));
    const person = isBegin ? named.find(({ name }) => isNamed(rest.slice(at + 1), name)) : undefined;
    const end = at + 1 + (person?.name.length ?? 0);
    sent += rest.slice(0, at) + (person === undefined ? '@' : linkTo(person));
    rest = rest.slice(end);
  }
  return sent + rest;
});

function isNamed(text: string, name: string): boolean {
  return text.startsWith(name) && !/^[\p{L}\p{N}_]/u.test(text.slice(name.length));
}

function linkTo({ id, name }: Mentionable): string {
  return `[@${name.replace(/[\\\][*_`~]/g, '\\$&')}](sinetti:user/${id})`;
}

/** Returns a text as a person writes it: `@` and the current name in the place of each link. */
export function withMentionNames(text: string, nameOf: (userId: string) => string): string {
  return text.replace(mentionLink, (_link, userId: string) => `@${nameOf(userId)}`);
}

/** Resolves to whether a message mentions this person; the grammar is loaded for one that has their id at all. */
export const mentionsMeAtom = atom((get) => async (content: MessageContent): Promise<boolean> => {
  const user = get(currentUserAtom);
  if (user === null || !('isMarkdown' in content) || !content.text.includes(`sinetti:user/${user.id}`))
    return false;
  const { mentionsIn } = await import('../lib/markdown.ts');
  return mentionsIn(content.text).includes(user.id);
});

/** Resolves to whether a message makes no noise, because its conversation is muted and it mentions nobody who is to be told. */
export const isQuietAtom = atom(
  (get) =>
    async (key: ConversationKey, content: MessageContent): Promise<boolean> => {
      const mute = get(mutesAtom)[key];
      return mute !== undefined && !(mute.mentions && (await get(mentionsMeAtom)(content)));
    },
);
