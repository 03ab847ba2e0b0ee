import { runSqliteThread } from '../../db/sqlite/thread/thread.ts';
import { appendAll } from './append.ts';
import type { AppendProgram } from './appender.ts';
import { packOutcomes, unpackEntries } from './packing.ts';

// The entry file of SQLite's thread: appending asks several statements for each batch, so it runs beside them.

const append: AppendProgram = async (queries, batch, now) =>
  packOutcomes(await appendAll(queries, unpackEntries(batch), now));

runSqliteThread(append);
