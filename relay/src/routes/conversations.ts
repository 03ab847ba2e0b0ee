import type { LogEntry } from '../../contract/index.ts';
import type { Handlers } from '../http/contractRoutes.ts';
import type { StoredEntry } from '../repositories/entries.ts';
import type { Services } from '../services.ts';
import { text, time } from './encoding.ts';

type ConversationHandlers = Pick<
  Handlers,
  | 'listConversations'
  | 'listUserMessages'
  | 'listDigests'
  | 'sendUserMessage'
  | 'listGroupMessages'
  | 'sendGroupMessage'
  | 'markDelivered'
  | 'submitCommit'
  | 'getGroupInfo'
  | 'listWelcomes'
  | 'deleteWelcome'
>;

export function conversationHandlers({ messaging }: Services): ConversationHandlers {
  return {
    listConversations: async ({ session }) =>
      (await messaging.conversations(session.userId)).map(({ id, ...conversation }) => ({
        conversationId: id,
        ...conversation,
      })),

    listUserMessages: async ({ session, params, query }) => {
      const page = await messaging.log(session.userId, params.id, query);
      return page.entries.map((entry) => {
        const receiverId = entry.senderId === session.userId ? params.id : session.userId;
        const isRead = entry.seq <= (page.readPositions.get(receiverId) ?? 0);
        return entryOf(entry, { receiverId, groupId: null, isRead });
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
      const { entries, readPositions } = await messaging.groupLog(session.userId, params.id, query);
      const own = readPositions.get(session.userId) ?? 0;
      const others = [...readPositions].filter(([userId]) => userId !== session.userId);
      const everyone = others.length === 0 ? 0 : Math.min(...others.map(([, seq]) => seq));
      return entries.map((entry) => {
        const isRead = entry.seq <= (entry.senderId === session.userId ? everyone : own);
        return entryOf(entry, { receiverId: null, groupId: params.id, isRead });
      });
    },

    sendGroupMessage: ({ session, params, body }) =>
      messaging.sendToGroup(session, { ...body, groupId: params.id }),

    markDelivered: ({ session, params }) => messaging.markRead(session.userId, params.id),

    submitCommit: ({ session, params, body }) => messaging.commit(session, params.conversationId, body),

    getGroupInfo: async ({ session, params }) => {
      const { epoch, groupInfo } = await messaging.groupInfo(session.userId, params.conversationId);
      return { epoch, groupInfo: text(groupInfo) };
    },

    listWelcomes: async ({ session }) =>
      (await messaging.welcomes(session.deviceId)).map(({ content, ...welcome }) => ({
        ...welcome,
        welcome: text(content),
      })),

    deleteWelcome: ({ session, params }) => messaging.deleteWelcome(session.deviceId, params.id),
  };
}

function entryOf(
  entry: StoredEntry,
  to: { receiverId: string | null; groupId: string | null; isRead: boolean },
): LogEntry {
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
    content: text(entry.content),
    timestamp: time(entry.createdAt),
    created_at: time(entry.createdAt),
    // The product has one call for both: what has reached a person is what they have read.
    delivered: to.isRead,
    is_read: to.isRead,
    ...(entry.digest === null ? {} : { digest: text(entry.digest) }),
  };
}
