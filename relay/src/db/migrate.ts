import { Migrator, sql } from 'kysely';
import { type ColumnTypes, migrations } from '../../migrations/index.ts';
import { StartupError } from '../errors.ts';
import type { Db } from './tables.ts';

const migrationTable = 'kysely_migration';

/**
 * Brings the schema up to date: all of the new migrations, or none. Relays that start at the same time take turns.
 * @throws StartupError if a newer relay has changed the schema; otherwise whatever the first failing migration threw
 */
export async function migrate(db: Db, types: ColumnTypes): Promise<void> {
  const known = migrations(types);
  const unknown = (await appliedMigrations(db)).find((name) => !(name in known));
  if (unknown !== undefined) {
    throw new StartupError(
      `The database was changed by a newer relay (${unknown}), and this one would damage it. ` +
        'Start the newer one, or restore the backup from before the update.',
    );
  }
  const provider = { getMigrations: async () => known };
  const { error } = await new Migrator({
    db,
    provider,
    migrationTableName: migrationTable,
  }).migrateToLatest();
  if (error !== undefined) throw error;
}

/** @throws StartupError unless the schema is of this version */
export async function requireCurrent(db: Db): Promise<void> {
  const applied = new Set(await appliedMigrations(db));
  const known = Object.keys(migrations({ bytes: 'blob' }));
  if (applied.size === known.length && known.every((name) => applied.has(name))) return;
  throw new StartupError(
    'The database is of another version than this program. Start the relay of this version first.',
  );
}

/** The name of the last migration that this program knows. */
export const knownSchema = (): string => Object.keys(migrations({ bytes: 'blob' })).at(-1) ?? '';

async function appliedMigrations(db: Db): Promise<string[]> {
  const tables = await db.introspection.getTables({ withInternalKyselyTables: true });
  if (!tables.some(({ name }) => name === migrationTable)) return [];
  const { rows } = await sql<{ name: string }>`select name from ${sql.table(migrationTable)}`.execute(db);
  return rows.map(({ name }) => name).toSorted();
}
