import { createHash } from 'node:crypto';
import type { Db } from '../db/tables.ts';

interface SuiteAfter {
  readonly suite: number;
  /** The time after which it was published, in milliseconds since the Unix epoch. */
  readonly after: number;
}

/** Counts a device's single-use KeyPackages published after a time, by suite; a suite of which it has none isn't there. */
export async function countKeyPackages(
  db: Db,
  deviceId: string,
  after: number,
): Promise<ReadonlyMap<number, number>> {
  const rows = await db
    .selectFrom('key_packages')
    .select((select) => ['suite', select.fn.countAll<number>().as('count')])
    .where('device_id', '=', deviceId)
    .where('created_at', '>', after)
    .groupBy('suite')
    .execute();
  return new Map(rows.map(({ suite, count }) => [suite, count]));
}

/** Returns the suites of which a device has a last-resort KeyPackage published after a time. */
export async function lastResortSuites(
  db: Db,
  deviceId: string,
  after: number,
): Promise<ReadonlySet<number>> {
  const rows = await db
    .selectFrom('last_resort_key_packages')
    .select('suite')
    .where('device_id', '=', deviceId)
    .where('created_at', '>', after)
    .execute();
  return new Set(rows.map(({ suite }) => suite));
}

/** Finds those among devices that have a KeyPackage of a suite published after a time, of either kind. */
export async function devicesWith(
  db: Db,
  deviceIds: readonly string[],
  { suite, after }: SuiteAfter,
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
              .where(`${table}.suite`, '=', suite)
              .where(`${table}.created_at`, '>', after),
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

/**
 * Takes the newest single-use KeyPackage of a device and a suite published after a time, since it says what its browser can do by now: it is
 * given to one caller only.
 */
export async function takeKeyPackage(
  db: Db,
  deviceId: string,
  { suite, after }: SuiteAfter,
): Promise<Buffer | null> {
  const row = await db
    .deleteFrom('key_packages')
    .where('device_id', '=', deviceId)
    .where('reference', '=', (select) =>
      select
        .selectFrom('key_packages as newest')
        .select('newest.reference')
        .where('newest.device_id', '=', deviceId)
        .where('newest.suite', '=', suite)
        .where('newest.created_at', '>', after)
        .orderBy('newest.created_at', 'desc')
        .orderBy('newest.reference')
        .limit(1)
        // One that another caller is taking is passed over, not waited for.
        .forUpdate()
        .skipLocked(),
    )
    .returning('content')
    .executeTakeFirst();
  return row?.content ?? null;
}

/** Finds the last-resort KeyPackage of a device and a suite, if it was published after a time. */
export async function findLastResort(
  db: Db,
  deviceId: string,
  { suite, after }: SuiteAfter,
): Promise<Buffer | null> {
  const row = await db
    .selectFrom('last_resort_key_packages')
    .select('content')
    .where('device_id', '=', deviceId)
    .where('suite', '=', suite)
    .where('created_at', '>', after)
    .executeTakeFirst();
  return row?.content ?? null;
}

export async function replaceLastResort(
  db: Db,
  deviceId: string,
  { suite, content, now }: { suite: number; content: Buffer; now: number },
): Promise<void> {
  const published = { content, created_at: now };
  await db
    .insertInto('last_resort_key_packages')
    .values({ device_id: deviceId, suite, ...published })
    .onConflict((conflict) => conflict.columns(['device_id', 'suite']).doUpdateSet(published))
    .execute();
}

/** Deletes KeyPackages of both kinds published at a time or before. */
export async function deleteOldKeyPackages(db: Db, until: number): Promise<void> {
  for (const table of ['key_packages', 'last_resort_key_packages'] as const)
    await db.deleteFrom(table).where('created_at', '<=', until).execute();
}
