import type { MessageView } from '../../crypto/client.ts';
import {
  directConversationId,
  directParticipants,
  groupConversationId,
  groupOf,
  Id,
  selfConversationId,
  selfOf,
} from '../../net/contract.ts';
import { type ConversationKey, groupIdOfKey, groupKeyOf } from '../../store/chats.ts';

/** The other person of a direct conversation that one takes part in; null for every other conversation id. */
export function peerOf(conversationId: string, ownUserId: string): string | null {
  const participants = directParticipants(conversationId);
  if (participants === null) return null;
  const [lower, higher] = participants;
  if (lower === ownUserId && higher !== ownUserId) return higher;
  return higher === ownUserId && lower !== ownUserId ? lower : null;
}

/**
 * Returns the key of a conversation in the store; null for other people's. That of the own devices, where the person
 * writes notes, has the own user id, as if it were a chat with oneself.
 */
export function keyOf(conversationId: string, ownUserId: string): ConversationKey | null {
  const groupId = groupOf(conversationId);
  return groupId === null ? recipientOf(conversationId, ownUserId) : groupKeyOf(groupId);
}

/** Returns whether a conversation is one of this person's. */
export function takesPart(conversationId: string, ownUserId: string): boolean {
  return keyOf(conversationId, ownUserId) !== null;
}

/**
 * The person whom the relay is told that a message is for, where it is for no group: the other one of a direct
 * conversation, or oneself among one's own devices.
 */
export function recipientOf(conversationId: string, ownUserId: string): string | null {
  return conversationId === selfConversationId(ownUserId) ? ownUserId : peerOf(conversationId, ownUserId);
}

/** The conversation of a chat, whether or not it has begun; null for a key that is none. */
export function conversationOf(key: ConversationKey, ownUserId: string): string | null {
  const groupId = groupIdOfKey(key);
  if (groupId !== null) return Id.safeParse(groupId).success ? groupConversationId(groupId) : null;
  if (key === ownUserId) return selfConversationId(ownUserId);
  return Id.safeParse(key).success ? directConversationId(ownUserId, key) : null;
}

/**
 * Returns whether a message is for nobody's eyes: own devices tell each other keys, what is read, and drafts; and a change is
 * shown where the message is that it changes.
 */
export function isUnseen({ content, conversationId, isChange }: MessageView): boolean {
  return isChange === true || (content.kind === 'unknown' && selfOf(conversationId) !== null);
}

export { directConversationId, groupConversationId, groupOf, selfConversationId, selfOf };
