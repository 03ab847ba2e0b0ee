import { randomUUID } from 'node:crypto';
import type { SentMessage } from '../../contract/index.ts';
import type { DeviceSession } from '../auth/session.ts';
import type { Db } from '../db/tables.ts';
import { ApiError } from '../errors.ts';
import { insertConversation, takeSeqAndEndEpoch } from '../repositories/conversations.ts';
import { deviceIdsOf } from '../repositories/devices.ts';
import { type EntryRow, insertEntry } from '../repositories/entries.ts';
import { insertWelcome } from '../repositories/welcomes.ts';
import { entryEvent } from './events.ts';
import type { MessagingDependencies, NewCommit } from './messaging.ts';
import { otherParticipant, requireContact } from './permissions.ts';
import { receipt, staleEpoch } from './send.ts';

/** See Messaging.commit. */
export async function commit(
  { db, hub, clock }: MessagingDependencies,
  sender: DeviceSession,
  conversationId: string,
  newCommit: NewCommit,
): Promise<SentMessage> {
  const otherId = otherParticipant(conversationId, sender.userId);
  const userIds = [sender.userId, otherId];
  const entry = await db.transaction().execute(async (tx): Promise<EntryRow> => {
    await requireContact(tx, sender.userId, otherId);
    await requireDevices(tx, userIds, newCommit);

    const now = clock();
    const groupInfo = Buffer.from(newCommit.groupInfo, 'base64url');
    const started =
      newCommit.epoch === 0 &&
      (await insertConversation(tx, { id: conversationId, userIds, groupInfo, now }));
    const seq = started ? 1 : await takeSeqAndEndEpoch(tx, conversationId, newCommit.epoch, groupInfo);
    if (seq === null) throw await staleEpoch(tx, conversationId);

    const appended: EntryRow = {
      conversationId,
      seq,
      id: randomUUID(),
      kind: 'commit',
      epoch: newCommit.epoch,
      senderId: sender.userId,
      senderDeviceId: sender.deviceId,
      content: Buffer.from(newCommit.commit, 'base64url'),
      createdAt: now,
    };
    await insertEntry(tx, appended);
    for (const { deviceIds, welcome } of newCommit.welcomes) {
      const content = Buffer.from(welcome, 'base64url');
      await insertWelcome(tx, { conversationId, epoch: newCommit.epoch + 1, seq, content, deviceIds }, now);
    }
    return appended;
  });

  // The Welcome first: a device that it lets in can't process the commit.
  if (newCommit.welcomes.length > 0) hub.publishToUsers(userIds, { type: 'welcome', conversationId });
  hub.publishToUsers(userIds, entryEvent(entry));
  return receipt(entry);
}

/** A Welcome for a device that is none of theirs would wait in a stranger's mailbox, or in nobody's. */
async function requireDevices(db: Db, userIds: readonly string[], newCommit: NewCommit): Promise<void> {
  const welcomed = newCommit.welcomes.flatMap(({ deviceIds }) => deviceIds);
  if (welcomed.length === 0) return;
  const known = await deviceIdsOf(db, userIds);
  if (welcomed.some((id) => !known.has(id)) || new Set(welcomed).size !== welcomed.length) {
    throw new ApiError(
      'invalid-request',
      'welcomes: every device must belong to a participant and be listed once.',
    );
  }
}
