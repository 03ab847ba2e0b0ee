import { randomUUID } from 'node:crypto';
import type { ContactListName, UserSummary } from '../../contract/index.ts';
import type { Db } from '../db/tables.ts';
import { ApiError, quotaReached } from '../errors.ts';
import { notifyOfContact } from '../notifications/notifications.ts';
import { personQuotas } from '../personQuotas.ts';
import type { Hub } from '../realtime/hub.ts';
import { hasBlocked } from '../repositories/blocks.ts';
import * as rows from '../repositories/contacts.ts';
import { deleteInvitationsBetween } from '../repositories/groupInvitations.ts';
import { markOccurrenceRead, type Occurrence } from '../repositories/notifications.ts';
import { countRequests } from '../repositories/quotas.ts';
import { findUser, lockUsers } from '../repositories/users.ts';

/** How often a person declines somebody's requests before these stay away. */
export const declinesTaken = 3;

/** Milliseconds that declined requests are remembered, and stay away, after the last time. */
export const declineLifetime = 30 * 24 * 60 * 60 * 1000;

export interface Contacts {
  /** Returns whether the two have accepted each other. Nobody is a contact of oneself. */
  areContacts(userId: string, otherId: string): Promise<boolean>;
  /** Returns whether one of the two has blocked the other. */
  isBlocked(userId: string, otherId: string): Promise<boolean>;
  /** User ids of the contacts whose status a person sees, in no particular order: nobody has blocked the other. */
  visibleIdsOf(userId: string): Promise<string[]>;
  list(userId: string): Promise<UserSummary[]>;
  /** Pending requests to a person, oldest first. */
  received(userId: string): Promise<rows.PendingRequest[]>;
  /** Pending requests of a person, oldest first. */
  sent(userId: string): Promise<rows.PendingRequest[]>;
  /**
   * Asks a person to become a contact; a request that crosses theirs accepts it.
   * @returns the id of the request, and what became of it
   * @throws ApiError invalid-request (oneself, or somebody whom this person has blocked), not-found, already-contacts,
   *   request-exists, quota
   */
  request(fromId: string, toId: string): Promise<{ id: string; status: 'pending' | 'accepted' }>;
  /**
   * Takes the pending request to a person back. It counts as declined: asking again and again is no way to be noticed.
   * @throws ApiError not-found
   */
  withdraw(fromId: string, toId: string): Promise<void>;
  /** @throws ApiError not-found unless the request is pending and to this person */
  accept(userId: string, requestId: string): Promise<UserSummary>;
  /** @throws ApiError not-found unless the request is pending and to this person */
  reject(userId: string, requestId: string): Promise<void>;
  /** Ends it for both; their conversation's log stays. @throws ApiError not-found */
  remove(userId: string, contactId: string): Promise<void>;
}

export interface ContactDependencies {
  readonly db: Db;
  readonly hub: Hub;
  readonly clock: () => number;
  /** Others see an email once it is verified. */
  readonly verifiesEmails: boolean;
}

export function createContacts({ db, hub, clock, verifiesEmails }: ContactDependencies): Contacts {
  const listsChanged = (userId: string, ...lists: ContactListName[]) => {
    hub.publishToUsers([userId], { type: 'contacts', lists });
  };
  const becameContacts = ({ requesterId, accepterId }: Pair) => {
    hub.signal({ type: 'contacts-changed', userIds: [accepterId, requesterId] });
    listsChanged(accepterId, 'contacts', 'requests');
    listsChanged(requesterId, 'contacts', 'sent-requests');
  };

  return {
    areContacts: (userId, otherId) => rows.contactExists(db, userId, otherId),
    isBlocked: async (userId, otherId) =>
      (await hasBlocked(db, userId, otherId)) || (await hasBlocked(db, otherId, userId)),
    visibleIdsOf: (userId) => rows.visibleContactIds(db, userId),
    list: (userId) => rows.contactsOf(db, userId, verifiesEmails),
    received: (userId) => rows.requestsTo(db, userId, verifiesEmails),
    sent: (userId) => rows.requestsFrom(db, userId, verifiesEmails),

    async request(fromId, toId) {
      if (fromId === toId) throw new ApiError('invalid-request', "You can't add yourself as a contact.");
      const outcome = await db.transaction().execute(async (tx) => {
        // Two requests that cross must not overlook each other.
        await lockUsers(tx, [fromId, toId]);
        if ((await findUser(tx, toId)) === null) throw noSuchPerson();
        if (await rows.contactExists(tx, fromId, toId)) {
          throw new ApiError('already-contacts', 'This person is already your contact.');
        }
        if (await hasBlocked(tx, fromId, toId)) {
          throw new ApiError('invalid-request', 'You have blocked this person.');
        }
        const now = clock();
        await rows.forgetDecline(tx, { fromUserId: toId, toUserId: fromId });
        const crossing = await rows.takeRequestBetween(tx, toId, fromId);
        if (crossing !== null) {
          await becomeContacts(tx, { requesterId: toId, accepterId: fromId }, now);
          return { id: crossing, status: 'accepted' } as const;
        }
        await requireAnotherTurn(tx, fromId, toId, now);
        await requireRoom(tx, fromId, toId);
        const id = randomUUID();
        if (!(await rows.insertRequest(tx, { id, fromUserId: fromId, toUserId: toId }, now))) {
          throw new ApiError('request-exists', 'You have already sent this person a contact request.');
        }
        await notifyUnlessBlocked(tx, { type: 'contact_request', userId: toId, senderId: fromId }, now);
        return { id, status: 'pending' } as const;
      });
      if (outcome.status === 'accepted') {
        becameContacts({ requesterId: toId, accepterId: fromId });
      } else {
        listsChanged(fromId, 'sent-requests');
        listsChanged(toId, 'requests');
      }
      return outcome;
    },

    async withdraw(fromId, toId) {
      await db.transaction().execute(async (tx) => {
        if ((await rows.takeRequestBetween(tx, fromId, toId)) === null) throw noSuchRequest();
        const now = clock();
        await rows.rememberDecline(tx, { fromUserId: fromId, toUserId: toId }, now);
        await requestSettled(tx, { requesterId: fromId, accepterId: toId }, now);
      });
      listsChanged(fromId, 'sent-requests');
      listsChanged(toId, 'requests');
    },

    async accept(userId, requestId) {
      const person = await db.transaction().execute(async (tx) => {
        const fromId = await rows.takeRequest(tx, requestId, userId);
        const sender = fromId === null ? null : await findUser(tx, fromId);
        if (sender === null || (await hasBlocked(tx, userId, sender.id))) throw noSuchRequest();
        await becomeContacts(tx, { requesterId: sender.id, accepterId: userId }, clock());
        return rows.summaryOf(sender, verifiesEmails);
      });
      becameContacts({ requesterId: person.id, accepterId: userId });
      return person;
    },

    async reject(userId, requestId) {
      const fromId = await db.transaction().execute(async (tx) => {
        const senderId = await rows.takeRequest(tx, requestId, userId);
        if (senderId === null || (await hasBlocked(tx, userId, senderId))) throw noSuchRequest();
        const now = clock();
        await rows.rememberDecline(tx, { fromUserId: senderId, toUserId: userId }, now);
        await requestSettled(tx, { requesterId: senderId, accepterId: userId }, now);
        return senderId;
      });
      listsChanged(userId, 'requests');
      listsChanged(fromId, 'sent-requests');
    },

    async remove(userId, contactId) {
      const wereAsked = await db.transaction().execute(async (tx) => {
        // An invitation that crosses must be seen, or see it: unseen, it would take a place that nobody can free.
        await lockUsers(tx, [userId, contactId]);
        if (!(await rows.deleteContacts(tx, userId, contactId))) {
          throw new ApiError('not-found', 'There is no such contact.');
        }
        return deleteInvitationsBetween(tx, userId, contactId);
      });
      hub.signal({ type: 'contacts-changed', userIds: [userId, contactId] });
      for (const id of [userId, contactId]) listsChanged(id, 'contacts');
      if (wereAsked) hub.publishToUsers([userId, contactId], { type: 'group-invitations' });
    },
  };
}

/** @throws ApiError quota, where the other has declined this person's requests too often lately */
async function requireAnotherTurn(tx: Db, fromUserId: string, toUserId: string, now: number): Promise<void> {
  const declines = await rows.declinesOf(tx, { fromUserId, toUserId });
  if (declines === null || declines.times < declinesTaken) return;
  const waitMs = declines.declinedAt + declineLifetime - now;
  if (waitMs <= 0) return;
  const detail =
    'This person has declined your requests, or you have withdrawn them. You can ask again in a month, or they can ask you.';
  throw new ApiError('quota', detail, { quota: 'requests', retryAfter: Math.ceil(waitMs / 1000) });
}

/** @throws ApiError quota, where one has sent, or the other received, as many requests as may be pending */
async function requireRoom(tx: Db, fromId: string, toId: string): Promise<void> {
  if ((await countRequests(tx, 'from_user_id', fromId)) >= personQuotas.requestsSentPerUser) {
    throw quotaReached(
      'requests',
      `You can have at most ${personQuotas.requestsSentPerUser} pending requests. There is room again as people answer.`,
    );
  }
  if ((await countRequests(tx, 'to_user_id', toId)) >= personQuotas.requestsReceivedPerUser) {
    throw quotaReached(
      'requests',
      'This person has too many pending requests. Try again when they have answered some.',
    );
  }
}

interface Pair {
  readonly requesterId: string;
  readonly accepterId: string;
}

async function becomeContacts(tx: Db, pair: Pair, now: number): Promise<void> {
  const { requesterId, accepterId } = pair;
  await rows.insertContacts(tx, requesterId, accepterId, now);
  await requestSettled(tx, pair, now);
  await notifyUnlessBlocked(tx, { type: 'contact_accepted', userId: requesterId, senderId: accepterId }, now);
}

async function notifyUnlessBlocked(tx: Db, occurrence: Occurrence, now: number): Promise<void> {
  if (await hasBlocked(tx, occurrence.userId, occurrence.senderId)) return;
  await notifyOfContact(tx, occurrence, now);
}

/** Marks the notification of a request as read: whoever has answered the request has seen it. */
async function requestSettled(tx: Db, { requesterId, accepterId }: Pair, now: number): Promise<void> {
  const request = { type: 'contact_request', userId: accepterId, senderId: requesterId } as const;
  await markOccurrenceRead(tx, request, { until: now, now });
}

const noSuchPerson = () => new ApiError('not-found', 'There is no such person.');
const noSuchRequest = () => new ApiError('not-found', 'There is no such contact request.');
