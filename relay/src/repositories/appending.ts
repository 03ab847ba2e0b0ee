import type { Prepared, Statement } from '../db/prepared.ts';
import type { Db } from '../db/tables.ts';
import { contactQuery } from './contacts.ts';
import { epochQuery, participantsQuery, seqsTaking } from './conversations.ts';
import { deviceTouch } from './devices.ts';
import { entriesQuery, entryInsertion, entryQuery } from './entries.ts';
import { notificationInsertion } from './notifications.ts';
import { storing } from './quotas.ts';
import { liveSessionQuery } from './sessions.ts';
import { userQuery } from './users.ts';

/** All queries of appending messages, by name: SQLite's thread asks them too, and can't build queries. */
const appendQueries = {
  session: liveSessionQuery,
  touchDevice: deviceTouch,
  entry: entryQuery,
  entries: entriesQuery,
  contact: contactQuery,
  user: userQuery,
  participants: participantsQuery,
  takeSeqs: seqsTaking,
  epoch: epochQuery,
  store: storing,
  insertEntry: entryInsertion,
  insertNotification: notificationInsertion,
};

/** Functions that take parameters and return rows, by the names of `appendQueries`. */
export type AppendQueries = {
  readonly [Name in keyof typeof appendQueries]: (typeof appendQueries)[Name] extends Prepared<
    infer Parameters,
    infer Row
  >
    ? (parameters: Parameters) => Promise<Row[]>
    : never;
};

type AnyQuery = Prepared<never, unknown>;

/** The queries of one transaction. */
export function appendQueriesIn(tx: Db): AppendQueries {
  return mapValues((query) => (parameters: never) => query(tx, parameters)) as AppendQueries;
}

/** The same queries compiled, for SQLite's thread, by the names of `appendQueries`. */
export function appendStatementsFor(db: Db): Readonly<Record<string, Statement>> {
  return mapValues((query) => query.statement(db));
}

function mapValues<T>(map: (query: AnyQuery) => T): Record<string, T> {
  const entries = Object.entries<AnyQuery>(appendQueries);
  return Object.fromEntries(entries.map(([name, query]) => [name, map(query)]));
}
