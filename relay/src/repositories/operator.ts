import { sql } from 'kysely';
import type { Db } from '../db/tables.ts';

/** A line of a list of people. Times in milliseconds since the epoch. */
export interface PersonRow {
  readonly id: string;
  readonly username: string;
  readonly createdAt: number;
  /** Null without a device. */
  readonly lastSeenAt: number | null;
  /** Null unless the email is verified. */
  readonly emailVerifiedAt: number | null;
  /** Null unless the account is suspended. */
  readonly suspendedAt: number | null;
}

export interface PeopleQuery {
  /** A beginning of username keys, or a whole email key. */
  readonly key: string;
  /** The username key after which the list begins; empty for the first. */
  readonly after: string;
  readonly suspendedOnly: boolean;
  readonly limit: number;
}

/** People in the order of their username keys. */
export async function peopleOf(
  db: Db,
  { key, after, suspendedOnly, limit }: PeopleQuery,
): Promise<PersonRow[]> {
  const rows = await people(db)
    .where((where) =>
      where.or([
        where.and([where('username_key', '>=', key), where('username_key', '<', `${key}\u{10ffff}`)]),
        where('email_key', '=', key),
      ]),
    )
    .$if(after !== '', (query) => query.where('username_key', '>', after))
    .$if(suspendedOnly, (query) => query.where('suspended_at', 'is not', null))
    .orderBy('username_key')
    .limit(limit)
    .execute();
  return rows.map(fromRow);
}

/** @param key the person's id, or the key of their username or email */
export async function findPerson(db: Db, key: string): Promise<PersonRow | null> {
  const row = await people(db)
    .where((where) =>
      where.or([where('users.id', '=', key), where('username_key', '=', key), where('email_key', '=', key)]),
    )
    .executeTakeFirst();
  return row === undefined ? null : fromRow(row);
}

const people = (db: Db) =>
  db
    .selectFrom('users')
    .leftJoin('suspensions', 'suspensions.user_id', 'users.id')
    .select([
      'users.id',
      'users.username',
      'users.created_at',
      'users.email_verified_at',
      'suspensions.suspended_at',
    ])
    .select((row) =>
      row
        .selectFrom('devices')
        .whereRef('devices.user_id', '=', 'users.id')
        .select((device) => device.fn.max('devices.last_seen_at').as('last_seen_at'))
        .as('last_seen_at'),
    );

const fromRow = (row: {
  id: string;
  username: string;
  created_at: number;
  last_seen_at: number | null;
  email_verified_at: number | null;
  suspended_at: number | null;
}): PersonRow => ({
  id: row.id,
  username: row.username,
  createdAt: row.created_at,
  lastSeenAt: row.last_seen_at,
  emailVerifiedAt: row.email_verified_at,
  suspendedAt: row.suspended_at,
});

/** Counts and bytes of one person. */
export interface PersonUsage {
  readonly devices: number;
  readonly sessions: number;
  readonly contacts: number;
  readonly groups: number;
  readonly messageBytes: number;
  readonly backupBytes: number;
  readonly fileBytes: number;
}

export async function usageOf(db: Db, userId: string, now: number): Promise<PersonUsage> {
  const { rows } = await sql<PersonUsage>`select
    (select count(*) from devices where user_id = ${userId}) as devices,
    (select count(*) from sessions where user_id = ${userId} and ended_at is null and expires_at > ${now}) as sessions,
    (select count(*) from contacts where user_id = ${userId}) as contacts,
    (select count(*) from participants join groups on groups.conversation_id = participants.conversation_id
      where participants.user_id = ${userId}) as groups,
    (select coalesce(sum(bytes), 0) from stored_bytes where user_id = ${userId}) as "messageBytes",
    (select coalesce(sum(bytes), 0) from history_totals where user_id = ${userId}) as "backupBytes",
    (select coalesce(sum(bytes), 0) from blob_totals where user_id = ${userId}) as "fileBytes"`.execute(db);
  return rows[0] as PersonUsage;
}

/** Counts and bytes of everybody. */
export interface RelayUsage {
  readonly people: number;
  readonly suspended: number;
  readonly verifiedEmails: number;
  /** People with a device that was seen in the last 7 and 30 days. */
  readonly seenIn7Days: number;
  readonly seenIn30Days: number;
  readonly devices: number;
  readonly sessions: number;
  readonly conversations: number;
  readonly groups: number;
  readonly entries: number;
  readonly messageBytes: number;
  readonly backupBytes: number;
  readonly files: number;
  readonly fileBytes: number;
}

const day = 24 * 60 * 60 * 1000;

/** Reads whole indexes: seconds where there are millions of entries. */
export async function usageOfAll(db: Db, now: number): Promise<RelayUsage> {
  const { rows } = await sql<RelayUsage>`select
    (select count(*) from users) as people,
    (select count(*) from suspensions) as suspended,
    (select count(email_verified_at) from users) as "verifiedEmails",
    (select count(distinct user_id) from devices where last_seen_at > ${now - 7 * day}) as "seenIn7Days",
    (select count(distinct user_id) from devices where last_seen_at > ${now - 30 * day}) as "seenIn30Days",
    (select count(*) from devices) as devices,
    (select count(*) from sessions where ended_at is null and expires_at > ${now}) as sessions,
    (select count(*) from conversations) as conversations,
    (select count(*) from groups) as groups,
    (select coalesce(sum(last_seq), 0) from conversations) as entries,
    (select coalesce(sum(bytes), 0) from stored_bytes) as "messageBytes",
    (select coalesce(sum(bytes), 0) from history_totals) as "backupBytes",
    (select coalesce(sum(blobs), 0) from blob_totals) as files,
    (select coalesce(sum(bytes), 0) from blob_totals) as "fileBytes"`.execute(db);
  return rows[0] as RelayUsage;
}

/** The people who have most stored, largest first. */
export async function largestOf(
  db: Db,
  limit: number,
): Promise<{ id: string; username: string; bytes: number }[]> {
  const { rows } = await sql<{ id: string; username: string; bytes: number }>`select users.id, users.username,
    coalesce(stored_bytes.bytes, 0) + coalesce(history_totals.bytes, 0) + coalesce(blob_totals.bytes, 0) as bytes
    from users left join stored_bytes on stored_bytes.user_id = users.id
    left join history_totals on history_totals.user_id = users.id
    left join blob_totals on blob_totals.user_id = users.id
    order by bytes desc, users.username_key limit ${limit}`.execute(db);
  return rows;
}
