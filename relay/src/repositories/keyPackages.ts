import { createHash } from 'node:crypto';
import type { Db } from '../db/tables.ts';

export async function countKeyPackages(db: Db, deviceId: string): Promise<number> {
  const { count } = await db
    .selectFrom('key_packages')
    .select((select) => select.fn.countAll<number>().as('count'))
    .where('device_id', '=', deviceId)
    .executeTakeFirstOrThrow();
  return count;
}

/** Adds single-use KeyPackages; those that are there already are left alone. */
export async function insertKeyPackages(
  db: Db,
  deviceId: string,
  contents: readonly Buffer[],
  now: number,
): Promise<void> {
  if (contents.length === 0) return;
  await db
    .insertInto('key_packages')
    .values(
      contents.map((content) => ({
        device_id: deviceId,
        reference: createHash('sha256').update(content).digest(),
        content,
        created_at: now,
      })),
    )
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Takes the oldest single-use KeyPackage of a device: it is given to one caller only. */
export async function takeKeyPackage(db: Db, deviceId: string): Promise<Buffer | null> {
  const row = await db
    .deleteFrom('key_packages')
    .where('device_id', '=', deviceId)
    .where('reference', '=', (select) =>
      select
        .selectFrom('key_packages as oldest')
        .select('oldest.reference')
        .where('oldest.device_id', '=', deviceId)
        .orderBy('oldest.created_at')
        .orderBy('oldest.reference')
        .limit(1)
        // One that another caller is taking is passed over, not waited for.
        .forUpdate()
        .skipLocked(),
    )
    .returning('content')
    .executeTakeFirst();
  return row?.content ?? null;
}

export async function findLastResort(db: Db, deviceId: string): Promise<Buffer | null> {
  const row = await db
    .selectFrom('last_resort_key_packages')
    .select('content')
    .where('device_id', '=', deviceId)
    .executeTakeFirst();
  return row?.content ?? null;
}

export async function replaceLastResort(db: Db, deviceId: string, content: Buffer): Promise<void> {
  await db
    .insertInto('last_resort_key_packages')
    .values({ device_id: deviceId, content })
    .onConflict((conflict) => conflict.column('device_id').doUpdateSet({ content }))
    .execute();
}
