import type { Kysely, Migration } from 'kysely';
import type { ColumnTypes } from './0001-initial.ts';

export const revocations = (types: ColumnTypes): Migration => ({
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable('revoked_devices')
      .addColumn('device_id', 'text', (column) => column.primaryKey())
      .addColumn('user_id', 'text', (column) => column.notNull().references('users.id').onDelete('cascade'))
      // Signed by the account key: others remove the device because of it, not because the relay says so.
      .addColumn('statement', types.bytes, (column) => column.notNull())
      .addColumn('revoked_at', 'bigint', (column) => column.notNull())
      .execute();
    await db.schema.createIndex('revoked_devices_by_user').on('revoked_devices').column('user_id').execute();
  },
});
