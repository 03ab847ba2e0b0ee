import { type ColumnDataType, type Kysely, type Migration, sql } from 'kysely';

/** The names that databases disagree on. */
export interface ColumnTypes {
  readonly bytes: ColumnDataType;
}

/** Times are milliseconds since the epoch. `bigint` is 64-bit in PostgreSQL, and an integer to SQLite. */
export const initial = (types: ColumnTypes): Migration => ({
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable('users')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('username', 'text', (column) => column.notNull())
      // The keys are what is unique: normalised and lower-cased, so that names can't differ by case or encoding only.
      .addColumn('username_key', 'text', (column) => column.notNull().unique())
      .addColumn('email', 'text', (column) => column.notNull())
      .addColumn('email_key', 'text', (column) => column.notNull().unique())
      .addColumn('full_name', 'text', (column) => column.notNull())
      // Argon2id (PHC string) of the authKey. The three columns after it let the client derive that key again.
      .addColumn('password_hash', 'text', (column) => column.notNull())
      .addColumn('password_salt', types.bytes, (column) => column.notNull())
      .addColumn('password_ops_limit', 'bigint', (column) => column.notNull())
      .addColumn('password_mem_limit', 'bigint', (column) => column.notNull())
      .addColumn('consented_at', 'bigint', (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .execute();

    await db.schema
      .createTable('vaults')
      .addColumn('user_id', 'text', (column) =>
        column.primaryKey().references('users.id').onDelete('cascade'),
      )
      .addColumn('version', 'bigint', (column) => column.notNull())
      .addColumn('sealed_vault', types.bytes, (column) => column.notNull())
      .addColumn('password_wrap', types.bytes, (column) => column.notNull())
      .addColumn('recovery_wrap', types.bytes)
      .execute();

    await db.schema
      .createTable('devices')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('user_id', 'text', (column) => column.notNull().references('users.id').onDelete('cascade'))
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('certificate', types.bytes, (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addColumn('last_seen_at', 'bigint', (column) => column.notNull())
      .execute();
    await db.schema.createIndex('devices_by_user').on('devices').column('user_id').execute();

    await db.schema
      .createTable('sessions')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('user_id', 'text', (column) => column.notNull().references('users.id').onDelete('cascade'))
      .addColumn('device_id', 'text', (column) => column.references('devices.id').onDelete('cascade'))
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addColumn('expires_at', 'bigint', (column) => column.notNull())
      .addColumn('ended_at', 'bigint')
      .execute();
    await db.schema.createIndex('sessions_by_user').on('sessions').column('user_id').execute();
    await db.schema.createIndex('sessions_by_device').on('sessions').column('device_id').execute();

    await db.schema
      .createTable('key_packages')
      .addColumn('device_id', 'text', (column) =>
        column.notNull().references('devices.id').onDelete('cascade'),
      )
      // SHA-256 of the content: publishing one twice must not let it be claimed twice.
      .addColumn('reference', types.bytes, (column) => column.notNull())
      .addColumn('content', types.bytes, (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('key_packages_key', ['device_id', 'reference'])
      .execute();
    await db.schema
      .createTable('last_resort_key_packages')
      .addColumn('device_id', 'text', (column) =>
        column.primaryKey().references('devices.id').onDelete('cascade'),
      )
      .addColumn('content', types.bytes, (column) => column.notNull())
      .execute();

    await db.schema
      .createTable('contact_requests')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('from_user_id', 'text', (column) =>
        column.notNull().references('users.id').onDelete('cascade'),
      )
      .addColumn('to_user_id', 'text', (column) =>
        column.notNull().references('users.id').onDelete('cascade'),
      )
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addUniqueConstraint('contact_requests_once', ['from_user_id', 'to_user_id'])
      .execute();
    await db.schema
      .createIndex('contact_requests_by_receiver')
      .on('contact_requests')
      .column('to_user_id')
      .execute();

    // Two rows for two contacts, so that one index serves everybody's list.
    await db.schema
      .createTable('contacts')
      .addColumn('user_id', 'text', (column) => column.notNull().references('users.id').onDelete('cascade'))
      .addColumn('contact_id', 'text', (column) =>
        column.notNull().references('users.id').onDelete('cascade'),
      )
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('contacts_key', ['user_id', 'contact_id'])
      .execute();
    await db.schema.createIndex('contacts_by_contact').on('contacts').column('contact_id').execute();

    await db.schema
      .createTable('conversations')
      .addColumn('id', 'text', (column) => column.primaryKey())
      // The MLS epoch that the next entry must be made in, and the position of the last entry.
      .addColumn('epoch', 'bigint', (column) => column.notNull())
      .addColumn('last_seq', 'bigint', (column) => column.notNull())
      .addColumn('group_info', types.bytes, (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .execute();

    await db.schema
      .createTable('participants')
      .addColumn('conversation_id', 'text', (column) =>
        column.notNull().references('conversations.id').onDelete('cascade'),
      )
      .addColumn('user_id', 'text', (column) => column.notNull().references('users.id').onDelete('cascade'))
      // The last position that this person has read.
      .addColumn('read_seq', 'bigint', (column) => column.notNull().defaultTo(0))
      .addPrimaryKeyConstraint('participants_key', ['conversation_id', 'user_id'])
      .execute();
    await db.schema.createIndex('participants_by_user').on('participants').column('user_id').execute();

    await db.schema
      .createTable('entries')
      .addColumn('conversation_id', 'text', (column) =>
        column.notNull().references('conversations.id').onDelete('cascade'),
      )
      .addColumn('seq', 'bigint', (column) => column.notNull())
      .addColumn('id', 'text', (column) => column.notNull().unique())
      .addColumn('kind', 'text', (column) => column.notNull().check(sql`kind in ('application', 'commit')`))
      // An application message's own epoch; the epoch that a commit ends.
      .addColumn('epoch', 'bigint', (column) => column.notNull())
      // Not foreign keys: the log outlives the devices that wrote it.
      .addColumn('sender_id', 'text', (column) => column.notNull())
      .addColumn('sender_device_id', 'text', (column) => column.notNull())
      .addColumn('content', types.bytes, (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('entries_key', ['conversation_id', 'seq'])
      .execute();

    await db.schema
      .createTable('welcomes')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('conversation_id', 'text', (column) =>
        column.notNull().references('conversations.id').onDelete('cascade'),
      )
      // The epoch it lets its readers into, and the position of the commit that added them.
      .addColumn('epoch', 'bigint', (column) => column.notNull())
      .addColumn('seq', 'bigint', (column) => column.notNull())
      .addColumn('content', types.bytes, (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .execute();
    await db.schema
      .createIndex('welcomes_by_conversation')
      .on('welcomes')
      .column('conversation_id')
      .execute();

    // The devices' mailboxes: one Welcome serves many devices and is stored once.
    await db.schema
      .createTable('welcome_deliveries')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('welcome_id', 'text', (column) =>
        column.notNull().references('welcomes.id').onDelete('cascade'),
      )
      .addColumn('device_id', 'text', (column) =>
        column.notNull().references('devices.id').onDelete('cascade'),
      )
      .addUniqueConstraint('welcome_deliveries_once', ['device_id', 'welcome_id'])
      .execute();
    await db.schema
      .createIndex('welcome_deliveries_by_welcome')
      .on('welcome_deliveries')
      .column('welcome_id')
      .execute();
  },
});
