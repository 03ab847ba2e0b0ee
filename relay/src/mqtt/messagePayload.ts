import { isAscii } from 'node:buffer';
import { limits, type OutgoingMessage } from '../../contract/index.ts';

const idPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
/** Days that every month has. */
const timestampPattern =
  /^20\d\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/;
const startPattern = /^[A-Za-z0-9_-]{21}[AQgw]$/;
const base64UrlPattern = /^[A-Za-z0-9_-]+$/;
const maxContentLength = Math.ceil((limits.contentMax * 4) / 3);

/**
 * The payload of nearly every PUBLISH, read in a fraction of the time that the contract's schema takes.
 * @returns null for whatever is not plainly right: the schema decides on that. What is returned is what the schema
 *   would have returned.
 */
export function messageIn(payload: Uint8Array): OutgoingMessage | null {
  if (!isAscii(payload)) return null;
  const fields = fieldsOf(payload);
  const { type, messageId, senderId, recipientId, epoch, content, timestamp, start } = fields;
  const isMessage =
    type === 'message' &&
    isMatch(idPattern, messageId) &&
    isMatch(idPattern, senderId) &&
    isMatch(idPattern, recipientId) &&
    typeof epoch === 'number' &&
    Number.isSafeInteger(epoch) &&
    epoch >= 0 &&
    isMatch(base64UrlPattern, content) &&
    content.length <= maxContentLength &&
    content.length % 4 !== 1 &&
    isMatch(timestampPattern, timestamp);
  if (!isMessage) return null;
  const message = { type, messageId, senderId, recipientId, epoch, content, timestamp } as const;
  if (start === undefined) return message;
  return isMatch(startPattern, start) ? { ...message, start } : null;
}

type Fields = { readonly [Name in keyof OutgoingMessage]?: unknown };

function fieldsOf(payload: Uint8Array): Fields {
  try {
    const bytes = Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength);
    return (JSON.parse(bytes.toString('latin1')) as Fields | null) ?? {};
  } catch {
    return {};
  }
}

const isMatch = (pattern: RegExp, value: unknown): value is string =>
  typeof value === 'string' && pattern.test(value);
