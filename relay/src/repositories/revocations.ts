import type { Db } from '../db/tables.ts';

export interface RevocationRow {
  readonly deviceId: string;
  /** Signed by the account key of the device's owner. */
  readonly statement: Buffer;
  readonly revokedAt: number;
}

export async function insertRevocation(db: Db, userId: string, revocation: RevocationRow): Promise<void> {
  await db
    .insertInto('revoked_devices')
    .values({
      device_id: revocation.deviceId,
      user_id: userId,
      statement: revocation.statement,
      revoked_at: revocation.revokedAt,
    })
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

export async function isRevoked(db: Db, deviceId: string): Promise<boolean> {
  const row = await db
    .selectFrom('revoked_devices')
    .select('device_id')
    .where('device_id', '=', deviceId)
    .executeTakeFirst();
  return row !== undefined;
}
