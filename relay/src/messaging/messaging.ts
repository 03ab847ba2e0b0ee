import {
  directConversationId,
  groupConversationId,
  groupOf,
  limits,
  type SentMessage,
  selfConversationId,
} from '../../contract/index.ts';
import type { DeviceSession, Sender } from '../auth/session.ts';
import type { Db } from '../db/tables.ts';
import { ApiError } from '../errors.ts';
import type { Hub } from '../realtime/hub.ts';
import * as blocks from '../repositories/blocks.ts';
import { contactExists } from '../repositories/contacts.ts';
import * as conversations from '../repositories/conversations.ts';
import { entriesOf, findEntry, type StoredEntry } from '../repositories/entries.ts';
import { digestOf } from '../repositories/entryDigest.ts';
import { markOccurrenceRead } from '../repositories/notifications.ts';
import { emptiedUpTo } from '../repositories/retention.ts';
import { type DeliveredWelcome, deleteDelivery, welcomesOf } from '../repositories/welcomes.ts';
import type { Appender } from './append/appender.ts';
import { AppendQueue } from './append/queue.ts';
import { commit } from './commit.ts';
import type { NewCommit, NewGroupMessage, NewMessage } from './newEntries.ts';
import { noSuchConversation } from './permissions.ts';
import { listReceipts, type NewReceipt, storeReceipt } from './receipts.ts';
import { send, sendToGroup } from './send.ts';
import { putTreeNodes, treeBelow } from './trees.ts';
import { type NewTyping, tellTyping } from './typing.ts';

export interface LogPage {
  readonly entries: readonly StoredEntry[];
  /** The caller's read position. */
  readonly readSeq: number;
  /** Entries up to here have been deleted but for their places: nobody needed them, or they were too old. */
  readonly emptiedSeq: number;
}

export interface LogPageRequest {
  readonly after?: number | undefined;
  readonly before?: number | undefined;
  readonly limit: number;
}

/** The use cases of messages, for every protocol. Every promise resolves after the database has committed. */
export interface Messaging {
  /**
   * Appends an application message to the direct conversation with its recipient, then tells every device of both. To
   * oneself, it goes to the conversation of one's own devices. Repeating a messageId answers the entry that exists. Messages of one sender to one conversation are appended in the
   * order of the calls.
   * @throws ApiError session-expired, forbidden (a recovery session), device-required, not-found, not-a-contact,
   *   stale-epoch (with the current epoch), message-id-taken
   */
  send(sender: Sender, message: NewMessage): Promise<SentMessage>;
  /**
   * Appends an application message to a group's conversation, then tells every device of its members.
   * @throws ApiError session-expired, forbidden (a recovery session), device-required, not-found, stale-epoch (with the
   *   current epoch), message-id-taken
   */
  sendToGroup(sender: Sender, message: NewGroupMessage): Promise<SentMessage>;
  /**
   * Appends a commit if it ends the current epoch, stores its GroupInfo and Welcomes with it, then tells
   * every device. Exactly one of several commits to one epoch succeeds.
   * @throws ApiError not-found, not-a-contact, stale-epoch (with the current epoch), invalid-request,
   *   forbidden unless the device has signed it
   */
  commit(sender: DeviceSession, conversationId: string, commit: NewCommit): Promise<SentMessage>;
  /**
   * Moves the receiver's read position up to a message, then tells their devices. Reading what is read already does
   * nothing. Others hear of it by the receipts of those devices alone.
   * @throws ApiError not-found unless this person received the message
   */
  markRead(userId: string, messageId: string): Promise<void>;
  /**
   * Overwrites a device's receipt, then tells who needs to know; one of an earlier epoch or position does nothing.
   * @throws ApiError not-found, forbidden unless the device has signed it, and in groups of too many people,
   *   invalid-request for a position that there isn't
   */
  putReceipt(sender: DeviceSession, conversationId: string, receipt: NewReceipt): Promise<void>;
  /**
   * Tells the devices of the others in a conversation, as far as they are connected now, that this person is writing, or no
   * longer. Nothing is stored, and nobody hears of it later.
   * @throws ApiError not-found, not-a-contact, forbidden in groups of too many people
   */
  tellTyping(sender: DeviceSession, conversationId: string, typing: NewTyping): Promise<void>;
  /** @throws ApiError not-found unless this person takes part */
  receipts(userId: string, conversationId: string): ReturnType<typeof listReceipts>;
  conversations(userId: string): Promise<conversations.ConversationRow[]>;
  /**
   * A page of the log of the direct conversation with a person, or with oneself of that of one's own devices; empty
   * before it has been started.
   * @throws ApiError not-found unless they are contacts or have talked
   */
  log(userId: string, otherId: string, page: LogPageRequest): Promise<LogPage>;
  /**
   * A page of the log of a group, from the commit that let this person in.
   * @throws ApiError not-found unless this person is a member
   */
  groupLog(userId: string, groupId: string, page: LogPageRequest): Promise<LogPage>;
  /**
   * Digests of a page of the log, ascending, from before this person joined too: they tell nothing of the entries.
   * @throws ApiError not-found unless this person takes part
   */
  digests(
    userId: string,
    conversationId: string,
    page: { readonly after: number; readonly before: number },
  ): Promise<{ seq: number; digest: Buffer }[]>;
  /**
   * Stores nodes of a group's ratchet tree, for a commit that will name its root.
   * @throws ApiError not-found unless this person is a member, invalid-request, missing-tree, quota
   */
  putTreeNodes(sender: DeviceSession, conversationId: string, nodes: Uint8Array): Promise<void>;
  /**
   * The tree below a root, as a ratchet_tree extension has it.
   * @throws ApiError not-found unless this person is a member and all of the tree is stored
   */
  tree(userId: string, conversationId: string, treeHash: string): Promise<Buffer>;
  /**
   * The current GroupInfo, with the hash of the tree that it names, in hexadecimal, or null.
   * @throws ApiError not-found unless this person takes part and the conversation has been started
   */
  groupInfo(
    userId: string,
    conversationId: string,
  ): Promise<{ epoch: number; groupInfo: Buffer; treeHash: string | null }>;
  /** A device's mailbox, oldest first; when it holds a lot, the rest comes once these are deleted. */
  welcomes(session: DeviceSession): Promise<DeliveredWelcome[]>;
  /** @throws ApiError not-found unless it is in this device's mailbox */
  deleteWelcome(deviceId: string, id: string): Promise<void>;
}

export interface MessagingDependencies {
  readonly db: Db;
  readonly appender: Appender;
  readonly hub: Hub;
  readonly clock: () => number;
}

/** Content bytes of one answer: 200 entries at their largest would not fit into memory. */
const maxPageBytes = 8 * 1024 * 1024;

export function createMessaging(dependencies: MessagingDependencies): Messaging {
  const { db, hub, clock, appender } = dependencies;
  const sending = { appends: new AppendQueue(appender, clock), hub };
  const emptiedOf = async (conversationId: string, entries: readonly StoredEntry[]) =>
    entries.some(({ digest }) => digest !== null) ? emptiedUpTo(db, conversationId) : 0;
  return {
    send: (sender, message) => send(sending, sender, message),
    sendToGroup: (sender, message) => sendToGroup(sending, sender, message),
    commit: (sender, conversationId, newCommit) => commit(dependencies, sender, conversationId, newCommit),

    async markRead(userId, messageId) {
      const moved = await db.transaction().execute(async (tx) => {
        const entry = await findEntry(tx, messageId);
        if (entry === null || entry.senderId === userId) throw noSuchMessage();
        const { conversationId, seq, senderId } = entry;
        if (!(await conversations.takesPart(tx, conversationId, userId))) throw noSuchMessage();
        const advanced = await conversations.advanceReadPosition(tx, { conversationId, userId, seq });
        if (groupOf(conversationId) === null) {
          const message = { type: 'message', userId, senderId } as const;
          await markOccurrenceRead(tx, message, { until: entry.createdAt, now: clock() });
        }
        return advanced ? { conversationId, seq } : null;
      });
      // A notification may have been marked as read all the same, of which no event tells.
      if (moved === null) return hub.signal({ type: 'notifications-changed', userIds: [userId] });
      hub.publishToUsers([userId], { type: 'delivered', messageId, readerId: userId, ...moved });
    },

    putReceipt: (sender, conversationId, receipt) =>
      storeReceipt(dependencies, sender, conversationId, receipt),
    tellTyping: (sender, conversationId, typing) => tellTyping(dependencies, sender, conversationId, typing),
    receipts: (userId, conversationId) => listReceipts(db, userId, conversationId),

    async conversations(userId) {
      const held = await blocks.heldFrom(db, userId);
      const all = await conversations.conversationsOf(db, userId);
      if (held.length === 0) return all;
      const seen = new Map(held.map((one) => [one.conversationId, one]));
      return all.flatMap((row) => {
        const { epoch = row.epoch, seq: lastSeq = row.lastSeq } = seen.get(row.id) ?? {};
        return lastSeq === 0 ? [] : [{ ...row, epoch, lastSeq }];
      });
    },

    async log(userId, otherId, page) {
      const isSelf = otherId === userId;
      const conversationId = isSelf ? selfConversationId(userId) : directConversationId(userId, otherId);
      const readSeq = await conversations.readPosition(db, conversationId, userId);
      if (!isSelf && readSeq === null && !(await contactExists(db, userId, otherId)))
        throw noSuchConversation();
      const before = await lowestHidden(db, userId, conversationId, page.before);
      const entries = await entriesOf(db, conversationId, { ...page, before, maxBytes: maxPageBytes });
      return { entries, readSeq: readSeq ?? 0, emptiedSeq: await emptiedOf(conversationId, entries) };
    },

    async groupLog(userId, groupId, page) {
      const conversationId = groupConversationId(groupId);
      const from = await conversations.joinedSeq(db, conversationId, userId);
      if (from === null) throw noSuchConversation();
      const [entries, readSeq] = await Promise.all([
        entriesOf(db, conversationId, { ...page, from, maxBytes: maxPageBytes }),
        conversations.readPosition(db, conversationId, userId),
      ]);
      return { entries, readSeq: readSeq ?? 0, emptiedSeq: await emptiedOf(conversationId, entries) };
    },

    async digests(userId, conversationId, page) {
      if (!(await conversations.takesPart(db, conversationId, userId))) throw noSuchConversation();
      const limit = limits.messagesPerPage;
      const before = await lowestHidden(db, userId, conversationId, page.before);
      const entries = await entriesOf(db, conversationId, { ...page, before, limit, maxBytes: maxPageBytes });
      return entries.map((entry) => ({ seq: entry.seq, digest: digestOf(entry) }));
    },

    putTreeNodes: (sender, conversationId, nodes) => putTreeNodes(db, sender, conversationId, nodes, clock()),
    tree: (userId, conversationId, treeHash) => treeBelow(db, userId, conversationId, treeHash),

    async groupInfo(userId, conversationId) {
      if (!(await conversations.takesPart(db, conversationId, userId))) throw noSuchConversation();
      const found = await conversations.findGroupInfo(db, conversationId);
      if (found === null || found.epoch === 0) throw noSuchConversation();
      // A device that enters by it would be beyond what is shown.
      if ((await heldIn(db, userId, conversationId)) !== undefined) throw noSuchConversation();
      return found;
    },

    async welcomes({ deviceId, userId }) {
      const held = (await blocks.heldFrom(db, userId)).map(({ conversationId }) => conversationId);
      const except = [...held, ...(await blocks.heldGroupsOf(db, userId))];
      return welcomesOf(db, deviceId, { except, maxBytes: maxPageBytes });
    },

    async deleteWelcome(deviceId, id) {
      const deleted = await db.transaction().execute((tx) => deleteDelivery(tx, id, deviceId));
      if (!deleted) throw new ApiError('not-found', 'There is no such Welcome.');
    },
  };
}

/** How far a direct conversation is shown to a person who has blocked the other; undefined where nothing of it is held back. */
async function heldIn(db: Db, userId: string, conversationId: string): Promise<blocks.Held | undefined> {
  return (await blocks.heldFrom(db, userId)).find((held) => held.conversationId === conversationId);
}

/** The position from which on a conversation is hidden from a person; `before` where nothing of it is held back. */
async function lowestHidden(
  db: Db,
  userId: string,
  conversationId: string,
  before: number | undefined,
): Promise<number | undefined> {
  const held = await heldIn(db, userId, conversationId);
  return held === undefined ? before : Math.min(before ?? Number.MAX_SAFE_INTEGER, held.seq + 1);
}

const noSuchMessage = () => new ApiError('not-found', 'There is no such message.');
