import type { MessageView } from '../crypto/client.ts';
import { coalesce } from '../lib/coalesce.ts';
import { createKeyedQueue } from '../lib/keyedQueue.ts';
import { isApiError } from '../net/errors.ts';
import { activeChatAtom, emptyChat } from '../store/chats.ts';
import { connectionBannerAtom } from '../store/session.ts';
import { type Chats, mergeMessages } from './chats.ts';
import { directConversationId, peerOf } from './conversationIds.ts';
import type { Deps } from './deps.ts';
import { type Background, toAppError } from './failures.ts';
import type { Sync } from './sync.ts';
import { texts } from './texts.ts';

const pageSize = 50;
/** Pages of the log that may hold commits only before a person is left without an answer. */
const maxEmptyPages = 5;

export interface Reading {
  /** Loads a chat from the worker, then brings it up to the log and marks it read. Null closes the open one. */
  open(userId: string | null): Promise<void>;
  loadOlder(userId: string): Promise<void>;
  /** Tells the relay how far the open chat has been read, if the page is in sight. */
  markRead(): void;
}

export interface ReadingOptions {
  readonly deps: Deps;
  readonly ownUserId: string;
  readonly chats: Chats;
  readonly sync: Pick<Sync, 'catchUp' | 'olderEntries'>;
  readonly watchStatus: (userId: string | null) => void;
  readonly hasToken: () => boolean;
  readonly isVisible: () => boolean;
  readonly background: Background;
}

function newestReceived(messages: readonly MessageView[], ownUserId: string): MessageView | undefined {
  return messages.findLast((message) => message.seq !== null && message.senderId !== ownUserId);
}

export function createReading(options: ReadingOptions): Reading {
  const { background, chats, ownUserId, sync } = options;
  const { api, crypto, store } = options.deps;
  /** One page at a time for a chat: each begins where the one before it ended. */
  const pages = createKeyedQueue();
  /** Per chat, the lowest log position that has been looked at. */
  const lowestSeq = new Map<string, number>();

  /** Messages read here that the relay has not heard of: told again with the next occasion. */
  const untold = new Map<string, string>();

  function lower(userId: string, seqs: readonly (number | null)[]): void {
    const known = seqs.filter((seq): seq is number => seq !== null);
    const present = lowestSeq.get(userId);
    const lowest = Math.min(...known, present ?? Number.POSITIVE_INFINITY);
    if (Number.isFinite(lowest)) lowestSeq.set(userId, lowest);
  }

  /** What this device can still show below the lowest position: its own cache, then what came before it joined. */
  function mayHaveOlder(userId: string): boolean {
    const lowest = lowestSeq.get(userId);
    const joinedSeq = chats.get(userId).state?.joinedSeq ?? 0;
    return joinedSeq > 1 && (lowest === undefined || lowest > 1);
  }

  /** A page of what this device has; false when there is no more of it. */
  async function loadCached(userId: string): Promise<boolean> {
    const conversationId = directConversationId(ownUserId, userId);
    const before = lowestSeq.get(userId);
    const messages = await crypto.messages(conversationId, {
      limit: pageSize,
      ...(before === undefined ? {} : { before }),
    });
    chats.addMessages(conversationId, messages);
    lower(
      userId,
      messages.map((message) => message.seq),
    );
    return messages.length >= pageSize;
  }

  /** Entries from before this device joined: they can't be read here, and are shown as such. */
  async function loadBeforeJoin(userId: string): Promise<void> {
    const conversationId = directConversationId(ownUserId, userId);
    for (let empty = 0; empty < maxEmptyPages && mayHaveOlder(userId); empty += 1) {
      const joinedSeq = chats.get(userId).state?.joinedSeq ?? 0;
      const below = Math.min(lowestSeq.get(userId) ?? Number.POSITIVE_INFINITY, joinedSeq + 1);
      const older = await sync.olderEntries(conversationId, below, pageSize);
      lowestSeq.set(userId, older.lowestSeq ?? 1);
      chats.addMessages(conversationId, older.messages);
      if (older.messages.length > 0) return;
    }
  }

  async function loadPage(userId: string): Promise<void> {
    const more = await loadCached(userId);
    if (!more) await loadBeforeJoin(userId);
    chats.change(userId, () => ({ hasOlder: more || mayHaveOlder(userId) }));
  }

  async function loadFirst(userId: string): Promise<void> {
    const conversationId = directConversationId(ownUserId, userId);
    chats.setLoaded(userId, true);
    chats.change(userId, () => ({ loading: true }));
    try {
      const [state, waiting] = await Promise.all([crypto.conversation(conversationId), crypto.outbox()]);
      const own = waiting.filter((message) => message.conversationId === conversationId);
      chats.change(userId, (chat) => ({ state, messages: mergeMessages(chat.messages, own) }));
      const more = await loadCached(userId);
      chats.change(userId, () => ({ hasOlder: more || mayHaveOlder(userId) }));
    } catch (error) {
      chats.setLoaded(userId, false);
      throw error;
    } finally {
      chats.change(userId, () => ({ loading: false }));
    }
  }

  async function tell(conversationId: string, messageId: string): Promise<void> {
    await api.markDelivered(messageId).catch((error: unknown) => {
      // The message is gone: nobody is left to tell.
      if (!isApiError(error, 'not-found')) throw error;
    });
    if (untold.get(conversationId) === messageId) untold.delete(conversationId);
  }

  const markActiveRead = coalesce(async () => {
    if (!options.hasToken()) return;
    const userId = store.get(activeChatAtom);
    const { messages, state } = userId === null ? emptyChat : chats.get(userId);
    const newest = newestReceived(messages, ownUserId);
    const unread = state !== null && newest !== undefined && (newest.seq ?? 0) > state.readSeq;
    if (unread && newest.seq !== null && options.isVisible()) {
      untold.set(state.conversationId, newest.messageId);
      chats.setState(await crypto.setReadPosition(state.conversationId, 'own', newest.seq));
    }
    for (const [conversationId, messageId] of untold) await tell(conversationId, messageId);
  });

  async function refresh(userId: string): Promise<void> {
    const conversationId = directConversationId(ownUserId, userId);
    await sync.catchUp(conversationId);
    if (chats.get(userId).messages.length < pageSize && mayHaveOlder(userId)) {
      await pages(userId, () => loadPage(userId));
    }
    await markActiveRead();
  }

  return {
    async open(userId) {
      if (userId !== null && peerOf(directConversationId(ownUserId, userId), ownUserId) === null) return;
      store.set(activeChatAtom, userId);
      options.watchStatus(userId);
      if (userId === null) return;
      if (!options.hasToken()) store.set(connectionBannerAtom, true);
      try {
        if (!chats.isLoaded(userId)) await loadFirst(userId);
      } catch (error) {
        throw toAppError(error, texts.loadMessagesFailed);
      }
      // A failed fetch leaves the list as it is (spec section 8): what this browser has is shown.
      background(() => refresh(userId));
    },

    async loadOlder(userId) {
      if (!chats.get(userId).hasOlder) return;
      try {
        await pages(userId, () => loadPage(userId));
      } catch (error) {
        throw toAppError(error, texts.loadMessagesFailed);
      }
    },

    markRead: () => background(markActiveRead),
  };
}
