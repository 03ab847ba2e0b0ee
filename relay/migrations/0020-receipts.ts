import type { Kysely, Migration } from 'kysely';
import type { ColumnTypes } from './0001-initial.ts';

/** How far each device has received a conversation: one row, which the next one overwrites. */
export const receipts = (types: ColumnTypes): Migration => ({
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable('receipts')
      .addColumn('conversation_id', 'text', (column) =>
        column.notNull().references('conversations.id').onDelete('cascade'),
      )
      .addColumn('device_id', 'text', (column) =>
        column.notNull().references('devices.id').onDelete('cascade'),
      )
      .addColumn('epoch', 'bigint', (column) => column.notNull())
      .addColumn('position', 'bigint', (column) => column.notNull())
      .addColumn('sealed', types.bytes, (column) => column.notNull())
      .addColumn('signature', types.bytes, (column) => column.notNull())
      .addPrimaryKeyConstraint('receipts_key', ['conversation_id', 'device_id'])
      .execute();
    await db.schema.createIndex('receipts_by_device').on('receipts').column('device_id').execute();
  },
});
