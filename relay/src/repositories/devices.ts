import { prepared } from '../db/prepared.ts';
import type { Db } from '../db/tables.ts';

export interface DeviceRow {
  readonly id: string;
  readonly userId: string;
  readonly name: string;
  readonly certificate: Buffer;
  readonly createdAt: number;
  readonly lastSeenAt: number;
}

/** A start that a device has registered. */
export interface StartRow {
  readonly number: number;
  readonly tag: string;
}

const columns = ['id', 'user_id', 'name', 'certificate', 'created_at', 'last_seen_at'] as const;

interface StoredDevice {
  id: string;
  user_id: string;
  name: string;
  certificate: Buffer;
  created_at: number;
  last_seen_at: number;
}

const fromRow = (row: StoredDevice): DeviceRow => ({
  id: row.id,
  userId: row.user_id,
  name: row.name,
  certificate: row.certificate,
  createdAt: row.created_at,
  lastSeenAt: row.last_seen_at,
});

export async function findDevice(db: Db, id: string): Promise<DeviceRow | null> {
  const row = await db.selectFrom('devices').select(columns).where('id', '=', id).executeTakeFirst();
  return row === undefined ? null : fromRow(row);
}

/** Makes other transactions that decide on this device wait until this one has ended. */
export async function lockDevice(db: Db, id: string): Promise<void> {
  await db.selectFrom('devices').select('id').where('id', '=', id).forNoKeyUpdate().execute();
}

/** A person's devices, oldest first. */
export async function devicesOf(db: Db, userId: string): Promise<DeviceRow[]> {
  const rows = await db
    .selectFrom('devices')
    .select(columns)
    .where('user_id', '=', userId)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
  return rows.map(fromRow);
}

/** The owners of these devices: user ids by device id, without devices that don't exist. */
export async function deviceOwners(db: Db, ids: readonly string[]): Promise<Map<string, string>> {
  const rows = await db.selectFrom('devices').select(['id', 'user_id']).where('id', 'in', ids).execute();
  return new Map(rows.map((row) => [row.id, row.user_id]));
}

export async function insertDevice(db: Db, device: DeviceRow): Promise<void> {
  await db
    .insertInto('devices')
    .values({
      id: device.id,
      user_id: device.userId,
      name: device.name,
      certificate: device.certificate,
      created_at: device.createdAt,
      last_seen_at: device.lastSeenAt,
    })
    .execute();
}

/** The start that a device has registered last; null if it has registered none. */
export async function startOf(db: Db, id: string): Promise<StartRow | null> {
  const row = await db
    .selectFrom('devices')
    .select(['start_number', 'start_tag'])
    .where('id', '=', id)
    .executeTakeFirst();
  if (row === undefined || row.start_number === null || row.start_tag === null) return null;
  return { number: row.start_number, tag: row.start_tag };
}

export async function setStart(db: Db, id: string, { number, tag }: StartRow): Promise<void> {
  await db
    .updateTable('devices')
    .set({ start_number: number, start_tag: tag })
    .where('id', '=', id)
    .execute();
}

/** Notes that the data of a device was found in two places. */
export async function markCopied(db: Db, id: string, now: number): Promise<void> {
  await db
    .updateTable('devices')
    .set((update) => ({ copied_at: update.fn.coalesce('copied_at', update.val(now)) }))
    .where('id', '=', id)
    .execute();
}

/** Returns whether the data of a device of that person was found in two places; it may have been revoked since. */
export async function isCopied(db: Db, userId: string, id: string): Promise<boolean> {
  const device = await db
    .selectFrom('devices')
    .select('copied_at')
    .where('id', '=', id)
    .where('user_id', '=', userId)
    .executeTakeFirst();
  if (device !== undefined) return device.copied_at !== null;
  const revoked = await db
    .selectFrom('revoked_devices')
    .select('copied_at')
    .where('device_id', '=', id)
    .where('user_id', '=', userId)
    .executeTakeFirst();
  return revoked !== undefined && revoked.copied_at !== null;
}

/** Deletes a device with its KeyPackages, its mailbox, and the sessions that are bound to it. */
export async function deleteDevice(db: Db, id: string): Promise<void> {
  await db.deleteFrom('devices').where('id', '=', id).execute();
}

export async function renameDevice(db: Db, id: string, name: string, now: number): Promise<void> {
  await db.updateTable('devices').set({ name, last_seen_at: now }).where('id', '=', id).execute();
}

export const deviceTouch = prepared<{ id: string; now: number }>()((db, parameter) =>
  db
    .updateTable('devices')
    .set({ last_seen_at: parameter('now') })
    .where('id', '=', parameter('id')),
);

export async function touchDevice(db: Db, id: string, now: number): Promise<void> {
  await deviceTouch(db, { id, now });
}
