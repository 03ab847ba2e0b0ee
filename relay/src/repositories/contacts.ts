import type { UserSummary } from '../../contract/index.ts';
import { prepared } from '../db/prepared.ts';
import type { Db } from '../db/tables.ts';
import { shownEmail, type UserRow } from './users.ts';

export interface RequestRow {
  readonly id: string;
  readonly fromUserId: string;
  readonly toUserId: string;
}

export interface PendingRequest {
  readonly id: string;
  readonly createdAt: number;
  /** The one at the other end. */
  readonly person: UserSummary;
}

/** One row if they are contacts; each of its columns is null unless that one has blocked the other. */
export const contactQuery = prepared<{ userId: string; otherId: string }>()((db, parameter) =>
  db
    .selectFrom('contacts')
    .leftJoin('blocks as own', (join) =>
      join.onRef('own.user_id', '=', 'contacts.user_id').onRef('own.blocked_id', '=', 'contacts.contact_id'),
    )
    .leftJoin('blocks as theirs', (join) =>
      join
        .onRef('theirs.user_id', '=', 'contacts.contact_id')
        .onRef('theirs.blocked_id', '=', 'contacts.user_id'),
    )
    .select(['own.blocked_id as blocks', 'theirs.user_id as blocked_by'])
    .where('contacts.user_id', '=', parameter('userId'))
    .where('contacts.contact_id', '=', parameter('otherId')),
);

export async function contactExists(db: Db, userId: string, otherId: string): Promise<boolean> {
  return (await contactQuery(db, { userId, otherId })).length > 0;
}

export async function contactIds(db: Db, userId: string): Promise<string[]> {
  const rows = await db.selectFrom('contacts').select('contact_id').where('user_id', '=', userId).execute();
  return rows.map((row) => row.contact_id);
}

/** Ids of the contacts whose status a person sees: none of the two has blocked the other. */
export async function visibleContactIds(db: Db, userId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('contacts')
    .select('contact_id')
    .where('user_id', '=', userId)
    .where((where) =>
      where.not(
        where.exists(
          where
            .selectFrom('blocks')
            .select('blocks.user_id')
            .where((either) =>
              either.or([
                either.and([
                  either('blocks.user_id', '=', userId),
                  either('blocks.blocked_id', '=', either.ref('contacts.contact_id')),
                ]),
                either.and([
                  either('blocks.blocked_id', '=', userId),
                  either('blocks.user_id', '=', either.ref('contacts.contact_id')),
                ]),
              ]),
            ),
        ),
      ),
    )
    .execute();
  return rows.map((row) => row.contact_id);
}

/** A person's contacts by name. */
export async function contactsOf(db: Db, userId: string, verifiesEmails: boolean): Promise<UserSummary[]> {
  const rows = await db
    .selectFrom('contacts')
    .innerJoin('users', 'users.id', 'contacts.contact_id')
    .select(['users.id', 'users.username', 'users.email', 'users.email_verified_at as emailVerifiedAt'])
    .where('contacts.user_id', '=', userId)
    .orderBy('users.username_key')
    .execute();
  return rows.map((row) => summaryOf(row, verifiesEmails));
}

export async function insertContacts(db: Db, userId: string, otherId: string, now: number): Promise<void> {
  await db
    .insertInto('contacts')
    .values([
      { user_id: userId, contact_id: otherId, created_at: now },
      { user_id: otherId, contact_id: userId, created_at: now },
    ])
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** False if they were no contacts. */
export async function deleteContacts(db: Db, userId: string, otherId: string): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('contacts')
    .where((where) =>
      where.or([
        where.and([where('user_id', '=', userId), where('contact_id', '=', otherId)]),
        where.and([where('user_id', '=', otherId), where('contact_id', '=', userId)]),
      ]),
    )
    .executeTakeFirstOrThrow();
  return numDeletedRows > 0n;
}

/** False if the same request is already pending. */
export async function insertRequest(db: Db, request: RequestRow, now: number): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('contact_requests')
    .values({
      id: request.id,
      from_user_id: request.fromUserId,
      to_user_id: request.toUserId,
      created_at: now,
    })
    .onConflict((conflict) => conflict.columns(['from_user_id', 'to_user_id']).doNothing())
    .executeTakeFirstOrThrow();
  return numInsertedOrUpdatedRows === 1n;
}

/** Takes a pending request away, and returns its sender's id; null if this person has not received it. */
export async function takeRequest(db: Db, id: string, toUserId: string): Promise<string | null> {
  const row = await db
    .deleteFrom('contact_requests')
    .where('id', '=', id)
    .where('to_user_id', '=', toUserId)
    .returning('from_user_id')
    .executeTakeFirst();
  return row?.from_user_id ?? null;
}

/** Takes the pending request of one person to another away, and returns its id. */
export async function takeRequestBetween(
  db: Db,
  fromUserId: string,
  toUserId: string,
): Promise<string | null> {
  const row = await db
    .deleteFrom('contact_requests')
    .where('from_user_id', '=', fromUserId)
    .where('to_user_id', '=', toUserId)
    .returning('id')
    .executeTakeFirst();
  return row?.id ?? null;
}

/** Ids of those with whom a person has a pending request, either way. */
export async function requestPeerIds(db: Db, userId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('contact_requests')
    .select(['from_user_id', 'to_user_id'])
    .where((where) => where.or([where('from_user_id', '=', userId), where('to_user_id', '=', userId)]))
    .execute();
  return rows.map((row) => (row.from_user_id === userId ? row.to_user_id : row.from_user_id));
}

/** Pending requests to a person, oldest first, but for those of people whom the person has blocked. */
export async function requestsTo(db: Db, userId: string, verifiesEmails: boolean): Promise<PendingRequest[]> {
  return pending(db, { otherEnd: 'from_user_id', thisEnd: 'to_user_id' }, userId, verifiesEmails);
}

/** Pending requests of a person, oldest first. */
export async function requestsFrom(
  db: Db,
  userId: string,
  verifiesEmails: boolean,
): Promise<PendingRequest[]> {
  return pending(db, { otherEnd: 'to_user_id', thisEnd: 'from_user_id' }, userId, verifiesEmails);
}

async function pending(
  db: Db,
  { otherEnd, thisEnd }: Readonly<Record<'otherEnd' | 'thisEnd', 'from_user_id' | 'to_user_id'>>,
  userId: string,
  verifiesEmails: boolean,
): Promise<PendingRequest[]> {
  const rows = await db
    .selectFrom('contact_requests')
    .innerJoin('users', 'users.id', `contact_requests.${otherEnd}`)
    .select(['contact_requests.id', 'contact_requests.created_at'])
    .select(['users.id as user_id', 'users.username', 'users.email', 'users.email_verified_at'])
    .where(`contact_requests.${thisEnd}`, '=', userId)
    .$if(thisEnd === 'to_user_id', (query) =>
      query.where('contact_requests.from_user_id', 'not in', (blocked) =>
        blocked.selectFrom('blocks').select('blocks.blocked_id').where('blocks.user_id', '=', userId),
      ),
    )
    .orderBy('contact_requests.created_at')
    .orderBy('contact_requests.id')
    .execute();
  return rows.map((row) => ({
    id: row.id,
    createdAt: row.created_at,
    person: summaryOf({ ...row, id: row.user_id, emailVerifiedAt: row.email_verified_at }, verifiesEmails),
  }));
}

/** A person as others see them. */
export const summaryOf = (
  { id, username, ...person }: Pick<UserRow, 'id' | 'username' | 'email' | 'emailVerifiedAt'>,
  verifiesEmails: boolean,
): UserSummary => ({ id, username, email: shownEmail(person, verifiesEmails) });

/** The two ends of a request. */
type RequestEnds = Omit<RequestRow, 'id'>;

/** Remembers that a request was declined, once more. */
export async function rememberDecline(db: Db, ends: RequestEnds, now: number): Promise<void> {
  await db
    .insertInto('declined_requests')
    .values({ from_user_id: ends.fromUserId, to_user_id: ends.toUserId, times: 1, declined_at: now })
    .onConflict((conflict) =>
      conflict.columns(['from_user_id', 'to_user_id']).doUpdateSet((update) => ({
        times: update('declined_requests.times', '+', 1),
        declined_at: now,
      })),
    )
    .execute();
}

/** How often a person has declined requests of another's, and when last; null where that isn't known. */
export async function declinesOf(
  db: Db,
  ends: RequestEnds,
): Promise<{ readonly times: number; readonly declinedAt: number } | null> {
  const row = await db
    .selectFrom('declined_requests')
    .select(['times', 'declined_at'])
    .where('from_user_id', '=', ends.fromUserId)
    .where('to_user_id', '=', ends.toUserId)
    .executeTakeFirst();
  return row === undefined ? null : { times: row.times, declinedAt: row.declined_at };
}

export async function forgetDecline(db: Db, ends: RequestEnds): Promise<void> {
  await db
    .deleteFrom('declined_requests')
    .where('from_user_id', '=', ends.fromUserId)
    .where('to_user_id', '=', ends.toUserId)
    .execute();
}

/** Forgets what was declined at `until` or before. */
export async function deleteOldDeclines(db: Db, until: number): Promise<void> {
  await db.deleteFrom('declined_requests').where('declined_at', '<=', until).execute();
}
