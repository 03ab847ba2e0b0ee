import { directConversationId, directParticipants } from '../../contract/index.ts';
import type { Db } from '../db/tables.ts';
import { ApiError } from '../errors.ts';
import { contactExists } from '../repositories/contacts.ts';
import { findUser } from '../repositories/users.ts';

/** @throws ApiError not-found (no such person), not-a-contact */
export async function requireContact(db: Db, userId: string, otherId: string): Promise<void> {
  if (await contactExists(db, userId, otherId)) return;
  if ((await findUser(db, otherId)) === null) throw new ApiError('not-found', 'There is no such person.');
  throw new ApiError('not-a-contact', 'You can only talk to people who are your contacts.');
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
