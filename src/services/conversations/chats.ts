import type { ConversationState, MessageView } from '../../crypto/client.ts';
import { type Chat, type ConversationKey, chatsAtom, emptyChat, groupKeyOf } from '../../store/chats.ts';
import { isUnseen, keyOf } from '../core/conversationIds.ts';
import type { SessionDeps } from '../core/deps.ts';

/** Orders as the log does, and by time what waits in the outbox: after messages of equal time (spec section 2). */
function byPlace(one: MessageView, other: MessageView): number {
  const inLog = one.seq === null || other.seq === null ? 0 : one.seq - other.seq;
  return (
    inLog ||
    Date.parse(one.timestamp) - Date.parse(other.timestamp) ||
    Number(one.seq === null) - Number(other.seq === null) ||
    (one.messageId < other.messageId ? -1 : 1)
  );
}

type MessageIndex = Map<string, MessageView>;

/**
 * The messages of each list by id: building it again for each message that arrives would cost as much as the list is
 * long. It moves on to the list that a merge makes; an older list, should it be merged again, gets a new one.
 */
const indexes = new WeakMap<readonly MessageView[], MessageIndex>();

function indexOf(messages: readonly MessageView[]): MessageIndex {
  const index = indexes.get(messages) ?? new Map(messages.map((message) => [message.messageId, message]));
  indexes.delete(messages);
  return index;
}

/** Returns the index of a message in a sorted list, or the one at which it belongs. */
function placeOf(messages: readonly MessageView[], message: MessageView): number {
  let low = 0;
  let high = messages.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const at = messages[middle];
    if (at !== message && at !== undefined && byPlace(at, message) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * Adds messages to a list: no id twice, ascending, and what the log has returned is never undone by an older view. Leaves
 * out what is unseen.
 */
export function mergeMessages(
  present: readonly MessageView[],
  given: readonly MessageView[],
): readonly MessageView[] {
  const added = given.filter((message) => !isUnseen(message));
  if (added.length === 0) return present;
  const index = indexOf(present);
  const merged = [...present];
  const fresh: MessageView[] = [];
  for (const message of added) {
    const known = index.get(message.messageId);
    if (known !== undefined && message.seq === null && known.seq !== null) continue;
    index.set(message.messageId, message);
    if (known === undefined) fresh.push(message);
    else replace(merged, fresh, known, message);
  }
  const all = insert(merged, fresh.sort(byPlace));
  indexes.set(all, index);
  return all;
}

function replace(
  merged: MessageView[],
  fresh: MessageView[],
  known: MessageView,
  message: MessageView,
): void {
  const added = fresh.indexOf(known);
  if (added >= 0) fresh.splice(added, 1);
  else {
    const place = placeOf(merged, known);
    merged.splice(merged[place] === known ? place : merged.indexOf(known), 1);
  }
  fresh.push(message);
}

/** Most pages are newer than all there is, or older. */
function insert(merged: MessageView[], fresh: readonly MessageView[]): MessageView[] {
  const oldest = fresh[0];
  const newest = fresh.at(-1);
  if (oldest === undefined || newest === undefined) return merged;
  const first = merged[0];
  const last = merged.at(-1);
  if (first === undefined || last === undefined || byPlace(last, oldest) < 0) return [...merged, ...fresh];
  if (byPlace(newest, first) < 0) return [...fresh, ...merged];
  for (const message of fresh) merged.splice(placeOf(merged, message), 0, message);
  return merged;
}

/**
 * Leaves out older messages than those of a list that has not got all: one that was changed now is not to stand right before
 * those of today.
 */
function withinReach({ hasOlder, messages }: Chat, given: readonly MessageView[]): readonly MessageView[] {
  const lowest = (hasOlder ? messages.find(({ seq }) => seq !== null)?.seq : null) ?? 0;
  return given.filter(({ seq }) => seq === null || seq >= lowest);
}

/** Shows in quotes what has become of the messages that they are of. */
function withQuotes(
  present: readonly MessageView[],
  changed: ReadonlyMap<string, MessageView | 'disappeared' | null>,
): readonly MessageView[] {
  let isStale = false;
  const quoting = present.map((message) => {
    const quoted = message.quote?.message;
    const now = quoted ? changed.get(quoted.messageId) : undefined;
    if (now === undefined || (now !== 'disappeared' && now?.content === quoted?.content)) return message;
    isStale = true;
    if (now === 'disappeared') return { ...message, quote: { message: null, hasDisappeared: true as const } };
    if (now === null) return { ...message, quote: { message: null } };
    const { content, messageId, senderId, timer } = now;
    return {
      ...message,
      quote: { message: { messageId, senderId, content, ...(timer === undefined ? {} : { timer }) } },
    };
  });
  return isStale ? quoting : present;
}

export interface Chats {
  get(key: ConversationKey): Chat;
  change(key: ConversationKey, change: (chat: Chat) => Partial<Chat>): void;
  /** Ignores states of a forgotten group: they are from before. */
  setState(state: ConversationState): void;
  /** Does what {@link setState} does, for all at once. */
  setStates(states: readonly ConversationState[]): void;
  /** Adds messages to chats that have been loaded; the others read them from the worker when they are opened. */
  addMessages(conversationId: string, messages: readonly MessageView[]): void;
  /** Sets whether the messages of a chat are kept. */
  setLoaded(key: ConversationKey, isLoaded: boolean): void;
  isLoaded(key: ConversationKey): boolean;
  /** Removes a message, and says in answers to it, also where it isn't loaded, why where its time was over. */
  removeMessage(messageId: string, why?: 'disappeared'): void;
  /** Keeps the newest messages of a chat that is left; the others can be loaded again. */
  trim(key: ConversationKey, kept: number): void;
  /** Forgets a chat: of a group that was left or deleted. */
  remove(key: ConversationKey): void;
}

/** The chats on screen. Only this module writes their atom. */
export function createChats(
  { sessionEvents, store }: Pick<SessionDeps, 'sessionEvents' | 'store'>,
  ownUserId: string,
): Chats {
  const loaded = new Set<string>();
  const forgotten = new Set<ConversationKey>();

  /** Null for a conversation of other people, and for a forgotten group. */
  function shownKey({ conversationId }: ConversationState): ConversationKey | null {
    const key = keyOf(conversationId, ownUserId);
    return key === null || forgotten.has(key) ? null : key;
  }

  function get(key: ConversationKey): Chat {
    return store.get(chatsAtom)[key] ?? emptyChat;
  }

  function change(key: ConversationKey, changeChat: (chat: Chat) => Partial<Chat>): void {
    const chat = get(key);
    store.set(chatsAtom, { ...store.get(chatsAtom), [key]: { ...chat, ...changeChat(chat) } });
  }

  /** Merges messages into a chat that has been loaded; the others read them from the worker when they are opened. */
  function merged(key: ConversationKey, { messages }: Chat, added: readonly MessageView[]): Partial<Chat> {
    if (!loaded.has(key)) return {};
    const merged = mergeMessages(messages, added);
    return { messages: withQuotes(merged, new Map(added.map((message) => [message.messageId, message]))) };
  }

  function setStates(states: readonly ConversationState[]): void {
    const chats = { ...store.get(chatsAtom) };
    for (const state of states) {
      const key = shownKey(state);
      if (key !== null) chats[key] = { ...(chats[key] ?? emptyChat), state };
    }
    store.set(chatsAtom, chats);
  }

  sessionEvents.on('conversationsChanged', ({ states }) => setStates(states));
  sessionEvents.on('receiptsTaken', ({ state }) => setStates([state]));
  sessionEvents.on('entriesProcessed', ({ messages, state }) => {
    const key = shownKey(state);
    // One change for both, because everything on screen follows each change.
    if (key !== null) change(key, (chat) => ({ state, ...merged(key, chat, withinReach(chat, messages)) }));
  });
  sessionEvents.on('groupForgotten', ({ groupId }) => void forgotten.add(groupKeyOf(groupId)));
  sessionEvents.on('groupReturned', ({ groupId }) => void forgotten.delete(groupKeyOf(groupId)));

  return {
    get,
    change,
    setState(state) {
      const key = shownKey(state);
      if (key !== null) change(key, () => ({ state }));
    },
    setStates,
    addMessages(conversationId, messages) {
      const key = keyOf(conversationId, ownUserId);
      if (key === null || messages.length === 0 || !loaded.has(key)) return;
      change(key, (chat) => merged(key, chat, messages));
    },
    setLoaded(key, isLoaded) {
      if (isLoaded) loaded.add(key);
      else loaded.delete(key);
    },
    isLoaded: (key) => loaded.has(key),
    removeMessage(messageId, why) {
      for (const [key, chat] of Object.entries(store.get(chatsAtom))) {
        const left = chat.messages.filter((message) => message.messageId !== messageId);
        const messages = withQuotes(left, new Map([[messageId, why ?? null]]));
        // Answers may stand there without it.
        if (left.length < chat.messages.length || messages !== left) change(key, () => ({ messages }));
      }
    },
    trim(key, kept) {
      if (get(key).messages.length <= kept) return;
      change(key, ({ messages }) => ({ messages: messages.slice(-kept), hasOlder: true }));
    },
    remove(key) {
      loaded.delete(key);
      const { [key]: _removed, ...others } = store.get(chatsAtom);
      store.set(chatsAtom, others);
    },
  };
}
