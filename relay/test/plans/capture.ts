import {
  type CompiledQuery,
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
} from 'kysely';
import { WithoutRowLocks } from '../../src/db/sqlite/rowLocks.ts';
import type { Db, Tables } from '../../src/db/tables.ts';

export type Dialect = 'sqlite' | 'postgres';

/** Answers every query with the same rows, and keeps it. */
class CapturingDriver extends DummyDriver {
  readonly queries: CompiledQuery[] = [];
  readonly #rows: readonly unknown[];

  constructor(rows: readonly unknown[]) {
    super();
    this.#rows = rows;
  }

  override async acquireConnection() {
    return {
      executeQuery: async (query: CompiledQuery): Promise<QueryResult<never>> => {
        this.queries.push(query);
        return { rows: this.#rows as never[] };
      },
      async *streamQuery(): AsyncGenerator<never> {},
    };
  }
}

/**
 * Captures the queries of a repository, without a database.
 * @param rows the answer to each query
 */
export async function queriesOf(
  dialect: Dialect,
  rows: readonly unknown[],
  ask: (db: Db) => Promise<unknown>,
): Promise<readonly CompiledQuery[]> {
  const driver = new CapturingDriver(rows);
  const db = new Kysely<Tables>({
    dialect: {
      createDriver: () => driver,
      createAdapter: () => (dialect === 'sqlite' ? new SqliteAdapter() : new PostgresAdapter()),
      createQueryCompiler: () => (dialect === 'sqlite' ? new WithoutRowLocks() : new PostgresQueryCompiler()),
      createIntrospector: (of) =>
        dialect === 'sqlite' ? new SqliteIntrospector(of) : new PostgresIntrospector(of),
    },
  });
  await ask(db);
  return driver.queries;
}
