import type { FastifyBaseLogger } from 'fastify';
import type { Config } from '../config.ts';
import type { OpenDatabase } from '../db/openDatabase.ts';
import { tidyTree, treesToTidy } from '../messaging/trees.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { countWithin, entriesAt } from '../repositories/entries.ts';
import { deleteOldHistory } from '../repositories/history.ts';
import * as rows from '../repositories/retention.ts';
import { createBites, type Rest } from './bites.ts';
import { createHourlyJob, type HourlyJob } from './hourlyJob.ts';
import { createSteadyClock } from './steadyClock.ts';
import { countUnneeded, type Deadline } from './unneeded.ts';

const day = 24 * 60 * 60 * 1000;

/** Milliseconds that an entry is kept in any case. */
export const keptAtLeast = 10 * 60 * 1000;

/** One bite: some milliseconds of the thread that commits. */
const bite = { conversations: 50, entries: 50, bytes: 1024 * 1024, people: 100, copies: 100, pages: 64 };

export interface RetentionDependencies {
  readonly database: Pick<OpenDatabase, 'db' | 'giveBack'>;
  readonly retention: Config['retention'];
  readonly clock: () => number;
  readonly metrics: Pick<Metrics, 'emptied'>;
  readonly log: Pick<FastifyBaseLogger, 'error'>;
  readonly rest?: Rest;
  /** Milliseconds that have passed, whatever the clock was set to. */
  readonly elapsed?: () => number;
}

/**
 * Deletes what is kept no longer, in small bites beside traffic: the content of entries, Welcomes that nobody has fetched,
 * nodes of trees that nothing names, and old sealed copies; then gives the space back. Several relays may run it side by side: everything in it can be
 * repeated.
 */
export function createRetentionJob(dependencies: RetentionDependencies): HourlyJob {
  const { clock, database, log, metrics, rest, retention } = dependencies;
  const { db, giveBack } = database;
  const stop = new AbortController();
  const bites = createBites(stop.signal, rest);
  const steadyNow = createSteadyClock(clock, dependencies.elapsed);
  async function emptyLogs(deadline: Deadline): Promise<void> {
    let after = '';
    while (!stop.signal.aborted) {
      const logs = await rows.logsAfter(db, after, bite.conversations);
      const last = logs.at(-1);
      if (last === undefined) return;
      after = last.conversationId;
      for (const [log, readers] of await bites.one(() => startOfEach(logs, deadline))) {
        let from = log.emptiedSeq;
        await bites.all(async () => {
          const next = await emptySome(log.conversationId, from, readers, deadline);
          from = next ?? from;
          return next === null ? 'last' : 'more';
        });
      }
    }
  }

  /** Finds those of these logs whose first entry with content is not needed any more, with their readers. */
  async function startOfEach(
    logs: readonly rows.LogReach[],
    deadline: Deadline,
  ): Promise<[rows.LogReach, readonly rows.Reader[]][]> {
    const unfinished = logs.filter(({ emptiedSeq, lastSeq }) => lastSeq > emptiedSeq);
    const readers = await rows.readersOf(
      db,
      unfinished.map(({ conversationId }) => conversationId),
    );
    const begun: [rows.LogReach, readonly rows.Reader[]][] = [];
    for (const log of unfinished) {
      const of = readers.get(log.conversationId) ?? [];
      const first = await rows.sizesAbove(db, log.conversationId, log.emptiedSeq, 1);
      if (countUnneeded(first, of, deadline) > 0) begun.push([log, of]);
    }
    return begun;
  }

  /** Empties some entries above a position. @returns how far; null where the next one is needed, or there is none */
  async function emptySome(
    conversationId: string,
    from: number,
    readers: readonly rows.Reader[],
    deadline: Deadline,
  ): Promise<number | null> {
    const sizes = await rows.sizesAbove(db, conversationId, from, bite.entries);
    const unneeded = sizes.slice(0, countUnneeded(sizes, readers, deadline));
    const some = unneeded.slice(0, countWithin(unneeded, bite.bytes));
    const upTo = some.at(-1)?.seq;
    if (upTo === undefined) return null;
    const entries = await entriesAt(
      db,
      conversationId,
      some.map(({ seq }) => seq),
    );
    const full = entries.filter(({ content }) => content.length > 0);
    await rows.emptyLog(db, { conversationId, entries: full, upTo }, giveBack !== null);
    metrics.emptied('entry', full.length);
    return upTo;
  }

  async function deleteCopies(until: number): Promise<void> {
    let after = '';
    while (!stop.signal.aborted) {
      const people = await bites.one(() => rows.peopleWithCopies(db, after, bite.people));
      const last = people.at(-1);
      if (last === undefined) return;
      after = last;
      for (const userId of people) {
        await bites.all(() => counted('copy', deleteOldHistory(db, userId, until, bite.copies)));
      }
    }
  }

  /** Counts what a bite has deleted; one that wasn't full was the last. */
  async function counted(kind: 'copy' | 'welcome', deleting: Promise<number>): Promise<'more' | 'last'> {
    const deleted = await deleting;
    metrics.emptied(kind, deleted);
    return deleted === bite.copies ? 'more' : 'last';
  }

  async function sweep(): Promise<void> {
    const now = clock();
    const aged = steadyNow();
    const atMost = aged - retention.days * day;
    await rows.noteDays(db, retention.days, now);
    await emptyLogs({ atMost, atLeast: now - keptAtLeast });
    await bites.all(() => counted('welcome', rows.deleteOldWelcomes(db, atMost, bite.copies)));
    for (const conversationId of await treesToTidy(db, now)) {
      if (!stop.signal.aborted) await bites.one(() => tidyTree(db, conversationId, now));
    }
    if (retention.historyDays !== null) await deleteCopies(aged - retention.historyDays * day);
    if (giveBack !== null) await bites.all(async () => ((await giveBack(bite.pages)) > 0 ? 'more' : 'last'));
  }

  return createHourlyJob({
    task: sweep,
    stop: () => stop.abort(),
    failure: 'deleting what is kept no longer failed',
    log,
  });
}
