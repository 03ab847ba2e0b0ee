import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type Kysely,
  type QueryResult,
  SelectQueryNode,
  SqliteAdapter,
  SqliteIntrospector,
  type SqliteQueryCompiler,
} from 'kysely';
import { WithoutRowLocks } from './rowLocks.ts';
import type { SqliteThread } from './thread/client.ts';
import type { ThreadResult } from './thread/protocol.ts';

/** A thread of SQLite, as far as a connection asks it. */
type Asked = Pick<SqliteThread, 'call'>;

/** Gives the thread that a connection is to ask. */
export type ThreadSource = () => Asked | Promise<Asked>;

/** Kysely on a thread of SQLite. */
export class SqliteDialect implements Dialect {
  readonly #thread: ThreadSource;

  constructor(thread: ThreadSource) {
    this.#thread = thread;
  }

  createDriver(): Driver {
    return new SqliteDriver(this.#thread);
  }

  createAdapter(): SqliteAdapter {
    return new TransactionalDdlAdapter();
  }

  createIntrospector(db: Kysely<unknown>): SqliteIntrospector {
    return new SqliteIntrospector(db);
  }

  createQueryCompiler(): SqliteQueryCompiler {
    return new WithoutRowLocks();
  }
}

/** SQLite undoes changes of the schema like any others. Kysely's own adapter says otherwise. */
class TransactionalDdlAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

class SqliteDriver implements Driver {
  readonly #thread: ThreadSource;

  constructor(thread: ThreadSource) {
    this.#thread = thread;
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<SqliteConnection> {
    return new SqliteConnection(await this.#thread());
  }

  beginTransaction(connection: SqliteConnection): Promise<void> {
    return connection.begin();
  }

  commitTransaction(connection: SqliteConnection): Promise<void> {
    return connection.commit();
  }

  rollbackTransaction(connection: SqliteConnection): Promise<void> {
    return connection.rollback();
  }

  async releaseConnection(): Promise<void> {}

  /** The threads are their opener's to close. */
  async destroy(): Promise<void> {}
}

/** Stands for a connection in Kysely: any number of them share the thread's two. */
class SqliteConnection implements DatabaseConnection {
  readonly #thread: Asked;
  #hasTurn = false;

  constructor(thread: Asked) {
    this.#thread = thread;
  }

  async begin(): Promise<void> {
    await this.#thread.call('begin');
    this.#hasTurn = true;
  }

  async commit(): Promise<void> {
    this.#hasTurn = false;
    await this.#thread.call('commit');
  }

  /** Kysely rolls back after a commit that has failed, too; then there is nothing left to undo. */
  async rollback(): Promise<void> {
    if (!this.#hasTurn) return;
    this.#hasTurn = false;
    await this.#thread.call('rollback');
  }

  async executeQuery<Row>({ sql, parameters, query }: CompiledQuery): Promise<QueryResult<Row>> {
    const bound = { sql, parameters: bindable(parameters) };
    if (this.#hasTurn) return toQueryResult(await this.#thread.call('write', bound));
    const name = SelectQueryNode.is(query) ? 'read' : 'writeAlone';
    return toQueryResult(await this.#thread.call(name, bound));
  }

  // oxlint-disable-next-line require-yield
  async *streamQuery(): AsyncIterableIterator<never> {
    throw new Error('Pages are read, not streams.');
  }
}

/**
 * Parameters that the driver can take: given a boolean it ends the whole process, undefined it stores as null, and a
 * text it cuts at the first NUL. All three are defects of ours, since no schema lets them in.
 */
function bindable(parameters: readonly unknown[]): unknown[] {
  return parameters.map((value) => {
    if (value instanceof Uint8Array) return ownBytes(value);
    const takes =
      value === null || typeof value === 'number' || (typeof value === 'string' && !value.includes('\0'));
    if (!takes) throw new TypeError(`The database can't take this ${typeof value}.`);
    return value;
  });
}

/** Copies a view of a larger buffer, because cloning it to a thread would copy the whole buffer. */
function ownBytes(bytes: Uint8Array): Uint8Array {
  return bytes.byteLength === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes);
}

function toQueryResult<Row>({ rows, ...changes }: ThreadResult): QueryResult<Row> {
  return { ...changes, rows: rows.map((row) => withBuffers(row) as Row) };
}

function withBuffers(row: unknown): Record<string, unknown> {
  const values = row as Record<string, unknown>;
  for (const column in values) {
    const value = values[column];
    if (value instanceof ArrayBuffer) values[column] = Buffer.from(value);
  }
  return values;
}
