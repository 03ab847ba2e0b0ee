import type { Db } from '../db/tables.ts';

export interface RevocationRow {
  readonly deviceId: string;
  /** Signed by the account key of the device's owner. */
  readonly statement: Buffer;
  readonly revokedAt: number;
}

export interface OwnedRevocationRow extends RevocationRow {
  readonly userId: string;
}

/** People asked about in one statement: databases bound the number of parameters. */
const peopleAtOnce = 500;

/** Keeps the word that a device is revoked, and whether its data had been found in two places. */
export async function insertRevocation(db: Db, userId: string, revocation: RevocationRow): Promise<void> {
  await db
    .insertInto('revoked_devices')
    .values((insert) => ({
      device_id: revocation.deviceId,
      user_id: userId,
      statement: revocation.statement,
      revoked_at: revocation.revokedAt,
      copied_at: insert.selectFrom('devices').select('copied_at').where('id', '=', revocation.deviceId),
    }))
    .execute();
}

/** A person's revoked devices, oldest revocation first. */
export async function revocationsOf(db: Db, userId: string): Promise<RevocationRow[]> {
  const rows = await db
    .selectFrom('revoked_devices')
    .select(['device_id', 'statement', 'revoked_at'])
    .where('user_id', '=', userId)
    .orderBy('revoked_at')
    .orderBy('device_id')
    .execute();
  return rows.map((row) => ({
    deviceId: row.device_id,
    statement: row.statement,
    revokedAt: row.revoked_at,
  }));
}

/** Revocations of any of these people from a time on, oldest first within each part of them. */
export async function revocationsSince(
  db: Db,
  userIds: readonly string[],
  since: number,
): Promise<OwnedRevocationRow[]> {
  const found: OwnedRevocationRow[] = [];
  for (let start = 0; start < userIds.length; start += peopleAtOnce) {
    const rows = await db
      .selectFrom('revoked_devices')
      .selectAll()
      .where('user_id', 'in', userIds.slice(start, start + peopleAtOnce))
      .where('revoked_at', '>=', since)
      .orderBy('revoked_at')
      .orderBy('device_id')
      .execute();
    for (const { device_id, user_id, statement, revoked_at } of rows) {
      found.push({ deviceId: device_id, userId: user_id, statement, revokedAt: revoked_at });
    }
  }
  return found;
}

export async function isRevoked(db: Db, deviceId: string): Promise<boolean> {
  const row = await db
    .selectFrom('revoked_devices')
    .select('device_id')
    .where('device_id', '=', deviceId)
    .executeTakeFirst();
  return row !== undefined;
}
