/**
 * The payload inside an application message (PROTOCOL section 4): a chain header, and MIMI content or, between own devices and
 * from before there was that, typed JSON. Its message id is bound by the authenticated data of the MLS message, so it isn't
 * repeated inside. As a string a payload is the JSON as it came, or {@link MIMI} and the MIMI content in base64url.
 */

import { CryptoError } from '@sinetti/crypto-core';
import { TIMER_LIMITS } from '@sinetti/crypto-core/account';
import {
  type CborValue,
  type ChainHeader,
  DISPOSITION,
  decodeMimiContent,
  encodeMimiContent,
  type MimiContent,
  mimiMessageId,
  olderMessageId,
  splitChainHeader,
} from '@sinetti/crypto-core/content';
import { ConversationId } from '../api/arguments.ts';
import type { MessageContent, Words } from '../api/cryptoApi.ts';
import { CryptoApiError } from '../api/errors.ts';
import { fromBase64Url, toBase64Url } from '../codec/base64url.ts';
import { GuardFailure, object, oneOf, string } from '../codec/guards.ts';
import { limits } from '../codec/limits.ts';
import { filesBody, type OutgoingFile, readAttachments, type SealedAttachment } from './attachments.ts';
import type { OutboxRecord } from './records.ts';
import { isShownText, isTextType, readText, readWords, textPart } from './textPart.ts';

const VERSION = 1;
const MIMI = 'mimi:';
/** Extension of MIMI content: true in a message that somebody has passed on. It names neither author nor original. */
const FORWARDED = 'sinetti-forwarded';
/** Extension of a reaction among own devices: the conversation of the message that it stars, of which it is no reaction then. */
const STARRED = 'sinetti-starred';
/** One emoji as people see it: a flag, a keycap, or pictures with their tones and tags, joined. */
const EMOJI =
  /^(?:\p{Regional_Indicator}{2}|[0-9#*]\uFE0F?\u20E3|\p{Extended_Pictographic}(?:\uFE0F|\p{Emoji_Modifier})?(?:[\u{E0020}-\u{E007E}]{1,16}\u{E007F})?(?:\u200D\p{Extended_Pictographic}(?:\uFE0F|\p{Emoji_Modifier})?){0,8})$/u;

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

const Envelope = object({ v: (value): number => whole(value), type: string(64) });
const TextPayload = object({
  v: oneOf(VERSION),
  type: oneOf('text'),
  text: string(limits.text),
  sentAt: string(64),
});

/** A change of another message. Content ids are MIMI message ids in base64url. */
export type Change =
  | ({ readonly kind: 'edit'; readonly of: string; readonly expires?: number } & Words)
  /** Deletes a message, or takes a reaction back. */
  | { readonly kind: 'deletion'; readonly of: string }
  | {
      readonly kind: 'reaction';
      readonly of: string;
      readonly emoji: string;
      /** It is a star, which own devices tell each other: the conversation of the message. */
      readonly starredIn?: string;
    };

/** All that a payload says: a message, or a change of another one. */
export type Said =
  | {
      readonly kind: 'message';
      readonly content: MessageContent;
      readonly inReplyTo: string | null;
      /** Seconds after which it disappears, once it was read; as with an edit, absent where it stays. */
      readonly expires?: number;
      /** Its sender has passed it on. */
      readonly isForwarded?: true;
    }
  | Change;

/** The place of a message, which its content id is of. */
export interface MessagePlace {
  readonly conversationId: string;
  readonly senderId: string;
  readonly messageId: string;
}

/** All that a message to be encoded has beside its words and files. */
export interface Marks {
  /** Content id of what it answers. */
  readonly inReplyTo?: string | null;
  /** Seconds after which it disappears; 0 for never. */
  readonly timer?: number;
  /** It says that it was passed on. */
  readonly isForwarded?: boolean;
  /** The format of its text; null for the one that the text looks like. */
  readonly isMarkdown?: boolean | null;
}

/**
 * Encodes a text message. Lone surrogates become U+FFFD, since no UTF-8 exists for them.
 * @param salt 16 random octets
 * @throws CryptoApiError `usage` for an empty text, or one beyond 64 KiB of UTF-8
 */
export function encodeTextPayload(text: string, salt: Uint8Array, marks: Marks = {}): string {
  const body = textPart(text, marks.isMarkdown);
  return encodePayload({ ...contentOfMarks(marks), salt, body });
}

/**
 * Encodes a message with files.
 * @param text the caption; may be empty
 * @param salt 16 random octets
 * @throws CryptoApiError `usage` for more than the outbox keeps
 */
export function encodeFilesPayload(
  text: string,
  files: readonly OutgoingFile[],
  salt: Uint8Array,
  marks: Marks = {},
): string {
  const { body, extensions: measures } = filesBody(
    files,
    text === '' ? null : textPart(text, marks.isMarkdown),
  );
  const { extensions, ...content } = contentOfMarks(marks);
  const payload = encodePayload({
    ...content,
    salt,
    body,
    extensions: new Map([...extensions, ...measures]),
  });
  if (payload.length > limits.payload) throw new CryptoApiError('usage', 'length of a message with files');
  return payload;
}

function contentOfMarks({ inReplyTo = null, isForwarded = false, timer = 0 }: Marks) {
  return {
    expires: expirationOf(timer),
    inReplyTo: idBytes(inReplyTo),
    extensions: new Map<string, CborValue>(isForwarded ? [[FORWARDED, true]] : []),
  } satisfies Partial<MimiContent>;
}

/** Returns what opens the files of a payload, in their order; none for one that isn't shown as files. */
export function sealedFiles(payload: string): readonly SealedAttachment[] {
  if (payloadContent(payload).kind !== 'files') return [];
  return readAttachments(decodeMimiContent(payloadBytes(payload)))?.sealed ?? [];
}

/**
 * Encodes a change.
 * @param salt 16 random octets
 * @throws CryptoApiError `usage` as {@link encodeTextPayload}, and for anything but one emoji
 */
export function encodeChangePayload(change: Change, salt: Uint8Array): string {
  const of = idBytes(change.of);
  switch (change.kind) {
    case 'edit':
      return encodePayload({
        salt,
        expires: expirationOf(change.expires ?? 0),
        replaces: of,
        body: textPart(change.text),
      });
    case 'deletion':
      return encodePayload({
        salt,
        replaces: of,
        body: { kind: 'null', disposition: DISPOSITION.render, language: '' },
      });
    case 'reaction':
      if (!isEmoji(change.emoji)) throw new CryptoApiError('usage', 'emoji');
      return encodePayload({
        salt,
        inReplyTo: of,
        ...(change.starredIn === undefined ? {} : { extensions: new Map([[STARRED, change.starredIn]]) }),
        body: { ...textPart(change.emoji), disposition: DISPOSITION.reaction },
      });
    default:
      throw change satisfies never;
  }
}

function encodePayload(content: Pick<MimiContent, 'salt' | 'body'> & Partial<MimiContent>): string {
  return mimiPayload(
    encodeMimiContent({
      replaces: null,
      topicId: new Uint8Array(),
      expires: null,
      inReplyTo: null,
      extensions: new Map(),
      ...content,
    }),
  );
}

function expirationOf(timer: number): MimiContent['expires'] {
  return timer === 0 ? null : { relative: true, time: timer };
}

function idBytes(contentId: string | null): Uint8Array | null {
  return contentId === null ? null : fromBase64Url(contentId);
}

/** Returns whether a text is exactly one emoji. */
function isEmoji(text: string): boolean {
  return text.length <= limits.emoji && EMOJI.test(text);
}

/**
 * The content id of a message, by which others answer and change it, in base64url; null where its payload is none. One from
 * before MIMI content has the id of where it was sent.
 */
export function contentIdOf(
  payload: string,
  { conversationId, messageId, senderId }: MessagePlace,
): string | null {
  const room = `sinetti:room/${conversationId}`;
  if (!payload.startsWith(MIMI)) return toBase64Url(olderMessageId(room, messageId));
  const bytes = payloadBytes(payload);
  try {
    const { salt } = decodeMimiContent(bytes);
    return toBase64Url(mimiMessageId({ sender: `sinetti:user/${senderId}`, room }, bytes, salt));
  } catch (error) {
    if (error instanceof CryptoError) return null;
    throw error;
  }
}

/** Returns a payload as its message has it. A text from before MIMI content may begin like it, since its sender chose it. */
export function payloadBytes(payload: string): Uint8Array {
  const mimi = payload.startsWith(MIMI) ? fromBase64Url(payload.slice(MIMI.length)) : null;
  return mimi ?? encoder.encode(payload);
}

/**
 * Splits a decrypted message into its header, null without one, and its payload. What has a header of a later version is
 * kept whole, as a payload of an unknown type.
 * @throws CryptoError `malformed`
 */
export function readPlaintext(plaintext: Uint8Array): { header: ChainHeader | null; payload: string } {
  try {
    const { content, header } = splitChainHeader(plaintext);
    const payload = payloadOf(content);
    if (payload === null) throw new CryptoError('malformed', 'payload');
    return { header, payload };
  } catch (error) {
    if (!(error instanceof CryptoError && error.code === 'unsupported')) throw error;
    const bytes = toBase64Url(plaintext);
    const kept = bytes.length < limits.payload ? { bytes } : {};
    return { header: null, payload: JSON.stringify({ v: VERSION + 1, type: 'plaintext', ...kept }) };
  }
}

/** Returns the payload that a decrypted message has; null when it is neither MIMI content nor UTF-8. */
export function payloadOf(content: Uint8Array): string | null {
  const [first] = content;
  // CBOR's arrays begin as no text in UTF-8 does.
  if (first !== undefined && first >= 0x80 && first <= 0x9f) return mimiPayload(content);
  try {
    const payload = decoder.decode(content);
    return payload.startsWith(MIMI) ? null : payload;
  } catch {
    return null;
  }
}

function mimiPayload(content: Uint8Array): string {
  return `${MIMI}${toBase64Url(content)}`;
}

/**
 * Returns what a payload says. A version or type from the future is `unknown`; a payload that claims to be one of ours and
 * breaks its rules, or that is none at all, is damaged.
 */
export function readPayload(payload: string): Said {
  try {
    return payload.startsWith(MIMI)
      ? mimiContent(payloadBytes(payload))
      : { kind: 'message', content: jsonContent(payload), inReplyTo: null };
  } catch (error) {
    if (error instanceof CryptoError && error.code === 'unsupported') return unknown;
    if (error instanceof GuardFailure || error instanceof SyntaxError || error instanceof CryptoError) {
      return { kind: 'message', content: { kind: 'undecryptable', reason: 'damaged' }, inReplyTo: null };
    }
    throw error;
  }
}

/** Returns the content to show for what a payload says; a change has none. */
export function contentOf(said: Said): MessageContent {
  return said.kind === 'message' ? said.content : { kind: 'unknown' };
}

/** Returns the content to show for a payload of a message; a change is none. */
export function payloadContent(payload: string): MessageContent {
  return contentOf(readPayload(payload));
}

/** Returns the seconds after which what a payload says disappears; 0 for never. */
export function timerOf(said: Said | null): number {
  return (said !== null && 'expires' in said && said.expires) || 0;
}

/**
 * Returns the time at which an own message disappears, in milliseconds since the Unix epoch, by this device's clock alone: the
 * relay could have it go early, or stay, by the time that it says. Null for one that stays.
 * @param now in place of the acknowledgement, where the log is the first to have it
 */
export function ownEnd(
  { acceptedAt, payload }: Pick<OutboxRecord, 'acceptedAt' | 'payload'>,
  now: number,
): number | null {
  const timer = timerOf(readPayload(payload));
  return timer === 0 ? null : (acceptedAt ?? now) + timer * 1000;
}

/** Returns whether a payload is a text or files, as people send each other, a note among own devices, or a change of one. */
export function isForPeople(payload: string): boolean {
  const said = readPayload(payload);
  return said.kind !== 'message' || said.content.kind === 'text' || said.content.kind === 'files';
}

/** Returns whether two payloads say the same to people: each encoding has a salt of its own. */
export function saysTheSame(one: string, other: string): boolean {
  return (
    isForPeople(one) &&
    isForPeople(other) &&
    JSON.stringify(readPayload(one)) === JSON.stringify(readPayload(other))
  );
}

const unknown: Said = { kind: 'message', content: { kind: 'unknown' }, inReplyTo: null };

function mimiContent(bytes: Uint8Array): Said {
  const content = decodeMimiContent(bytes);
  const { body } = content;
  const expires = lifetime(content.expires);
  const [inReplyTo, replaces] = [content.inReplyTo, content.replaces].map((id) => id && toBase64Url(id));
  if (body.kind === 'null') return replaces ? { kind: 'deletion', of: replaces } : unknown;
  if (body.kind !== 'single') return replaces ? unknown : filesContent(content, inReplyTo ?? null);
  if (!isTextType(body.contentType)) return unknown;
  if (body.disposition === DISPOSITION.reaction && inReplyTo && !replaces) {
    const emoji = body.content.length > limits.emoji * 3 ? '' : readText(body.content);
    return isEmoji(emoji) ? { kind: 'reaction', of: inReplyTo, emoji, ...starring(content) } : unknown;
  }
  if (!isShownText(body)) return unknown;
  const words = readWords(body);
  if (replaces) return { kind: 'edit', of: replaces, ...words, ...expires };
  const marks = { ...expires, ...forwarding(content) };
  return { kind: 'message', content: { kind: 'text', ...words }, inReplyTo: inReplyTo ?? null, ...marks };
}

/** @throws GuardFailure for what is no conversation */
function starring({ extensions }: MimiContent): { starredIn?: string } {
  const value = extensions.get(STARRED);
  return value === undefined ? {} : { starredIn: ConversationId(value) };
}

/** @throws GuardFailure for a mark that says anything but yes: another word in it may name an author */
function forwarding({ extensions }: MimiContent): { isForwarded?: true } {
  const mark = extensions.get(FORWARDED);
  if (mark === undefined) return {};
  if (mark !== true) throw new GuardFailure('forwarded');
  return { isForwarded: true };
}

/**
 * Reads how long a message stays: no longer than the longest timer, whatever it says, and no shorter than the shortest.
 * @throws GuardFailure for no time at all, and for a moment, which nobody here has said and no clock of others' may decide
 */
function lifetime(expires: MimiContent['expires']): { expires?: number } {
  if (expires === null) return {};
  if (!expires.relative || expires.time === 0) throw new GuardFailure('expires');
  return { expires: Math.min(Math.max(expires.time, TIMER_LIMITS.least), TIMER_LIMITS.most) };
}

function filesContent(content: MimiContent, inReplyTo: string | null): Said {
  const attachments = readAttachments(content);
  if (attachments === null) return unknown;
  const { caption, files } = attachments;
  if (caption !== null && !isShownText(caption)) return unknown;
  const words = caption === null ? { text: '' } : readWords(caption);
  return {
    kind: 'message',
    content: { kind: 'files', ...words, files },
    inReplyTo,
    ...lifetime(content.expires),
    ...forwarding(content),
  };
}

function jsonContent(payload: string): MessageContent {
  const value: unknown = JSON.parse(payload);
  const { v, type } = Envelope(value);
  if (v !== VERSION || type !== 'text') return { kind: 'unknown' };
  return { kind: 'text', text: TextPayload(value).text };
}

function whole(value: unknown): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value > 0) return value;
  throw new GuardFailure('version');
}
