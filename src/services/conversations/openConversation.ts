import type { MessageView } from '../../crypto/client.ts';
import { t } from '../../i18n/i18n.ts';
import { AppError } from '../../lib/appError.ts';
import type { Timer } from '../../lib/clock.ts';
import { coalesce } from '../../lib/coalesce.ts';
import { createKeyedQueue } from '../../lib/keyedQueue.ts';
import { isApiError } from '../../net/errors.ts';
import type { WatchedChat } from '../../net/mqtt.ts';
import {
  activeChatAtom,
  activeConversationAtom,
  activeGroupAtom,
  type ConversationKey,
  emptyChat,
  groupIdOfKey,
  groupKeyOf,
} from '../../store/chats.ts';
import { relayServesAtom } from '../../store/connection.ts';
import { connectionBannerAtom } from '../../store/session.ts';
import { showToastAtom } from '../../store/toasts.ts';
import { conversationOf, groupConversationId, keyOf } from '../core/conversationIds.ts';
import type { SessionDeps } from '../core/deps.ts';
import { type Background, isPassing, toAppError } from '../core/failures.ts';
import { timings } from '../core/timings.ts';
import type { ChatEvents } from './chatEvents.ts';
import { type Chats, mergeMessages } from './chats.ts';
import type { Receipts } from './receipts.ts';
import type { Sync } from './sync.ts';

const pageSize = 50;
/** A person who scrolls back wants more than a screenful at once. */
const olderPageSize = 150;
/** Messages of a chat that stay in memory after it was left. */
const keptMessages = 1000;
/** Pages of the log that may hold commits only before a person is left without an answer. */
const maxEmptyPages = 5;

export interface OpenConversation {
  /**
   * Loads a chat from the worker, then brings it up to the log and marks it read. Whatever was open closes; null closes
   * a direct chat.
   */
  open(userId: string | null): Promise<void>;
  /** Does for a group what {@link open} does for a direct chat; null closes a group. */
  openGroup(groupId: string | null): Promise<void>;
  loadOlder(key: ConversationKey): Promise<void>;
  /** Tells the relay how far the open chat has been read, if the page is in sight. */
  markRead(): void;
  stop(): void;
}

export interface OpenConversationOptions {
  readonly deps: SessionDeps;
  readonly ownUserId: string;
  readonly chats: Chats;
  readonly chatEvents: Pick<ChatEvents, 'load'>;
  readonly sync: Pick<Sync, 'catchUp' | 'olderEntries'>;
  readonly receipts: Pick<Receipts, 'refreshOpen' | 'tell'>;
  readonly watch: (chat: WatchedChat | null) => void;
  /** The relay has said that it has no such conversation for this person: nothing is asked of it any more. */
  readonly isGone: (conversationId: string) => boolean;
  readonly hasToken: () => boolean;
  readonly isVisible: () => boolean;
  readonly background: Background;
}

function newestReceived(messages: readonly MessageView[], ownUserId: string): MessageView | undefined {
  return messages.findLast((message) => message.seq !== null && message.senderId !== ownUserId);
}

export function createOpenConversation(options: OpenConversationOptions): OpenConversation {
  const { background, chats, ownUserId, receipts, sync } = options;
  const { api, clock, crypto, sessionEvents, store } = options.deps;
  /** One page at a time for a chat: each begins where the one before it ended. */
  const pages = createKeyedQueue();
  /** Per chat, the lowest log position that has been looked at. */
  const lowestSeq = new Map<string, number>();

  /** Messages read here of which the relay has yet to tell the person's other devices: sent again with the next occasion. */
  const unreportedReads = new Map<string, string>();

  function idOf(key: ConversationKey): string {
    const conversationId = conversationOf(key, ownUserId);
    if (conversationId === null) throw new AppError('usage', t('errors.loadMessagesFailed'));
    return conversationId;
  }

  /** Messages that were shown here, so that their clocks run if they are to disappear. */
  const clocked = new Set<string>();

  const activeKey = () => store.get(activeConversationAtom);

  function lower(key: ConversationKey, seqs: readonly (number | null)[]): void {
    const known = seqs.filter((seq): seq is number => seq !== null);
    const present = lowestSeq.get(key);
    const lowest = Math.min(...known, present ?? Number.POSITIVE_INFINITY);
    if (Number.isFinite(lowest)) lowestSeq.set(key, lowest);
  }

  /**
   * Returns whether this device can still show something below the lowest position: of its cache, or from before it
   * joined.
   */
  function mayHaveOlder(key: ConversationKey): boolean {
    // Notes from before are in the message backup; the log's entries could be anything that own devices tell each other.
    if (options.isGone(idOf(key)) || key === ownUserId) return false;
    const lowest = lowestSeq.get(key);
    const joinedSeq = chats.get(key).state?.joinedSeq ?? 0;
    return joinedSeq > 1 && (lowest === undefined || lowest > 1);
  }

  /** A page of what this device has; false when there is no more of it. */
  async function loadCached(key: ConversationKey): Promise<boolean> {
    const conversationId = idOf(key);
    const before = lowestSeq.get(key);
    const limit = before === undefined ? pageSize : olderPageSize;
    const messages = await crypto.messages(conversationId, {
      limit,
      ...(before === undefined ? {} : { before }),
    });
    chats.addMessages(conversationId, messages);
    lower(
      key,
      messages.map((message) => message.seq),
    );
    return messages.length >= limit;
  }

  /** Entries from before this device joined: they can't be read here, and are shown as such. */
  async function loadBeforeJoin(key: ConversationKey): Promise<void> {
    const conversationId = idOf(key);
    for (let empty = 0; empty < maxEmptyPages && mayHaveOlder(key); empty += 1) {
      const joinedSeq = chats.get(key).state?.joinedSeq ?? 0;
      const below = Math.min(lowestSeq.get(key) ?? Number.POSITIVE_INFINITY, joinedSeq + 1);
      const older = await sync.olderEntries(conversationId, below, pageSize);
      lowestSeq.set(key, older.lowestSeq ?? 1);
      chats.addMessages(conversationId, older.messages);
      if (older.messages.length > 0) return;
    }
  }

  async function loadPage(key: ConversationKey): Promise<void> {
    const more = await loadCached(key);
    if (!more) await loadBeforeJoin(key);
    chats.change(key, () => ({ hasOlder: more || mayHaveOlder(key) }));
  }

  async function loadFirst(key: ConversationKey): Promise<void> {
    const conversationId = idOf(key);
    chats.setLoaded(key, true);
    chats.change(key, () => ({ loading: true }));
    try {
      const [state, waiting] = await Promise.all([
        crypto.conversation(conversationId),
        crypto.outbox(conversationId),
      ]);
      chats.change(key, (chat) => ({ state, messages: mergeMessages(chat.messages, waiting) }));
      const [more] = await Promise.all([loadCached(key), options.chatEvents.load(conversationId)]);
      chats.change(key, () => ({ hasOlder: more || mayHaveOlder(key) }));
    } catch (error) {
      chats.setLoaded(key, false);
      throw error;
    } finally {
      chats.change(key, () => ({ loading: false }));
    }
  }

  async function reportRead(conversationId: string, messageId: string): Promise<void> {
    if (!options.isGone(conversationId)) {
      await api.markDelivered(messageId).catch((error: unknown) => {
        // The message is gone: nobody is left to tell.
        if (!isApiError(error, 'not-found')) throw error;
      });
    }
    if (unreportedReads.get(conversationId) === messageId) unreportedReads.delete(conversationId);
  }

  const markActiveRead = coalesce(async () => {
    if (!options.hasToken()) return;
    const key = activeKey();
    const { messages, state } = key === null ? emptyChat : chats.get(key);
    const newest = newestReceived(messages, ownUserId);
    const isNew = state !== null && newest !== undefined && (newest.seq ?? 0) > state.readHere;
    const isTimed = ({ senderId, seq, timer }: MessageView) =>
      timer !== undefined && seq !== null && senderId !== ownUserId;
    const timed = messages.filter(isTimed);
    // A copy of a message may have come long after what followed it was read.
    const isUnclocked = timed.some(({ messageId }) => !clocked.has(messageId));
    const isDue = state !== null && newest !== undefined && (isNew || isUnclocked);
    if (isDue && newest.seq !== null && options.isVisible()) {
      const { conversationId } = state;
      const isFurther = newest.seq > state.readSeq;
      if (isFurther) unreportedReads.set(conversationId, newest.messageId);
      const read = await crypto.setReadPosition(conversationId, 'here', newest.seq);
      chats.setState(read);
      receipts.tell(read);
      for (const { messageId } of timed) clocked.add(messageId);
      if (timed.length > 0) sessionEvents.emit('clocksStarted', {});
      if (isFurther) sessionEvents.emit('readHere', { conversationId, seq: newest.seq });
    }
    for (const [conversationId, messageId] of unreportedReads) await reportRead(conversationId, messageId);
  });

  let soon: Timer | null = null;

  /** Marks read at once what waits to be: the messages of a chat that is left were drawn. */
  function markReadNow(): void {
    if (soon === null) return;
    soon.cancel();
    soon = null;
    background(markActiveRead);
  }

  async function fetchNew(key: ConversationKey): Promise<void> {
    const conversationId = idOf(key);
    if (!options.isGone(conversationId)) await sync.catchUp(conversationId);
    if (chats.get(key).messages.length < pageSize && mayHaveOlder(key)) {
      await pages(key, () => loadPage(key));
    }
  }

  /** Says that new messages could not be fetched, unless the page already says that the relay is out of reach. */
  function tellFetchFailed(key: ConversationKey, error: unknown): void {
    if (!isPassing(error) || activeKey() !== key || !store.get(relayServesAtom)) return;
    store.set(showToastAtom, 'error', t('errors.loadMessagesFailed'));
  }

  async function refresh(key: ConversationKey): Promise<void> {
    try {
      await fetchNew(key);
    } catch (error) {
      tellFetchFailed(key, error);
      // The messages that this browser has were shown, and the clocks of those that disappear run.
      background(markActiveRead);
      throw error;
    }
    await markActiveRead();
    if (activeKey() === key) await receipts.refreshOpen();
  }

  async function show(key: ConversationKey): Promise<void> {
    if (!options.hasToken()) store.set(connectionBannerAtom, true);
    try {
      if (!chats.isLoaded(key)) await loadFirst(key);
    } catch (error) {
      throw toAppError(error, t('errors.loadMessagesFailed'));
    }
    // A failed fetch leaves the list as it is (spec section 8): what this browser has is shown.
    background(() => refresh(key));
  }

  /** A long chat that is left gives back what can be loaded again. */
  function trimActive(): void {
    const key = activeKey();
    if (key === null || chats.get(key).messages.length <= keptMessages) return;
    chats.trim(key, keptMessages);
    lowestSeq.delete(key);
    lower(
      key,
      chats.get(key).messages.map((message) => message.seq),
    );
  }

  function watchedChat(key: ConversationKey | null): WatchedChat | null {
    if (key === null || key === ownUserId) return null;
    const groupId = groupIdOfKey(key);
    return groupId === null ? { kind: 'status', userId: key } : { kind: 'group', groupId };
  }

  function activate(key: ConversationKey | null): void {
    if (key !== activeKey()) {
      markReadNow();
      trimActive();
    }
    store.set(activeConversationAtom, key);
    options.watch(watchedChat(key));
  }

  async function openKey(key: ConversationKey): Promise<void> {
    if (conversationOf(key, ownUserId) === null) return;
    activate(key);
    await show(key);
  }

  sessionEvents.on('entriesProcessed', ({ messages, state }) => {
    const key = keyOf(state.conversationId, ownUserId);
    if (key === null || key !== activeKey() || messages.length === 0) return;
    // Waits until the messages have been drawn.
    soon ??= clock.after(timings.readingDelay, markReadNow);
  });

  sessionEvents.on('copiesShown', () => background(markActiveRead));

  // Should the group ever come back, its chat begins anew.
  sessionEvents.on('groupForgotten', ({ groupId }) => {
    const key = groupKeyOf(groupId);
    lowestSeq.delete(key);
    unreportedReads.delete(groupConversationId(groupId));
    if (activeKey() === key) activate(null);
  });

  return {
    async open(userId) {
      if (userId !== null) await openKey(userId);
      else if (store.get(activeGroupAtom) === null) activate(null);
    },

    async openGroup(groupId) {
      if (groupId !== null) await openKey(groupKeyOf(groupId));
      else if (store.get(activeChatAtom) === null) activate(null);
    },

    async loadOlder(key) {
      if (!chats.get(key).hasOlder) return;
      try {
        await pages(key, () => loadPage(key));
      } catch (error) {
        throw toAppError(error, t('errors.loadMessagesFailed'));
      }
      if (key === activeKey()) background(markActiveRead);
    },

    markRead: () => background(markActiveRead),
    stop: () => soon?.cancel(),
  };
}
