import type { QueryResult } from 'kysely';
import Database from 'libsql';

/** Distinct statements of the whole program are fewer, except where a list has as many placeholders as items. */
const maxCachedStatements = 500;

interface CachedStatement {
  readonly statement: Database.Statement;
  /** True if the statement returns rows. */
  readonly isReader: boolean;
}

/** One connection to a database file, with its statements prepared once. */
export class SqliteFile {
  readonly #database: Database.Database;
  readonly #statements = new Map<string, CachedStatement>();

  readonly file: string;

  /** @throws SqliteError if the file can't be opened */
  constructor(file: string) {
    this.file = file;
    this.#database = new Database(file);
  }

  get inTransaction(): boolean {
    return this.#database.inTransaction;
  }

  exec(sql: string): void {
    this.run(sql, []);
  }

  pragma(setting: string): void {
    this.#database.pragma(setting);
  }

  /** The value of a setting or of a count that SQLite keeps. */
  value(pragma: string): number {
    const [row] = this.#database.prepare(`pragma ${pragma}`).all([]) as Record<string, number>[];
    return Object.values(row ?? {})[0] ?? 0;
  }

  /** Bytes of the whole file. */
  get size(): number {
    return this.value('page_count') * this.value('page_size');
  }

  /**
   * Moves pages from the end of the file into free ones, and cuts it off there.
   * @param pages how many at most
   * @returns how many are left
   */
  giveBack(pages: number): number {
    // It does one page at a step, and has no rows by which it would be taken for a query.
    this.#database.prepare(`pragma incremental_vacuum(${pages})`).all([]);
    return this.value('auto_vacuum') === 0 ? 0 : this.value('freelist_count');
  }

  /**
   * Blobs are returned as the driver has them, as ArrayBuffers.
   * @param parameters what the driver can take and nothing else: see sqliteDriver.ts
   * @throws SqliteError
   */
  run<Row>(sql: string, parameters: readonly unknown[]): QueryResult<Row> {
    const { statement, isReader } = this.#prepare(sql);
    try {
      if (isReader) return { rows: statement.all(parameters) as Row[] };
      const { changes, lastInsertRowid } = statement.run(parameters);
      return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) };
    } catch (error) {
      // A statement that has failed half-way could hold on to its rows.
      this.#statements.delete(sql);
      throw error;
    }
  }

  close(): void {
    this.#statements.clear();
    this.#database.close();
  }

  #prepare(sql: string): CachedStatement {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    const statement = this.#database.prepare(sql);
    const prepared = { statement, isReader: statement.reader };
    const [oldest] = this.#statements.keys();
    if (oldest !== undefined && this.#statements.size >= maxCachedStatements) this.#statements.delete(oldest);
    this.#statements.set(sql, prepared);
    return prepared;
  }
}
