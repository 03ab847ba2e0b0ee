import type { SentMessage } from '../../contract/index.ts';
import type { DeviceSession } from '../auth/session.ts';
import type { Db } from '../db/tables.ts';
import { ApiError } from '../errors.ts';
import { findEpoch, takeSeq } from '../repositories/conversations.ts';
import { type EntryHead, type EntryRow, findEntry, insertEntry } from '../repositories/entries.ts';
import { insertNotification } from '../repositories/notifications.ts';
import { publishEntry } from './events.ts';
import type { MessageContent, MessagingDependencies } from './messaging.ts';
import { requireAudience } from './permissions.ts';

/** See Messaging.send and Messaging.sendToGroup. */
export async function send(
  { db, hub, clock }: MessagingDependencies,
  sender: DeviceSession,
  conversationId: string,
  message: MessageContent,
): Promise<SentMessage> {
  const outcome = await db.transaction().execute(async (tx) => {
    const known = await findEntry(tx, message.messageId);
    // Asked before anything else: a repeat answers as the first did, even if the two are no longer contacts.
    if (known !== null && isRepeat(known, conversationId, sender.userId)) {
      return { entry: known, appended: null };
    }
    const audience = await requireAudience(tx, conversationId, sender.userId);
    if (known !== null) throw new ApiError('message-id-taken', 'This message id is already in use.');

    const seq = await takeSeq(tx, conversationId, message.epoch);
    if (seq === null) {
      // The first of two repeats may have been stored since, and the epoch have moved.
      const arrived = await findEntry(tx, message.messageId);
      if (arrived !== null && isRepeat(arrived, conversationId, sender.userId)) {
        return { entry: arrived, appended: null };
      }
      throw await staleEpoch(tx, conversationId);
    }
    const entry: EntryRow = {
      conversationId,
      seq,
      id: message.messageId,
      kind: 'application',
      epoch: message.epoch,
      senderId: sender.userId,
      senderDeviceId: sender.deviceId,
      content: Buffer.from(message.content, 'base64url'),
      createdAt: clock(),
    };
    await insertEntry(tx, entry);
    if (audience.groupId === null) {
      for (const userId of audience.userIds.filter((id) => id !== sender.userId)) {
        const occurrence = { type: 'message', userId, senderId: sender.userId } as const;
        await insertNotification(tx, occurrence, entry.createdAt);
      }
    }
    return { entry, appended: { entry, audience } };
  });
  if (outcome.appended !== null) publishEntry(hub, outcome.appended.entry, outcome.appended.audience);
  return receipt(outcome.entry);
}

const isRepeat = (known: EntryHead, conversationId: string, senderId: string) =>
  known.kind === 'application' && known.conversationId === conversationId && known.senderId === senderId;

/** What the sender of an entry gets for it. */
export function receipt(entry: EntryHead): SentMessage {
  return {
    id: entry.id,
    seq: entry.seq,
    epoch: entry.epoch,
    timestamp: new Date(entry.createdAt).toISOString(),
  };
}

/** Carries the current epoch; 0 says that the conversation has yet to be started, by a commit. */
export async function staleEpoch(db: Db, conversationId: string): Promise<ApiError> {
  return new ApiError('stale-epoch', 'The conversation has moved on. Update and send again.', {
    epoch: (await findEpoch(db, conversationId)) ?? 0,
  });
}
