import type { Kysely, Migration } from 'kysely';
import type { ColumnTypes } from './0001-initial.ts';

/** Emails that their owners have verified, and the codes by which they do. */
export const verifiedEmails = ({ bytes }: ColumnTypes): Migration => ({
  async up(db: Kysely<unknown>) {
    // Milliseconds since the epoch; null until then.
    await db.schema.alterTable('users').addColumn('email_verified_at', 'bigint').execute();
    await db.schema
      .createTable('email_codes')
      .addColumn('user_id', 'text', (column) =>
        column.primaryKey().references('users.id').onDelete('cascade'),
      )
      // The account's email, or the one that is to replace it.
      .addColumn('email', 'text', (column) => column.notNull())
      .addColumn('email_key', 'text', (column) => column.notNull())
      // Under a key that the database does not have: eight digits are soon tried.
      .addColumn('code_hash', bytes, (column) => column.notNull())
      .addColumn('wrong_tries', 'bigint', (column) => column.notNull().defaultTo(0))
      .addColumn('expires_at', 'bigint', (column) => column.notNull())
      .execute();
  },
});
