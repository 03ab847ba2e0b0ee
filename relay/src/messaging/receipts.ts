import { directParticipants, groupOf, limits, type Receipt } from '../../contract/index.ts';
import type { DeviceSession } from '../auth/session.ts';
import type { Db } from '../db/tables.ts';
import { requireSignedReceipt } from '../devices/deviceSignatures.ts';
import { ApiError } from '../errors.ts';
import type { Hub } from '../realtime/hub.ts';
import { hasBlocked } from '../repositories/blocks.ts';
import { findReach, participantIds, takesPart } from '../repositories/conversations.ts';
import { lockDevice } from '../repositories/devices.ts';
import { putReceipt, type ReceiptRow, receiptsOf } from '../repositories/receipts.ts';
import { noSuchConversation } from './permissions.ts';

/** A receipt as its device hands it over; byte strings are base64url. */
export type NewReceipt = Omit<Receipt, 'userId' | 'deviceId'>;

/** See Messaging.putReceipt. */
export async function storeReceipt(
  { db, hub }: { readonly db: Db; readonly hub: Hub },
  session: DeviceSession,
  conversationId: string,
  receipt: NewReceipt,
): Promise<void> {
  const { deviceId, userId } = session;
  const row: ReceiptRow = {
    deviceId,
    epoch: receipt.epoch,
    position: receipt.position,
    sealed: Buffer.from(receipt.sealed, 'base64url'),
    signature: Buffer.from(receipt.signature, 'base64url'),
  };
  if (!(await takesPart(db, conversationId, userId))) throw noSuchConversation();
  await requireSignedReceipt(db, session, conversationId, row);
  const toldIds = await db.transaction().execute(async (tx) => {
    await lockDevice(tx, deviceId);
    const userIds = await participantIds(tx, conversationId);
    if (!userIds.includes(userId)) throw noSuchConversation();
    if (userIds.length > limits.peopleWithReceipts) {
      throw new ApiError('forbidden', 'There are no receipts in groups of this size.');
    }
    const reach = await findReach(tx, conversationId);
    if (reach === null || row.epoch > reach.epoch || row.position > reach.lastSeq) {
      throw new ApiError('invalid-request', 'position: the conversation has not come that far.');
    }
    const otherId = (directParticipants(conversationId) ?? []).find((id) => id !== userId);
    // Somebody who is blocked learns nothing more of what was read, and tells nothing.
    if (otherId !== undefined && (await hasBlocked(tx, userId, otherId))) return [];
    if (!(await putReceipt(tx, conversationId, row))) return [];
    const isBlocked = otherId !== undefined && (await hasBlocked(tx, otherId, userId));
    return isBlocked ? [userId] : userIds;
  });
  if (toldIds.length === 0) return;
  const event = { type: 'receipt', conversationId, userId, deviceId, ...receipt } as const;
  const groupId = groupOf(conversationId);
  // In a group only people who have its chat open are told: the others ask when they open it.
  if (groupId === null) hub.publishToUsers(toldIds, event);
  else hub.publishToGroup(groupId, event);
}

/** See Messaging.receipts. */
export async function listReceipts(
  db: Db,
  userId: string,
  conversationId: string,
): Promise<(ReceiptRow & { readonly userId: string })[]> {
  if (!(await takesPart(db, conversationId, userId))) throw noSuchConversation();
  return receiptsOf(db, conversationId);
}
