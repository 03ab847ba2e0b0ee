import type { Kysely, Migration } from 'kysely';
import type { ColumnTypes } from './0001-initial.ts';

export const signedNames = (types: ColumnTypes): Migration => ({
  async up(db: Kysely<unknown>) {
    // The username as a device of the person has signed it; null where none has.
    await db.schema.alterTable('users').addColumn('signed_name', types.bytes).execute();
  },
});
