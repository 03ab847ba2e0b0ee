import type { Db } from '../db/tables.ts';

export interface ReceiptRow {
  readonly deviceId: string;
  readonly epoch: number;
  readonly position: number;
  readonly sealed: Buffer;
  readonly signature: Buffer;
}

/** Overwrites a device's receipt; false where the present one is the same, or of a later epoch or position. */
export async function putReceipt(db: Db, conversationId: string, receipt: ReceiptRow): Promise<boolean> {
  const { deviceId, epoch, position, sealed, signature } = receipt;
  const row = { epoch, position, sealed, signature };
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('receipts')
    .values({ conversation_id: conversationId, device_id: deviceId, ...row })
    .onConflict((conflict) =>
      conflict
        .columns(['conversation_id', 'device_id'])
        .doUpdateSet(row)
        .where('receipts.epoch', '<=', epoch)
        .where('receipts.position', '<=', position)
        .where((present) =>
          present.or([
            present('receipts.epoch', '<', epoch),
            present('receipts.position', '<', position),
            present('receipts.sealed', '<>', sealed),
            present('receipts.signature', '<>', signature),
          ]),
        ),
    )
    .executeTakeFirstOrThrow();
  return numInsertedOrUpdatedRows === 1n;
}

export async function receiptsOf(
  db: Db,
  conversationId: string,
): Promise<(ReceiptRow & { readonly userId: string })[]> {
  const rows = await db
    .selectFrom('receipts')
    .innerJoin('devices', 'devices.id', 'receipts.device_id')
    .select(['devices.user_id', 'device_id', 'epoch', 'position', 'sealed', 'signature'])
    .where('conversation_id', '=', conversationId)
    .orderBy('device_id')
    .execute();
  return rows.map(({ device_id, user_id, ...row }) => ({ userId: user_id, deviceId: device_id, ...row }));
}

/** Deletes the receipts of a person who has no part in the conversation any more. */
export async function deleteReceiptsOf(db: Db, conversationId: string, userId: string): Promise<void> {
  await db
    .deleteFrom('receipts')
    .where('conversation_id', '=', conversationId)
    .where('device_id', 'in', (query) =>
      query.selectFrom('devices').select('id').where('user_id', '=', userId),
    )
    .execute();
}
