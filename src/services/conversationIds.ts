import { directConversationId, directParticipants } from '../net/contract.ts';

/** The other person of a direct conversation that one takes part in; null for every other conversation id. */
export function peerOf(conversationId: string, ownUserId: string): string | null {
  const participants = directParticipants(conversationId);
  if (participants === null) return null;
  const [lower, higher] = participants;
  if (lower === ownUserId && higher !== ownUserId) return higher;
  return higher === ownUserId && lower !== ownUserId ? lower : null;
}

export { directConversationId };
