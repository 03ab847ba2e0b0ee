import type { Kysely, Migration } from 'kysely';
import type { ColumnTypes } from './0001-initial.ts';

/** The ratchet trees of groups, apart from the GroupInfos and Welcomes that name them. */
export const trees = (types: ColumnTypes): Migration => ({
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable('trees')
      .addColumn('conversation_id', 'text', (column) =>
        column.primaryKey().references('conversations.id').onDelete('cascade'),
      )
      // The hash that the GroupInfo names, in hexadecimal. Null where the tree is in the GroupInfo.
      .addColumn('tree_hash', 'text')
      // Content of all nodes that are stored.
      .addColumn('bytes', 'bigint', (column) => column.notNull())
      // Since when there may be nodes that nothing names; null where there are none.
      .addColumn('changed_at', 'bigint')
      .execute();
    await db.schema
      .createTable('tree_nodes')
      .addColumn('conversation_id', 'text', (column) =>
        column.notNull().references('trees.conversation_id').onDelete('cascade'),
      )
      // SHA-256 of the content, in hexadecimal.
      .addColumn('hash', 'text', (column) => column.notNull())
      // Height above the leaves, and the first leaf below.
      .addColumn('level', 'integer', (column) => column.notNull())
      .addColumn('first_leaf', 'integer', (column) => column.notNull())
      // Both hashes, one after the other; null for a leaf.
      .addColumn('children', 'text')
      .addColumn('content', types.bytes, (column) => column.notNull())
      // When somebody brought it last.
      .addColumn('stored_at', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('tree_nodes_key', ['conversation_id', 'hash'])
      .execute();
    await db.schema.alterTable('welcomes').addColumn('tree_hash', 'text').execute();
    await db.schema
      .createIndex('welcomes_by_tree')
      .on('welcomes')
      .columns(['conversation_id', 'tree_hash'])
      .execute();
  },
});
