import { randomUUID } from 'node:crypto';
import { limits, type ReportedMessage, type ReportReason } from '../../contract/index.ts';
import type { Db } from '../db/tables.ts';
import { ApiError } from '../errors.ts';
import * as rows from '../repositories/reports.ts';
import { findUser, lockUsers } from '../repositories/users.ts';

export interface ReportContent {
  readonly reportedId: string;
  readonly reason: ReportReason;
  readonly text: string;
  readonly messages: readonly ReportedMessage[];
}

/** Reports about people to the operator. Nobody else hears of them. */
export interface Reports {
  /** @returns the report's id @throws ApiError invalid-request (oneself), not-found, limit-reached */
  report(reporterId: string, content: ReportContent): Promise<string>;
  /** A person's own reports, newest first. */
  list(reporterId: string): Promise<rows.ReportRow[]>;
}

/** A person's reports that one answer lists. */
const listed = 500;

export function createReports({ db, clock }: { readonly db: Db; readonly clock: () => number }): Reports {
  return {
    async report(reporterId, content) {
      if (reporterId === content.reportedId) {
        throw new ApiError('invalid-request', "You can't report yourself.");
      }
      const id = randomUUID();
      await db.transaction().execute(async (tx) => {
        // Reports that come at once are counted one after the other.
        await lockUsers(tx, [reporterId]);
        if ((await findUser(tx, content.reportedId)) === null) {
          throw new ApiError('not-found', 'There is no such person.');
        }
        if ((await rows.openReports(tx, reporterId)) >= limits.openReportsPerUser) {
          throw new ApiError(
            'limit-reached',
            `At most ${limits.openReportsPerUser} of your reports can wait for whoever runs this server.`,
          );
        }
        await rows.insertReport(tx, { id, reporterId, ...content, createdAt: clock() });
      });
      return id;
    },

    list: (reporterId) => rows.reportsOf(db, { reporterId, limit: listed }),
  };
}
