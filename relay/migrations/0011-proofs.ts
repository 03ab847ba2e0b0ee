import type { Kysely, Migration } from 'kysely';
import type { ColumnTypes } from './0001-initial.ts';

export const proofs = (types: ColumnTypes): Migration => ({
  async up(db: Kysely<unknown>) {
    // Ed25519 public keys by which proofs are verified; null for an account from before there were any.
    await db.schema.alterTable('users').addColumn('proof_key', types.bytes).execute();
    await db.schema.alterTable('vaults').addColumn('recovery_proof_key', types.bytes).execute();
    // In the database, so that a nonce that one relay has given is used once at all of them.
    await db.schema
      .createTable('proof_nonces')
      .addColumn('nonce', types.bytes, (column) => column.primaryKey())
      .addColumn('session_id', 'text', (column) =>
        column.notNull().references('sessions.id').onDelete('cascade'),
      )
      .addColumn('expires_at', 'bigint', (column) => column.notNull())
      .execute();
    await db.schema.createIndex('proof_nonces_by_session').on('proof_nonces').column('session_id').execute();
    // The vault before the present one, so that one that was replaced against the person's will isn't lost.
    await db.schema
      .createTable('former_vaults')
      .addColumn('user_id', 'text', (column) =>
        column.primaryKey().references('users.id').onDelete('cascade'),
      )
      .addColumn('version', 'bigint', (column) => column.notNull())
      .addColumn('sealed_vault', types.bytes, (column) => column.notNull())
      .addColumn('password_wrap', types.bytes, (column) => column.notNull())
      .addColumn('recovery_wrap', types.bytes)
      .addColumn('replaced_at', 'bigint', (column) => column.notNull())
      .execute();
  },
});
