import * as z from 'zod/mini';

/** User, device, message, request and group ids: lower-case UUIDs. */
export const Id = z
  .uuid()
  .check(z.regex(/^[0-9a-f-]+$/))
  .register(z.globalRegistry, { id: 'Id', examples: ['0f8fad5b-d9cb-469f-a165-70867728950e'] });
export type Id = z.infer<typeof Id>;

/** RFC 3339 time in UTC with milliseconds. */
export const Timestamp = z.iso
  .datetime()
  .register(z.globalRegistry, { id: 'Timestamp', examples: ['2026-03-01T12:00:00.000Z'] });

/** A whole number, at least `minimum`. */
export function intFrom(minimum: number) {
  return z.int().check(z.minimum(minimum));
}

/** A whole number of a query string, which has text only. */
export const QueryInt = z.coerce.number().check(z.int());

/** Position in a conversation's log, from 1, without gaps. */
export const Seq = intFrom(0).register(z.globalRegistry, { id: 'Seq' });

/** MLS epoch. 2^53 epochs outlast any conversation, so a JSON number holds it. */
export const Epoch = intFrom(0).register(z.globalRegistry, { id: 'Epoch' });

/**
 * One typed line: refuses control characters, and halves of surrogate pairs, because databases refuse those.
 */
export function lineOfText(maxLength: number) {
  return z
    .string()
    .check(
      z.trim(),
      z.maxLength(maxLength),
      z.regex(/^[^\p{Cc}\p{Cs}]*$/u, 'may not hold control characters'),
    );
}

/**
 * Bytes as unpadded base64url (RFC 4648 section 5).
 * @param maxBytes the longest accepted byte string
 */
export function base64Url(maxBytes: number, minBytes = 1) {
  return z.string().check(
    z.minLength(Math.ceil((minBytes * 4) / 3)),
    z.maxLength(Math.ceil((maxBytes * 4) / 3)),
    z.regex(/^[A-Za-z0-9_-]*$/, 'not unpadded base64url'),
    z.refine((text) => text.length % 4 !== 1, 'not unpadded base64url'),
  );
}

/** The tag of a start of a device: 16 random bytes, in the one base64url text that they have. */
export const StartTag = z
  .string()
  .check(z.minLength(22), z.regex(/^[A-Za-z0-9_-]{21}[AQgw]$/, 'not the base64url of 16 bytes'))
  .register(z.globalRegistry, { id: 'StartTag', examples: ['c3RhcnQgb2YgZGV2aWNlIQ'] });

/** `direct:<lower user id>:<higher user id>`, `group:<group id>`, or `self:<user id>` for a person's own devices. */
export const ConversationId = z
  .string()
  .check(z.regex(/^(direct:[0-9a-f-]{36}:[0-9a-f-]{36}|(group|self):[0-9a-f-]{36})$/))
  .register(z.globalRegistry, { id: 'ConversationId' });

/** The id of the direct conversation of two people: the same whoever asks. */
export function directConversationId(oneUserId: string, otherUserId: string): string {
  return oneUserId < otherUserId
    ? `direct:${oneUserId}:${otherUserId}`
    : `direct:${otherUserId}:${oneUserId}`;
}

/** The id of the conversation of a person's own devices. */
export function selfConversationId(userId: string): string {
  return `self:${userId}`;
}

/** The person whose devices' conversation it is, or null for any other conversation id. */
export function selfOf(conversationId: string): string | null {
  return conversationId.startsWith('self:') ? conversationId.slice('self:'.length) : null;
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

/**
 * A body that is bytes, not JSON: application/octet-stream. Both sides take the body by this schema's identity, because a schema
 * that looks at bytes weighs more than all that the client does with them.
 */
export const Bytes = z.unknown() as z.ZodMiniType<Uint8Array<ArrayBuffer>>;

export const jsonType = 'application/json';
/** The media type of {@link Bytes}. */
export const bytesType = 'application/octet-stream';

/**
 * The media type of a body whose byte strings are bytes beside its JSON:
 *
 * ```
 * struct {
 *   opaque json<V>;   // UTF-8; in the place of each byte string it has the number of its part
 *   opaque part<V>;   // as many as there are, numbered from 0 in the order in which the JSON names them
 *   ...
 * } Parts;
 * ```
 */
export const partsType = 'application/vnd.sinetti.parts';

/** The media type of what a call takes or answers. */
export function mediaTypeOf(schema: z.ZodMiniType | undefined, parts: readonly string[] | undefined) {
  if (schema === Bytes) return bytesType;
  return parts === undefined ? jsonType : partsType;
}
