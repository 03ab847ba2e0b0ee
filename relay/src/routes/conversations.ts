import type { LogEntry } from '../../contract/index.ts';
import type { Handlers } from '../http/contractRoutes.ts';
import { fromHex } from '../messaging/trees.ts';
import type { StoredEntry } from '../repositories/entries.ts';
import { withoutContent } from '../repositories/entryDigest.ts';
import type { Services } from '../services.ts';
import { text, time } from './encoding.ts';

export function conversationHandlers({ messaging, rateLimiter }: Services) {
  return {
    listConversations: async ({ session }) =>
      (await messaging.conversations(session.userId)).map(({ id, ...conversation }) => ({
        conversationId: id,
        ...conversation,
        peerReadSeq: null,
      })),

    listUserMessages: async ({ session, params, query }) => {
      const { emptiedSeq, entries, readSeq } = await messaging.log(session.userId, params.id, query);
      return entries.map((entry) => {
        const isOwn = entry.senderId === session.userId;
        const receiverId = isOwn ? params.id : session.userId;
        return entryOf(entry, {
          receiverId,
          groupId: null,
          isRead: !isOwn && entry.seq <= readSeq,
          emptiedSeq,
          digestOf: query.digestOf,
        });
      });
    },

    listDigests: async ({ session, params, query }) =>
      (await messaging.digests(session.userId, params.conversationId, query)).map(({ seq, digest }) => ({
        seq,
        digest: text(digest),
      })),

    sendUserMessage: ({ session, params, body }) =>
      messaging.send(session, { ...body, recipientId: params.id }),

    listGroupMessages: async ({ session, params, query }) => {
      const { emptiedSeq, entries, readSeq } = await messaging.groupLog(session.userId, params.id, query);
      return entries.map((entry) => {
        const isRead = entry.senderId !== session.userId && entry.seq <= readSeq;
        const { digestOf } = query;
        return entryOf(entry, { receiverId: null, groupId: params.id, isRead, emptiedSeq, digestOf });
      });
    },

    sendGroupMessage: ({ session, params, body }) =>
      messaging.sendToGroup(session, { ...body, groupId: params.id }),

    markDelivered: ({ session, params }) => messaging.markRead(session.userId, params.id),

    putReceipt: ({ session, params, body }) => messaging.putReceipt(session, params.conversationId, body),

    listReceipts: async ({ session, params }) =>
      (await messaging.receipts(session.userId, params.conversationId)).map(
        ({ sealed, signature, ...receipt }) => ({
          ...receipt,
          sealed: text(sealed),
          signature: text(signature),
        }),
      ),

    submitCommit: async ({ session, params: { conversationId }, body }) => {
      // A member's client that breaks, or means harm, would have all others follow it from epoch to epoch.
      await rateLimiter.take(['commit.account-conversation', `${session.userId} ${conversationId}`]);
      return messaging.commit(session, conversationId, body);
    },

    getGroupInfo: async ({ session, params }) => {
      const { epoch, groupInfo, treeHash } = await messaging.groupInfo(session.userId, params.conversationId);
      return { epoch, groupInfo: text(groupInfo), ...named(treeHash) };
    },

    putTreeNodes: ({ session, params, body }) => messaging.putTreeNodes(session, params.conversationId, body),

    getTree: async ({ session, params }) => {
      // Its own copy: a schema that asks for bytes of a buffer of their own is one that a browser's are, too.
      return new Uint8Array(await messaging.tree(session.userId, params.conversationId, params.treeHash));
    },

    listWelcomes: async ({ session }) =>
      (await messaging.welcomes(session)).map(({ content, treeHash, ...welcome }) => ({
        ...welcome,
        welcome: text(content),
        ...named(treeHash),
      })),

    deleteWelcome: ({ session, params }) => messaging.deleteWelcome(session.deviceId, params.id),
  } satisfies Partial<Handlers>;
}

/** @param treeHash in hexadecimal; null for a tree that is named by nothing */
const named = (treeHash: string | null) => (treeHash === null ? {} : { treeHash: fromHex(treeHash) });

function entryOf(
  entry: StoredEntry,
  to: {
    receiverId: string | null;
    groupId: string | null;
    isRead: boolean;
    emptiedSeq: number;
    digestOf: number | undefined;
  },
): LogEntry {
  const { content, digest } = entry.seq === to.digestOf ? withoutContent(entry) : entry;
  return {
    id: entry.id,
    conversationId: entry.conversationId,
    seq: entry.seq,
    epoch: entry.epoch,
    kind: entry.kind,
    sender_id: entry.senderId,
    sender_device_id: entry.senderDeviceId,
    receiver_id: to.receiverId,
    group_id: to.groupId,
    content: text(content),
    timestamp: time(entry.createdAt),
    created_at: time(entry.createdAt),
    // The product has one call for both: what has reached a person is what they have read.
    delivered: to.isRead,
    is_read: to.isRead,
    ...(digest === null ? {} : { digest: text(digest) }),
    ...(entry.content.length === 0 && entry.seq <= to.emptiedSeq ? { expired: true } : {}),
  };
}
