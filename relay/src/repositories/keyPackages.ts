import { createHash } from 'node:crypto';
import type { Db } from '../db/tables.ts';

/** Counts a device's single-use KeyPackages, by suite; a suite of which it has none isn't there. */
export async function countKeyPackages(db: Db, deviceId: string): Promise<ReadonlyMap<number, number>> {
  const rows = await db
    .selectFrom('key_packages')
    .select((select) => ['suite', select.fn.countAll<number>().as('count')])
    .where('device_id', '=', deviceId)
    .groupBy('suite')
    .execute();
  return new Map(rows.map(({ suite, count }) => [suite, count]));
}

/** Returns the suites of which a device has a last-resort KeyPackage. */
export async function lastResortSuites(db: Db, deviceId: string): Promise<ReadonlySet<number>> {
  const rows = await db
    .selectFrom('last_resort_key_packages')
    .select('suite')
    .where('device_id', '=', deviceId)
    .execute();
  return new Set(rows.map(({ suite }) => suite));
}

/** Finds those among devices that have a KeyPackage of a suite, of either kind. */
export async function devicesWith(
  db: Db,
  deviceIds: readonly string[],
  suite: number,
): Promise<ReadonlySet<string>> {
  const rows = await db
    .selectFrom('devices')
    .select('devices.id')
    .where('devices.id', 'in', deviceIds)
    .where((where) =>
      where.or(
        (['last_resort_key_packages', 'key_packages'] as const).map((table) =>
          where.exists(
            where
              .selectFrom(table)
              .select(`${table}.device_id`)
              .whereRef(`${table}.device_id`, '=', 'devices.id')
              .where(`${table}.suite`, '=', suite),
          ),
        ),
      ),
    )
    .execute();
  return new Set(rows.map(({ id }) => id));
}

/** Adds single-use KeyPackages; those that are there already are left alone. */
export async function insertKeyPackages(
  db: Db,
  deviceId: string,
  { suite, contents, now }: { suite: number; contents: readonly Buffer[]; now: number },
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
        suite,
      })),
    )
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Takes the oldest single-use KeyPackage of a device and a suite: it is given to one caller only. */
export async function takeKeyPackage(db: Db, deviceId: string, suite: number): Promise<Buffer | null> {
  const row = await db
    .deleteFrom('key_packages')
    .where('device_id', '=', deviceId)
    .where('reference', '=', (select) =>
      select
        .selectFrom('key_packages as oldest')
        .select('oldest.reference')
        .where('oldest.device_id', '=', deviceId)
        .where('oldest.suite', '=', suite)
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

export async function findLastResort(db: Db, deviceId: string, suite: number): Promise<Buffer | null> {
  const row = await db
    .selectFrom('last_resort_key_packages')
    .select('content')
    .where('device_id', '=', deviceId)
    .where('suite', '=', suite)
    .executeTakeFirst();
  return row?.content ?? null;
}

export async function replaceLastResort(
  db: Db,
  deviceId: string,
  { suite, content }: { suite: number; content: Buffer },
): Promise<void> {
  await db
    .insertInto('last_resort_key_packages')
    .values({ device_id: deviceId, suite, content })
    .onConflict((conflict) => conflict.columns(['device_id', 'suite']).doUpdateSet({ content }))
    .execute();
}
