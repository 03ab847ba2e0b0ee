import { sql } from 'kysely';
import type { ReportedMessage, ReportReason } from '../../contract/index.ts';
import type { Db } from '../db/tables.ts';

export interface NewReport {
  readonly id: string;
  readonly reporterId: string;
  readonly reportedId: string;
  readonly reason: ReportReason;
  readonly text: string;
  readonly messages: readonly ReportedMessage[];
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
}

export interface ReportRow extends NewReport {
  readonly reporter: string;
  readonly reported: string;
  readonly closedAt: number | null;
}

export async function insertReport(db: Db, report: NewReport): Promise<void> {
  await db
    .insertInto('reports')
    .values({
      id: report.id,
      reporter_id: report.reporterId,
      reported_id: report.reportedId,
      reason: report.reason,
      words: report.text,
      messages: JSON.stringify(report.messages),
      created_at: report.createdAt,
    })
    .execute();
}

/** Counts the reports of a person that the operator has not closed. */
export async function openReports(db: Db, reporterId: string): Promise<number> {
  const row = await db
    .selectFrom('reports')
    .select(sql<number>`count(*)`.as('count'))
    .where('reporter_id', '=', reporterId)
    .where('closed_at', 'is', null)
    .executeTakeFirstOrThrow();
  return row.count;
}

export interface ReportQuery {
  readonly id?: string;
  readonly reporterId?: string;
  readonly isOpen?: true;
  readonly limit: number;
}

/** Reports, newest first. */
export async function reportsOf(
  db: Db,
  { id, reporterId, isOpen, limit }: ReportQuery,
): Promise<ReportRow[]> {
  const rows = await db
    .selectFrom('reports')
    .innerJoin('users as reporter', 'reporter.id', 'reports.reporter_id')
    .innerJoin('users as reported', 'reported.id', 'reports.reported_id')
    .selectAll('reports')
    .select(['reporter.username as reporter', 'reported.username as reported'])
    .$if(id !== undefined, (query) => query.where('reports.id', '=', id ?? ''))
    .$if(reporterId !== undefined, (query) => query.where('reporter_id', '=', reporterId ?? ''))
    .$if(isOpen === true, (query) => query.where('closed_at', 'is', null))
    .orderBy('reports.created_at', 'desc')
    .orderBy('reports.id')
    .limit(limit)
    .execute();
  return rows.map((row) => ({
    id: row.id,
    reporterId: row.reporter_id,
    reporter: row.reporter,
    reportedId: row.reported_id,
    reported: row.reported,
    reason: row.reason,
    text: row.words,
    messages: JSON.parse(row.messages) as ReportedMessage[],
    createdAt: row.created_at,
    closedAt: row.closed_at,
  }));
}

/** False if there is no such report. Closing it again leaves the time as it is. */
export async function closeReport(db: Db, id: string, now: number): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('reports')
    .set((update) => ({ closed_at: update.fn.coalesce('closed_at', update.val(now)) }))
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  return numUpdatedRows === 1n;
}

/** Deletes reports that were closed before `until`. */
export async function deleteClosedReports(db: Db, until: number): Promise<void> {
  await db.deleteFrom('reports').where('closed_at', '<', until).execute();
}
