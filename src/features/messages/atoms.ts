import { atom } from 'jotai';
import { displayName, unknownPersonName } from '../../lib/people.ts';
import { activeChatAtom, chatsAtom, emptyChat, type MessageView } from '../../store/chats.ts';
import { presenceAtom } from '../../store/connection.ts';
import { contactsAtom } from '../../store/contacts.ts';
import { currentUserAtom } from '../../store/session.ts';

const ownIdAtom = atom((get) => get(currentUserAtom)?.id ?? null);

/** State that ends with the session: whoever logs in next in this tab starts anew. */
function sessionAtom<T>(initial: T) {
  const valueAtomAtom = atom((get) => {
    get(ownIdAtom);
    return atom(initial);
  });
  return atom(
    (get) => get(get(valueAtomAtom)),
    (get, set, change: (value: T) => T) => set(get(valueAtomAtom), change),
  );
}

/** Unsent text by user id. In memory only: a draft is plaintext. */
export const draftsAtom = sessionAtom<Readonly<Record<string, string>>>({});

/** The chat to open again when the person returns to the tab. */
export const lastChatAtom = sessionAtom<string | null>(null);

/** Counts how often a chat was asked for: each time the input takes the focus. */
export const openRequestsAtom = sessionAtom(0);

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
      if (known.has(userId)) continue;
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
