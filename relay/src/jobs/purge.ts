import type { FastifyBaseLogger } from 'fastify';
import { accountChangeLifetime } from '../accounts/accountChanges.ts';
import { pendingEmailLifetime } from '../accounts/emails.ts';
import { declineLifetime } from '../contacts/contacts.ts';
import type { Db } from '../db/tables.ts';
import { keyPackageLifetime } from '../devices/devices.ts';
import { groupInvitationLifetime } from '../groups/invitations.ts';
import { deleteAccountChanges } from '../repositories/accountChanges.ts';
import { deleteOldDeclines } from '../repositories/contacts.ts';
import {
  deletedAccounts,
  emptyMessagesOf,
  markEmptied,
  purgeAccount,
  unfinishedDeletions,
} from '../repositories/deletions.ts';
import { deleteOldEmailCodes } from '../repositories/emailCodes.ts';
import { deleteOldGroupInvitations } from '../repositories/groupInvitations.ts';
import { deleteUnbegunGroups } from '../repositories/groups.ts';
import { deleteOldKeyPackages } from '../repositories/keyPackages.ts';
import { deleteExpiredNonces } from '../repositories/proofs.ts';
import { deleteClosedReports } from '../repositories/reports.ts';
import { deleteOldInvitations } from '../repositories/signUp.ts';
import { deleteFormerVaults } from '../repositories/vaults.ts';
import { createHourlyJob, type HourlyJob } from './hourlyJob.ts';

const day = 24 * 60 * 60 * 1000;

/**
 * Milliseconds that the data left by a deleted account stays, for devices that were away. The privacy policy
 * promises thirty days; the rest is for a relay that is down when an account is due.
 */
export const purgeAfter = 21 * day;

/**
 * A deletion empties messages itself, unless the relay stops meanwhile; and a message that was being stored when its
 * sender's account was deleted can come after it. This long later nothing comes any more, and the job looks once.
 */
export const settleAfter = 10 * 60 * 1000;

/** Milliseconds that a vault that was replaced can still be read. */
export const formerVaultLifetime = 7 * day;

/** Milliseconds that a browser may take to bring the first commit of a group that it has created. */
export const unbegunGroupLifetime = 7 * day;

/** Milliseconds for which a report that the operator has closed is kept. */
export const closedReportLifetime = 90 * day;

/** Milliseconds for which an invitation that has expired is listed. */
export const oldInvitationLifetime = 30 * day;

export interface PurgeDependencies {
  readonly db: Db;
  readonly clock: () => number;
  readonly log: Pick<FastifyBaseLogger, 'error' | 'info'>;
}

/**
 * Removes the data that account deletion has left, and what was kept for a while only. Several relays may run it side by side: everything in it
 * can be repeated.
 */
export function createPurgeJob({ db, clock, log }: PurgeDependencies): HourlyJob {
  async function purge(): Promise<void> {
    const now = clock();
    for (const userId of await unfinishedDeletions(db, now - settleAfter)) {
      await emptyMessagesOf(db, userId);
      await markEmptied(db, userId, now);
    }
    const due = await deletedAccounts(db, now - purgeAfter);
    for (const userId of due) await purgeAccount(db, userId);
    await deleteFormerVaults(db, now - formerVaultLifetime);
    await deleteUnbegunGroups(db, now - unbegunGroupLifetime);
    await deleteExpiredNonces(db, now);
    await deleteAccountChanges(db, now - accountChangeLifetime);
    await deleteOldEmailCodes(db, now - pendingEmailLifetime);
    await deleteOldDeclines(db, now - declineLifetime);
    await deleteClosedReports(db, now - closedReportLifetime);
    await deleteOldInvitations(db, now - oldInvitationLifetime);
    await deleteOldGroupInvitations(db, now - groupInvitationLifetime);
    await deleteOldKeyPackages(db, now - keyPackageLifetime);
    if (due.length > 0) log.info({ accounts: due.length }, 'deleted accounts purged');
  }

  return createHourlyJob({ task: purge, failure: 'purging deleted accounts failed', log });
}
