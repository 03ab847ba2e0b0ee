import { groupOf, type IncomingTyping, limits, type OutgoingTyping, topics } from '../../contract/index.ts';
import type { DeviceSession } from '../auth/session.ts';
import type { Db } from '../db/tables.ts';
import { ApiError } from '../errors.ts';
import type { Hub } from '../realtime/hub.ts';
import { blockersAmong } from '../repositories/blocks.ts';
import { participantIds } from '../repositories/conversations.ts';
import { noSuchConversation, otherParticipant, requireContact } from './permissions.ts';

/** The sign as its device hands it over; the content is base64url. */
export type NewTyping = Omit<OutgoingTyping, 'type'>;

/** See Messaging.tellTyping. */
export async function tellTyping(
  { db, hub }: { readonly db: Db; readonly hub: Hub },
  { deviceId, userId }: DeviceSession,
  conversationId: string,
  typing: NewTyping,
): Promise<void> {
  const hearers = await hearersOf(db, conversationId, userId);
  const event: IncomingTyping = { type: 'typing', conversationId, userId, deviceId, ...typing };
  const payload = JSON.stringify(event);
  for (const hearer of hearers) hub.publish(topics.userTyping(hearer), payload);
}

/** The others, without people who have blocked this one, who must not be told of that. */
async function hearersOf(db: Db, conversationId: string, userId: string): Promise<string[]> {
  if (groupOf(conversationId) === null) {
    const otherId = otherParticipant(conversationId, userId);
    return (await requireContact(db, userId, otherId)) ? [] : [otherId];
  }
  const members = await participantIds(db, conversationId);
  if (!members.includes(userId)) throw noSuchConversation();
  if (members.length > limits.peopleWithTyping) {
    throw new ApiError('forbidden', 'Nobody is told who is writing in groups of this size.');
  }
  const blockers = await blockersAmong(db, members, userId);
  return members.filter((member) => member !== userId && !blockers.has(member));
}
