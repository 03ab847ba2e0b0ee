import type { Compilable, CompiledQuery } from 'kysely';
import type { Db } from './tables.ts';

export type Value = string | number | Uint8Array;

/** A query compiled for one kind of database, and which of its parameters stands where. */
interface Compiled<Name> {
  readonly query: CompiledQuery;
  /** A name to fill in, or null where the value is part of the query. */
  readonly names: readonly (Name | null)[];
}

/** A compiled query as plain data, for the thread of SQLite. */
export interface Statement {
  readonly sql: string;
  /** The parameters in their order, each with a name to fill in, or with its value. */
  readonly parameters: readonly { readonly name: string | null; readonly value: unknown }[];
}

/** Asks for rows: see `prepared`. */
export interface Prepared<P, Row> {
  (db: Db, parameters: P): Promise<Row[]>;
  statement(db: Db): Statement;
}

const marker = '\0parameter ';

/**
 * A query that is built and compiled at its first use, and only filled in after that. Building costs several times what
 * the database then takes, so this is for what every message asks.
 *
 *     const byId = prepared<{ id: string }>()((db, parameter) => db.selectFrom(…).where('id', '=', parameter('id')));
 *     const rows = await byId(db, { id });
 */
export function prepared<P extends { readonly [Name in keyof P]: Value }>() {
  /**
   * @param build is given the parameters' placeholders, to be used as values would be, and not to be looked into
   * @returns the rows that the database answers: none where nothing is returned
   */
  return <Row>(
    build: (db: Db, parameter: <Name extends keyof P & string>(name: Name) => P[Name]) => Compilable<Row>,
  ): Prepared<P, Row> => {
    // The key is the adapter: each kind of database has its own, and its transactions share it.
    const compiled = new WeakMap<object, Compiled<keyof P>>();

    function compile(db: Db): Compiled<keyof P> {
      const { adapter } = db.getExecutor();
      let known = compiled.get(adapter);
      if (known === undefined) {
        const query = build(db, (name) => (marker + name) as never).compile();
        known = { query, names: query.parameters.map((value) => nameOf(value) as keyof P | null) };
        compiled.set(adapter, known);
      }
      return known;
    }

    const ask = async (db: Db, parameters: P) => {
      const { query, names } = compile(db);
      const values = names.map((name, index) => (name === null ? query.parameters[index] : parameters[name]));
      const { rows } = await db.executeQuery<Row>({ ...query, parameters: values });
      return rows;
    };
    const statement = (db: Db): Statement => {
      const { query, names } = compile(db);
      const parameters = names.map((name, index) =>
        name === null ? { name, value: query.parameters[index] } : { name: String(name), value: null },
      );
      return { sql: query.sql, parameters };
    };
    return Object.assign(ask, { statement });
  };
}

function nameOf(value: unknown): string | null {
  const isPlaceholder = typeof value === 'string' && value.startsWith(marker);
  return isPlaceholder ? value.slice(marker.length) : null;
}
