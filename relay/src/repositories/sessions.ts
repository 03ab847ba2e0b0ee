import type { KeptEndCode, Session } from '../auth/session.ts';
import { prepared } from '../db/prepared.ts';
import type { Db } from '../db/tables.ts';

export interface NewSession {
  readonly id: string;
  readonly userId: string;
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly purpose: SessionPurpose;
}

/** A recovery session is good for a new password and nothing else. */
export type SessionPurpose = 'full' | 'recovery';

export async function insertSession(db: Db, session: NewSession): Promise<void> {
  await db
    .insertInto('sessions')
    .values({
      id: session.id,
      user_id: session.userId,
      device_id: null,
      created_at: session.createdAt,
      expires_at: session.expiresAt,
      ended_at: null,
      purpose: session.purpose,
    })
    .execute();
}

interface LiveSessionKey {
  readonly id: string;
  readonly userId: string;
  readonly now: number;
}

export const liveSessionQuery = prepared<LiveSessionKey>()((db, key) =>
  db
    .selectFrom('sessions')
    .leftJoin('devices', 'devices.id', 'sessions.device_id')
    .select(['sessions.id', 'sessions.user_id', 'sessions.device_id', 'sessions.expires_at'])
    .select(['sessions.created_at', 'sessions.purpose'])
    .select(['devices.last_seen_at', 'devices.start_tag'])
    .where('sessions.id', '=', key('id'))
    .where('sessions.user_id', '=', key('userId'))
    .where('sessions.ended_at', 'is', null)
    .where('sessions.expires_at', '>', key('now')),
);

/** The session if it has neither ended nor expired, and when its device was last seen. */
export async function findLiveSession(
  db: Db,
  { id, userId, now }: LiveSessionKey,
): Promise<(Session & { lastSeenAt: number | null; purpose: SessionPurpose }) | null> {
  const [row] = await liveSessionQuery(db, { id, userId, now });
  if (row === undefined) return null;
  return {
    id: row.id,
    userId: row.user_id,
    deviceId: row.device_id,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    lastSeenAt: row.last_seen_at,
    purpose: row.purpose,
  };
}

export async function sessionPurpose(db: Db, id: string): Promise<SessionPurpose | null> {
  const row = await db.selectFrom('sessions').select('purpose').where('id', '=', id).executeTakeFirst();
  return row?.purpose ?? null;
}

export interface SessionRow {
  readonly id: string;
  readonly deviceId: string | null;
  readonly createdAt: number;
  /** When its device was last seen; of one without a device, when it was opened. */
  readonly lastSeenAt: number;
  readonly expiresAt: number;
}

/** A person's sessions that have neither ended nor expired, oldest first. */
export async function liveSessionsOf(db: Db, userId: string, now: number): Promise<SessionRow[]> {
  const rows = await db
    .selectFrom('sessions')
    .leftJoin('devices', 'devices.id', 'sessions.device_id')
    .select(['sessions.id', 'sessions.device_id', 'sessions.created_at', 'sessions.expires_at'])
    .select('devices.last_seen_at')
    .where('sessions.user_id', '=', userId)
    .where('sessions.ended_at', 'is', null)
    .where('sessions.expires_at', '>', now)
    .orderBy('sessions.created_at')
    .orderBy('sessions.id')
    .execute();
  return rows.map((row) => ({
    id: row.id,
    deviceId: row.device_id,
    createdAt: row.created_at,
    lastSeenAt: row.last_seen_at ?? row.created_at,
    expiresAt: row.expires_at,
  }));
}

/**
 * Returns the ids of the person's live sessions but for some, the longest idle ones: a device's session was last used when
 * the device was seen, another when it was opened.
 * @param kept how many there may be
 */
export async function idlestSessions(
  db: Db,
  { userId, kept, now }: { userId: string; kept: number; now: number },
): Promise<string[]> {
  const rows = await db
    .selectFrom('sessions')
    .leftJoin('devices', 'devices.id', 'sessions.device_id')
    .select('sessions.id')
    .where('sessions.user_id', '=', userId)
    .where('sessions.ended_at', 'is', null)
    .where('sessions.expires_at', '>', now)
    .orderBy((row) => row.fn.coalesce('devices.last_seen_at', 'sessions.created_at'), 'desc')
    .orderBy('sessions.created_at', 'desc')
    .orderBy('sessions.id')
    .execute();
  return rows.slice(kept).map(({ id }) => id);
}

/** Makes a recovery session one like any other, which ends then unless it gets a device. */
export async function makeFullSession(db: Db, id: string, expiresAt: number): Promise<void> {
  await db
    .updateTable('sessions')
    .set({ purpose: 'full', expires_at: expiresAt })
    .where('id', '=', id)
    .where('purpose', '=', 'recovery')
    .execute();
}

/**
 * Binds a session to a device for good, and has it live `lifetime` milliseconds from its beginning. False if it is bound to
 * another one already.
 */
export async function bindDevice(
  db: Db,
  { sessionId, deviceId, lifetime }: { sessionId: string; deviceId: string; lifetime: number },
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('sessions')
    .set((update) => ({ device_id: deviceId, expires_at: update('created_at', '+', lifetime) }))
    .where('id', '=', sessionId)
    .where((where) => where.or([where('device_id', 'is', null), where('device_id', '=', deviceId)]))
    .executeTakeFirstOrThrow();
  return numUpdatedRows === 1n;
}

export async function endSession(db: Db, id: string, now: number): Promise<void> {
  await db
    .updateTable('sessions')
    .set({ ended_at: now })
    .where('id', '=', id)
    .where('ended_at', 'is', null)
    .execute();
}

/**
 * Ends the sessions of a device that is being revoked, and frees them from it: they stay until they expire, so that its
 * browser can be told why, also if a new password had ended them before. @returns their ids
 */
export async function endRevokedSessions(db: Db, deviceId: string, now: number): Promise<string[]> {
  const ended = await db
    .updateTable('sessions')
    .set((update) => ({
      device_id: null,
      ended_at: update.fn.coalesce('ended_at', update.val(now)),
      end_code: 'device-revoked',
    }))
    .where('device_id', '=', deviceId)
    .where((where) => where.or([where('ended_at', 'is', null), where('end_code', 'is not', null)]))
    .returning('id')
    .execute();
  return ended.map((row) => row.id);
}

/**
 * Ends the sessions of a device whose data is in two places, and frees them from it, so that both places are told why.
 * @returns their ids
 */
export async function endCopiedSessions(db: Db, deviceId: string, now: number): Promise<string[]> {
  const ended = await db
    .updateTable('sessions')
    .set({ device_id: null, ended_at: now, end_code: 'device-copied' })
    .where('device_id', '=', deviceId)
    .where('ended_at', 'is', null)
    .returning('id')
    .execute();
  return ended.map((row) => row.id);
}

/** Returns why a session ended, if its browser is to be told. */
export async function endCode(
  db: Db,
  { id, userId }: Pick<LiveSessionKey, 'id' | 'userId'>,
): Promise<KeptEndCode | null> {
  const row = await db
    .selectFrom('sessions')
    .select('end_code')
    .where('id', '=', id)
    .where('user_id', '=', userId)
    .executeTakeFirst();
  return row?.end_code ?? null;
}

/**
 * Ends a person's sessions but the one that has set a new password. They stay until they expire, so that their browsers
 * can be told why. @returns their ids
 */
export async function endSessionsOfOldPassword(
  db: Db,
  { userId, keptId, now }: { userId: string; keptId: string; now: number },
): Promise<string[]> {
  const ended = await db
    .updateTable('sessions')
    .set({ ended_at: now, end_code: 'password-changed' })
    .where('user_id', '=', userId)
    .where('id', '!=', keptId)
    .where('ended_at', 'is', null)
    .returning('id')
    .execute();
  return ended.map((row) => row.id);
}

/**
 * Ends the sessions of an account that is suspended. They stay until they expire, so that their browsers can be told why.
 * @returns their ids, with those that have ended so before
 */
export async function endSuspendedSessions(db: Db, userId: string, now: number): Promise<string[]> {
  await db
    .updateTable('sessions')
    .set({ ended_at: now, end_code: 'account-suspended' })
    .where('user_id', '=', userId)
    .where('ended_at', 'is', null)
    .execute();
  const ended = await db
    .selectFrom('sessions')
    .select('id')
    .where('user_id', '=', userId)
    .where('end_code', '=', 'account-suspended')
    .execute();
  return ended.map((row) => row.id);
}

/** Lets sessions that ended with a suspension be answered like any that are over. */
export async function forgetSuspensionOf(db: Db, userId: string): Promise<void> {
  await db
    .updateTable('sessions')
    .set({ end_code: null })
    .where('user_id', '=', userId)
    .where('end_code', '=', 'account-suspended')
    .execute();
}

/** @returns the ids of those that have ended now */
export async function endAllSessions(db: Db, userId: string, now: number): Promise<string[]> {
  const ended = await db
    .updateTable('sessions')
    .set({ ended_at: now })
    .where('user_id', '=', userId)
    .where('ended_at', 'is', null)
    .returning('id')
    .execute();
  return ended.map((row) => row.id);
}

/**
 * Frees a person's sessions from their devices, which are about to be deleted: those that are kept to tell why they ended, and
 * those that live on, which end at `expiresAt` unless they get another one.
 */
export async function freeSessions(db: Db, userId: string, expiresAt: number): Promise<void> {
  await db
    .updateTable('sessions')
    .set((update) => ({
      device_id: null,
      expires_at: update
        .case()
        .when('ended_at', 'is', null)
        .then(expiresAt)
        .else(update.ref('expires_at'))
        .end(),
    }))
    .where('user_id', '=', userId)
    .where((where) => where.or([where('ended_at', 'is', null), where('end_code', 'is not', null)]))
    .execute();
}

/** Removes what has ended or expired, so that past sessions don't pile up; what ended for a reason, once it expires. */
export async function deletePastSessions(db: Db, userId: string, now: number): Promise<void> {
  await db
    .deleteFrom('sessions')
    .where('user_id', '=', userId)
    .where((where) =>
      where.or([
        where.and([where('ended_at', 'is not', null), where('end_code', 'is', null)]),
        where('expires_at', '<=', now),
      ]),
    )
    .execute();
}
