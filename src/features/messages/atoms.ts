import { atom } from 'jotai';
import { displayName, unknownPersonName } from '../../lib/people.ts';
import { activeChatAtom, chatsAtom, emptyChat, groupIdOfKey, type MessageView } from '../../store/chats.ts';
import { presenceAtom } from '../../store/connection.ts';
import { contactsAtom } from '../../store/contacts.ts';

export interface ConversationRow {
  readonly userId: string;
  readonly name: string;
  readonly online: boolean;
  readonly unread: number;
  readonly lastMessage: MessageView | null;
}

/** Contacts, and former contacts with messages; newest conversation first, then by name. */
export const conversationRowsAtom = atom((get): readonly ConversationRow[] => {
  const contacts = get(contactsAtom);
  const chats = get(chatsAtom);
  const presence = get(presenceAtom);
  const active = get(activeChatAtom);

  const row = (userId: string, name: string): ConversationRow => {
    const state = chats[userId]?.state ?? null;
    return {
      userId,
      name,
      online: presence[userId] === true,
      unread: userId === active ? 0 : (state?.unread ?? 0),
      lastMessage: chats[userId]?.messages.at(-1) ?? state?.lastMessage ?? null,
    };
  };

  const known = new Set(contacts.items.map((contact) => contact.id));
  const rows = contacts.items.map((contact) => row(contact.id, displayName(contact)));
  if (contacts.loaded) {
    for (const userId of Object.keys(chats)) {
      if (known.has(userId) || groupIdOfKey(userId) !== null) continue;
      const former = row(userId, unknownPersonName);
      if (former.lastMessage !== null || userId === active) rows.push(former);
    }
  }
  return rows.toSorted(
    (a, b) =>
      lastMoment(b) - lastMoment(a) || a.name.localeCompare(b.name, undefined, { sensitivity: 'base' }),
  );
});

function lastMoment(row: ConversationRow): number {
  return row.lastMessage === null ? 0 : Date.parse(row.lastMessage.timestamp);
}

/** What the open chat shows; null when none is open. */
export const openChatAtom = atom((get) => {
  const userId = get(activeChatAtom);
  if (userId === null) return null;
  const contact = get(contactsAtom).items.find(({ id }) => id === userId);
  return {
    userId,
    name: contact ? displayName(contact) : unknownPersonName,
    online: get(presenceAtom)[userId] === true,
    chat: get(chatsAtom)[userId] ?? emptyChat,
  };
});
