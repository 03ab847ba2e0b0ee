import { CryptoApiError } from '../api/errors.ts';

export type Conversation =
  | { readonly kind: 'direct'; readonly participants: readonly [string, string] }
  | { readonly kind: 'group' }
  /** The conversation of this person's own devices. */
  | { readonly kind: 'self' };

const encoder = new TextEncoder();

/**
 * Returns the MLS group id: the conversation id itself, so that no group can be passed off as another
 * conversation's.
 */
export function groupIdOf(conversationId: string): Uint8Array {
  return encoder.encode(conversationId);
}

/**
 * Parses a conversation id. The two people of a direct conversation are in order, and this one is among them; the
 * devices of `self` are this person's.
 * @throws CryptoApiError `usage` for other people's conversation, or an id not in order
 */
export function parseConversationId(conversationId: string, ownUserId: string): Conversation {
  const [kind, lower, higher] = conversationId.split(':');
  if (kind === 'group') return { kind };
  if (kind === 'self' && lower === ownUserId) return { kind };
  if (kind === 'self') throw new CryptoApiError('usage', "other people's conversation");
  if (kind !== 'direct' || lower === undefined || higher === undefined || lower >= higher) {
    throw new CryptoApiError('usage', 'the ids of a direct conversation are in order');
  }
  if (lower !== ownUserId && higher !== ownUserId) {
    throw new CryptoApiError('usage', "other people's conversation");
  }
  return { kind, participants: [lower, higher] };
}

/** The id of the conversation of a person's own devices. */
export function selfConversationId(userId: string): string {
  return `self:${userId}`;
}

/** The other person of a direct conversation; null for any other. */
export function peerOf(conversationId: string, ownUserId: string): string | null {
  const conversation = parseConversationId(conversationId, ownUserId);
  if (conversation.kind !== 'direct') return null;
  const [lower, higher] = conversation.participants;
  return lower === ownUserId ? higher : lower;
}

/** @throws CryptoApiError `usage` for a conversation that is no group of people */
export function requireGroup(conversationId: string, ownUserId: string): void {
  if (parseConversationId(conversationId, ownUserId).kind !== 'group') {
    throw new CryptoApiError('usage', 'no group of people');
  }
}
