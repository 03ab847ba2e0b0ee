import { atom } from 'jotai';
import { formatLocale, t } from '../../i18n/i18n.ts';
import { activeChatAtom, chatsAtom, emptyChat, groupIdOfKey, type MessageView } from '../../store/chats.ts';
import { isOnlineAtom } from '../../store/connection.ts';
import { contactsAtom } from '../../store/contacts.ts';
import { draftsAtom } from '../../store/drafts.ts';
import { displayName, unknownPersonName } from '../../store/people.ts';
import { currentUserAtom } from '../../store/session.ts';
import { sessionAtom } from '../../store/sessionAtom.ts';

export interface ConversationRow {
  readonly userId: string;
  readonly name: string;
  /** Undefined while it isn't known, and always for people who are no contacts. */
  readonly online: boolean | undefined;
  readonly unread: number;
  readonly lastMessage: MessageView | null;
  /** It is the person's own, where they write notes: `unused` until then. */
  readonly notes?: 'used' | 'unused';
}

interface NamedPerson {
  readonly userId: string;
  readonly name: string;
}

/** Sorted apart from the messages: with thousands of contacts, comparing names costs most, and names change least. */
const contactsByNameAtom = atom((get): readonly NamedPerson[] => {
  const { compare } = new Intl.Collator(formatLocale(), { sensitivity: 'base' });
  return get(contactsAtom)
    .items.map((contact) => ({ userId: contact.id, name: displayName(contact) }))
    .sort((a, b) => compare(a.name, b.name));
});

/**
 * Contacts, and former contacts with messages; newest conversation first, then by name. Last comes the chat with oneself,
 * until it is used.
 */
export const conversationRowsAtom = atom((get): readonly ConversationRow[] => {
  const contacts = get(contactsByNameAtom);
  const chats = get(chatsAtom);
  const isOnline = get(isOnlineAtom);
  const active = get(activeChatAtom);
  const ownId = get(currentUserAtom)?.id;

  const row = ({ userId, name }: NamedPerson): ConversationRow => {
    const state = chats[userId]?.state ?? null;
    return {
      userId,
      name,
      online: isOnline(userId),
      unread: userId === active ? 0 : (state?.unread ?? 0),
      lastMessage: chats[userId]?.messages.at(-1) ?? state?.lastMessage ?? null,
    };
  };

  const rows = contacts.map(row);
  // Nobody is taken for a former contact while the contacts are still to come.
  const { error, items, loaded } = get(contactsAtom);
  if (loaded || error !== null || items.length > 0) {
    const known = new Set(contacts.map(({ userId }) => userId));
    for (const userId of Object.keys(chats)) {
      if (known.has(userId) || userId === ownId || groupIdOfKey(userId) !== null) continue;
      const former = { ...row({ userId, name: unknownPersonName() }), online: undefined };
      if (former.lastMessage !== null || userId === active) rows.push(former);
    }
  }
  if (ownId !== undefined) {
    const own = row({ userId: ownId, name: t('notes.title') });
    const isUsed = own.lastMessage !== null || ownId === active || (get(draftsAtom)[ownId] ?? '') !== '';
    rows.push({ ...own, online: undefined, notes: isUsed ? 'used' : 'unused' });
  }
  const moments = new Map(rows.map((each) => [each, momentOf(each.lastMessage)]));
  return rows.sort((a, b) => (moments.get(b) ?? 0) - (moments.get(a) ?? 0));
});

function momentOf(message: MessageView | null): number {
  return message === null ? 0 : Date.parse(message.timestamp);
}

/** The open chat with its person; null when none is open. */
export const openChatAtom = atom((get) => {
  const userId = get(activeChatAtom);
  if (userId === null) return null;
  const contact = get(contactsAtom).items.find(({ id }) => id === userId);
  const isNotes = userId === get(currentUserAtom)?.id;
  return {
    userId,
    name: isNotes ? t('notes.title') : contact ? displayName(contact) : unknownPersonName(),
    online: contact && get(isOnlineAtom)(userId),
    isNotes,
    chat: get(chatsAtom)[userId] ?? emptyChat,
  };
});

/** The search in contacts; `asked`: it is open, and the focus is on its way there. */
export const contactSearchAtom = sessionAtom<'closed' | 'asked' | 'open'>('closed');

/** Opens the search, and leads the focus to it. */
export const askForContactSearchAtom = atom(null, (_get, set) => set(contactSearchAtom, () => 'asked'));
