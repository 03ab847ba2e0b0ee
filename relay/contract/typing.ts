import * as z from 'zod/mini';
import { limits } from './limits.ts';
import { base64Url, ConversationId, Epoch, Id } from './primitives.ts';

/**
 * The payload that a client publishes, with QoS 0, to `user/{contact id}/typing` and `group/{group id}/typing`: sealed,
 * and of one size, so that it says that somebody is at a form, and no more.
 */
export const OutgoingTyping = z.object({
  type: z.literal('typing'),
  epoch: Epoch,
  content: base64Url(limits.typingSize, limits.typingSize),
});
export type OutgoingTyping = z.infer<typeof OutgoingTyping>;

/** The payload that arrives on `user/{own id}/typing`: never stored, and whose it is by the session that has sent it. */
export const IncomingTyping = z.extend(OutgoingTyping, {
  conversationId: ConversationId,
  userId: Id,
  deviceId: Id,
});
export type IncomingTyping = z.infer<typeof IncomingTyping>;
