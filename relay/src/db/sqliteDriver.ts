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
import { GroupCommit } from './groupCommit.ts';
import { WithoutRowLocks } from './rowLocks.ts';
import type { SqliteFile } from './sqliteFile.ts';
import { WriteAheadLog } from './writeAheadLog.ts';

/** Two connections to one database file. */
export interface SqliteFiles {
  /** Holds every transaction, and every statement that may write. */
  readonly writer: SqliteFile;
  /** Sees what is on disk, and nothing else. */
  readonly reader: SqliteFile;
}

/** Kysely on SQLite with group commit. */
export class SqliteDialect implements Dialect {
  readonly #openFiles: () => SqliteFiles;

  constructor(openFiles: () => SqliteFiles) {
    this.#openFiles = openFiles;
  }

  createDriver(): Driver {
    return new SqliteDriver(this.#openFiles);
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
  readonly #openFiles: () => SqliteFiles;
  #open: { readonly files: SqliteFiles; readonly log: WriteAheadLog; readonly group: GroupCommit } | null =
    null;

  constructor(openFiles: () => SqliteFiles) {
    this.#openFiles = openFiles;
  }

  async init(): Promise<void> {
    const files = this.#openFiles();
    const log = new WriteAheadLog(files.writer.file, files.reader);
    this.#open = { files, log, group: new GroupCommit(files.writer, log) };
  }

  async acquireConnection(): Promise<SqliteConnection> {
    if (this.#open === null) throw new Error('The database is not open.');
    return new SqliteConnection(this.#open.files, this.#open.group);
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

  async destroy(): Promise<void> {
    if (this.#open === null) return;
    const { files, log, group } = this.#open;
    this.#open = null;
    await group.settled();
    log.close();
    files.reader.close();
    // The binding's statements outlive its connection, which keeps SQLite from doing this by itself.
    files.writer.pragma('wal_checkpoint(TRUNCATE)');
    files.writer.close();
  }
}

/** What Kysely takes for a connection: any number of them share the two files. */
class SqliteConnection implements DatabaseConnection {
  readonly #files: SqliteFiles;
  readonly #group: GroupCommit;
  #hasTurn = false;

  constructor(files: SqliteFiles, group: GroupCommit) {
    this.#files = files;
    this.#group = group;
  }

  async begin(): Promise<void> {
    await this.#group.begin();
    this.#hasTurn = true;
  }

  async commit(): Promise<void> {
    this.#hasTurn = false;
    await this.#group.commit();
  }

  /** Kysely rolls back after a commit that has failed, too; then there is nothing left to undo. */
  async rollback(): Promise<void> {
    if (!this.#hasTurn) return;
    this.#hasTurn = false;
    await this.#group.rollback();
  }

  async executeQuery<Row>(compiled: CompiledQuery): Promise<QueryResult<Row>> {
    if (this.#hasTurn) return this.#write<Row>(compiled);
    if (SelectQueryNode.is(compiled.query)) {
      return this.#files.reader.run<Row>(compiled.sql, compiled.parameters);
    }
    await this.begin();
    try {
      const result = this.#write<Row>(compiled);
      await this.commit();
      return result;
    } catch (error) {
      await this.rollback();
      throw error;
    }
  }

  // oxlint-disable-next-line require-yield
  async *streamQuery(): AsyncIterableIterator<never> {
    throw new Error('Pages are read, not streams.');
  }

  #write<Row>(compiled: CompiledQuery): QueryResult<Row> {
    this.#group.requireOpen();
    try {
      return this.#files.writer.run<Row>(compiled.sql, compiled.parameters);
    } catch (error) {
      this.#group.checkLost(error);
      throw error;
    }
  }
}
