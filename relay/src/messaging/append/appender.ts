import type { OpenDatabase, RemoteProgram } from '../../db/openDatabase.ts';
import type { Db } from '../../db/tables.ts';
import { type AppendQueries, appendQueriesIn, appendStatementsFor } from '../../repositories/appending.ts';
import { type AppendOutcome, appendAll, type NewEntry } from './append.ts';
import { type PackedEntries, type PackedOutcomes, packEntries, unpackOutcomes } from './packing.ts';

/** Appends batches of messages to the database. */
export interface Appender {
  /**
   * Appends messages in their order, in one transaction; one that is refused takes nothing from its neighbours.
   * Resolves once the database has committed.
   * @param now milliseconds since the epoch
   * @returns the outcome of each, in the same order
   * @throws whatever kept the database from it; then none of them is stored
   */
  append(batch: readonly NewEntry[], now: number): Promise<AppendOutcome[]>;
  /** Messages of one lane are appended one batch after another, those of different lanes at the same time. */
  laneOf(entry: NewEntry): string;
}

type AppendInput = readonly [batch: PackedEntries, now: number];

/** The program of SQLite's thread: see thread.ts. */
export type AppendProgram = (queries: AppendQueries, ...input: AppendInput) => Promise<PackedOutcomes>;

export async function createAppender({ db, program }: OpenDatabase): Promise<Appender> {
  return program === null ? postgresAppender(db) : sqliteAppender(db, program);
}

/** One conversation a transaction: a message's locks hold up no other conversation. */
function postgresAppender(db: Db): Appender {
  return {
    append: (batch, now) => db.transaction().execute((tx) => appendAll(appendQueriesIn(tx), batch, now)),
    laneOf: ({ conversationId }) => conversationId,
  };
}

/** SQLite runs one transaction at a time, so one lane puts as many messages as possible into each. */
async function sqliteAppender(db: Db, program: RemoteProgram): Promise<Appender> {
  await program.define(appendStatementsFor(db));
  return {
    async append(batch, now) {
      const input: AppendInput = [packEntries(batch), now];
      return unpackOutcomes((await program.run(...input)) as PackedOutcomes);
    },
    laneOf: () => 'all',
  };
}
