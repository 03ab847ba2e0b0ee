import { tellEnded } from '../auth/sessions.ts';
import type { Db } from '../db/tables.ts';
import type { Hub } from '../realtime/hub.ts';
import { endAllSessions, endSuspendedSessions, forgetSuspensionOf } from '../repositories/sessions.ts';
import { deleteSuspension, insertSuspension } from '../repositories/suspensions.ts';
import { lockUsers } from '../repositories/users.ts';

/** The things that the operator's command works with, as the services of a relay do. */
export interface OperatorDependencies {
  readonly db: Db;
  readonly hub: Hub;
  readonly clock: () => number;
}

/**
 * Suspends an account: all of its sessions end, and none is opened until it is restored. Nothing of it changes for others,
 * who see and write to the person as before. Repeating it tells once more that the sessions have ended.
 * @param userId of an account that there is
 */
export async function suspendAccount(
  { db, hub, clock }: OperatorDependencies,
  userId: string,
): Promise<void> {
  const now = clock();
  const ended = await db.transaction().execute(async (tx) => {
    // A session that is being opened is there by now, or finds the suspension.
    await lockUsers(tx, [userId]);
    await insertSuspension(tx, userId, now);
    return endSuspendedSessions(tx, userId, now);
  });
  tellEnded(hub, ended, 'account-suspended');
}

/** Lets the person log in again; their devices are theirs still. @returns false if the account was not suspended */
export async function restoreAccount(
  { db }: Pick<OperatorDependencies, 'db'>,
  userId: string,
): Promise<boolean> {
  return db.transaction().execute(async (tx) => {
    await lockUsers(tx, [userId]);
    await forgetSuspensionOf(tx, userId);
    return deleteSuspension(tx, userId);
  });
}

/** Ends every session of a person, who may log in again at once. @returns how many there were */
export async function endSessionsOf(
  { db, hub, clock }: OperatorDependencies,
  userId: string,
): Promise<number> {
  const ended = await db.transaction().execute(async (tx) => {
    await lockUsers(tx, [userId]);
    return endAllSessions(tx, userId, clock());
  });
  tellEnded(hub, ended, 'session-expired');
  return ended.length;
}
