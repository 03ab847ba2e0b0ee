import { directConversationId, directParticipants, groupOf, selfOf } from '../../contract/index.ts';
import type { Db } from '../db/tables.ts';
import { ApiError } from '../errors.ts';
import { contactQuery } from '../repositories/contacts.ts';
import { heldParticipantIds, participantIds } from '../repositories/conversations.ts';
import { findUser, lockUsers } from '../repositories/users.ts';

/**
 * @returns whether the contact has blocked this person, who must not be told
 * @throws ApiError not-found (no such person), not-a-contact: for a contact whom this person has blocked, too
 */
export async function requireContact(db: Db, userId: string, otherId: string): Promise<boolean> {
  const [contact] = await contactQuery(db, { userId, otherId });
  if (contact?.blocks === null) return contact.blocked_by !== null;
  if ((await findUser(db, otherId)) === null) throw noSuchPerson();
  throw notAContact();
}

export const noSuchPerson = () => new ApiError('not-found', 'There is no such person.');

export const notAContact = () => {
  return new ApiError('not-a-contact', 'You can only talk to people who are your contacts.');
};

/** The people who take part in a conversation, or may start it. */
export interface Audience {
  readonly conversationId: string;
  /** Null for a direct conversation, and for that of a person's own devices. */
  readonly groupId: string | null;
  readonly userIds: readonly string[];
  /** The people among them who have blocked somebody, and are told nothing. */
  readonly heldIds: readonly string[];
}

/**
 * The people that this person may write to in a conversation, the person included.
 * @throws ApiError not-found (no conversation of theirs), not-a-contact
 */
export async function requireAudience(db: Db, conversationId: string, userId: string): Promise<Audience> {
  const groupId = groupOf(conversationId);
  const ownerId = selfOf(conversationId);
  if (ownerId !== null) {
    if (ownerId !== userId) throw noSuchConversation();
    // An account that is being deleted would leave behind a conversation which is started meanwhile.
    await lockUsers(db, [userId]);
    if ((await findUser(db, userId)) === null) throw noSuchConversation();
    return { conversationId, groupId, userIds: [userId], heldIds: [] };
  }
  if (groupId === null) {
    const otherId = otherParticipant(conversationId, userId);
    const isBlocked = await requireContact(db, userId, otherId);
    return { conversationId, groupId, userIds: [userId, otherId], heldIds: isBlocked ? [otherId] : [] };
  }
  const userIds = await participantIds(db, conversationId);
  if (!userIds.includes(userId)) throw noSuchConversation();
  const heldIds = await heldParticipantIds(db, conversationId);
  return { conversationId, groupId, userIds: [...userIds, ...heldIds], heldIds };
}

/**
 * The person at the other end of a direct conversation.
 * @throws ApiError not-found if the id is not the one and only id of a conversation that this person is in
 */
export function otherParticipant(conversationId: string, userId: string): string {
  const [lower, higher] = directParticipants(conversationId) ?? [];
  if (lower === undefined || higher === undefined || lower === higher) throw noSuchConversation();
  if (directConversationId(lower, higher) !== conversationId) throw noSuchConversation();
  if (userId === lower) return higher;
  if (userId === higher) return lower;
  throw noSuchConversation();
}

export const noSuchConversation = () => new ApiError('not-found', 'There is no such conversation.');
