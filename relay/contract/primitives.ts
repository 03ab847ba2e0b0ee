import * as z from 'zod';

/** User, device, message, request and group ids: lower-case UUIDs. */
export const Id = z
  .uuid()
  .regex(/^[0-9a-f-]+$/)
  .meta({ id: 'Id', examples: ['0f8fad5b-d9cb-469f-a165-70867728950e'] });
export type Id = z.infer<typeof Id>;

/** RFC 3339 time in UTC with milliseconds. */
export const Timestamp = z.iso.datetime().meta({ id: 'Timestamp', examples: ['2026-03-01T12:00:00.000Z'] });

/** Position in a conversation's log, from 1, without gaps. */
export const Seq = z.int().min(0).meta({ id: 'Seq' });

/** MLS epoch. 2^53 epochs outlast any conversation, so a JSON number holds it. */
export const Epoch = z.int().min(0).meta({ id: 'Epoch' });

/**
 * One typed line: refuses control characters, and halves of surrogate pairs, because databases refuse those.
 */
export function lineOfText(maxLength: number) {
  return z
    .string()
    .trim()
    .max(maxLength)
    .regex(/^[^\p{Cc}\p{Cs}]*$/u, 'may not hold control characters');
}

/**
 * Bytes as unpadded base64url (RFC 4648 section 5).
 * @param maxBytes the longest accepted byte string
 */
export function base64Url(maxBytes: number, minBytes = 1) {
  return z
    .string()
    .min(Math.ceil((minBytes * 4) / 3))
    .max(Math.ceil((maxBytes * 4) / 3))
    .regex(/^[A-Za-z0-9_-]*$/, 'not unpadded base64url')
    .refine((text) => text.length % 4 !== 1, 'not unpadded base64url');
}

/** `direct:<lower user id>:<higher user id>` or `group:<group id>`. */
export const ConversationId = z
  .string()
  .regex(/^(direct:[0-9a-f-]{36}:[0-9a-f-]{36}|group:[0-9a-f-]{36})$/)
  .meta({ id: 'ConversationId' });

/** The id of the direct conversation of two people: the same whoever asks. */
export function directConversationId(oneUserId: string, otherUserId: string): string {
  return oneUserId < otherUserId
    ? `direct:${oneUserId}:${otherUserId}`
    : `direct:${otherUserId}:${oneUserId}`;
}

export function groupConversationId(groupId: string): string {
  return `group:${groupId}`;
}

/** The group id of a group's conversation, or null for any other conversation id. */
export function groupOf(conversationId: string): string | null {
  return conversationId.startsWith('group:') ? conversationId.slice('group:'.length) : null;
}

/** The two user ids of a direct conversation, or null for any other conversation id. */
export function directParticipants(conversationId: string): [string, string] | null {
  const [kind, lower, higher] = conversationId.split(':');
  return kind === 'direct' && lower !== undefined && higher !== undefined ? [lower, higher] : null;
}
