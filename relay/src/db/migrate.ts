import { Migrator } from 'kysely';
import { type ColumnTypes, migrations } from '../../migrations/index.ts';
import type { Db } from './tables.ts';

/**
 * Brings the schema up to date, each migration in its own transaction.
 * @throws whatever the first failing migration threw; those before it stay applied
 */
export async function migrate(db: Db, types: ColumnTypes): Promise<void> {
  const migrator = new Migrator({ db, provider: { getMigrations: async () => migrations(types) } });
  const { error } = await migrator.migrateToLatest();
  if (error !== undefined) throw error;
}
