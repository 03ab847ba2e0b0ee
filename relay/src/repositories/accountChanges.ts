import type { AccountChangeKind } from '../../contract/index.ts';
import type { Db } from '../db/tables.ts';

export interface AccountChangeRow {
  readonly id: string;
  readonly kind: AccountChangeKind;
  readonly deviceId: string | null;
  readonly deviceName: string | null;
  readonly createdAt: number;
}

export interface NewAccountChange extends AccountChangeRow {
  readonly userId: string;
  readonly sessionId: string;
}

export async function insertAccountChange(db: Db, change: NewAccountChange): Promise<void> {
  await db
    .insertInto('account_changes')
    .values({
      id: change.id,
      user_id: change.userId,
      kind: change.kind,
      session_id: change.sessionId,
      device_id: change.deviceId,
      device_name: change.deviceName,
      created_at: change.createdAt,
    })
    .execute();
}

/** A person's changes after a time, oldest first, each with the device that its session has by now. */
export async function accountChangesOf(db: Db, userId: string, after: number): Promise<AccountChangeRow[]> {
  const rows = await db
    .selectFrom('account_changes as change')
    .leftJoin('sessions', 'sessions.id', 'change.session_id')
    .leftJoin('devices', 'devices.id', 'sessions.device_id')
    .select(['change.id', 'change.kind', 'change.device_id', 'change.device_name', 'change.created_at'])
    .select(['devices.id as present_id', 'devices.name as present_name'])
    .where('change.user_id', '=', userId)
    .where('change.created_at', '>', after)
    .orderBy('change.created_at')
    .orderBy('change.id')
    .execute();
  return rows.map((row) => ({
    id: row.id,
    kind: row.kind,
    deviceId: row.present_id ?? row.device_id,
    deviceName: row.present_name ?? row.device_name,
    createdAt: row.created_at,
  }));
}

export async function deleteAccountChanges(db: Db, until: number): Promise<void> {
  await db.deleteFrom('account_changes').where('created_at', '<=', until).execute();
}
