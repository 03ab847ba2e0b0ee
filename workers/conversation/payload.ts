/**
 * The payload inside an application message (PROTOCOL section 4): a chain header, and MIMI content or, between own devices and
 * from before there was that, typed JSON. Its message id is bound by the authenticated data of the MLS message, so it isn't
 * repeated inside. As a string a payload is the JSON as it came, or {@link MIMI} and the MIMI content in base64url.
 */

import { CryptoError } from '@sinetti/crypto-core';
import {
  type ChainHeader,
  DISPOSITION,
  decodeMimiContent,
  encodeMimiContent,
  type MimiContent,
  type SinglePart,
  splitChainHeader,
} from '@sinetti/crypto-core/content';
import type { MessageContent } from '../api/cryptoApi.ts';
import { CryptoApiError } from '../api/errors.ts';
import { fromBase64Url, toBase64Url } from '../codec/base64url.ts';
import { GuardFailure, object, oneOf, string } from '../codec/guards.ts';
import { limits } from '../codec/limits.ts';
import { filesBody, type OutgoingFile, readAttachments, type SealedAttachment } from './attachments.ts';

const VERSION = 1;
const MIMI = 'mimi:';
const PLAIN_TEXT = 'text/plain;charset=utf-8';

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

const Envelope = object({ v: (value): number => whole(value), type: string(64) });
const TextPayload = object({
  v: oneOf(VERSION),
  type: oneOf('text'),
  text: string(limits.text),
  sentAt: string(64),
});

/**
 * Encodes a text message. Lone surrogates become U+FFFD, since no UTF-8 exists for them.
 * @param salt 16 random octets
 * @throws CryptoApiError `usage` for an empty text, or one beyond 64 KiB of UTF-8
 */
export function encodeTextPayload(text: string, salt: Uint8Array): string {
  const content = encoder.encode(text);
  if (content.length === 0 || content.length > limits.text) throw new CryptoApiError('usage', 'text length');
  return mimiPayload(encodeMimiContent({ ...plainContent(salt), body: textPart(content) }));
}

/**
 * Encodes a message with files.
 * @param text the caption; may be empty
 * @param salt 16 random octets
 * @throws CryptoApiError `usage` for more than the outbox keeps
 */
export function encodeFilesPayload(text: string, files: readonly OutgoingFile[], salt: Uint8Array): string {
  const caption = text === '' ? null : textPart(encoder.encode(text));
  const payload = mimiPayload(encodeMimiContent({ ...plainContent(salt), ...filesBody(files, caption) }));
  if (payload.length > limits.payload) throw new CryptoApiError('usage', 'length of a message with files');
  return payload;
}

function plainContent(salt: Uint8Array): Omit<MimiContent, 'body'> {
  return {
    salt,
    replaces: null,
    topicId: new Uint8Array(),
    expires: null,
    inReplyTo: null,
    extensions: new Map(),
  };
}

function textPart(content: Uint8Array): SinglePart {
  return {
    kind: 'single',
    disposition: DISPOSITION.render,
    language: '',
    contentType: PLAIN_TEXT,
    content,
  };
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
 * Returns the content to show for a payload. A version or type from the future is `unknown`; a payload that
 * claims to be one of ours and breaks its rules, or that is none at all, is damaged.
 */
export function payloadContent(payload: string): MessageContent {
  try {
    return payload.startsWith(MIMI) ? mimiContent(payloadBytes(payload)) : jsonContent(payload);
  } catch (error) {
    if (error instanceof CryptoError && error.code === 'unsupported') return { kind: 'unknown' };
    if (error instanceof GuardFailure || error instanceof SyntaxError || error instanceof CryptoError) {
      return { kind: 'undecryptable', reason: 'damaged' };
    }
    throw error;
  }
}

/** Returns whether a payload is a text or files, as people send each other, and a note among own devices. */
export function isText(payload: string): boolean {
  const { kind } = payloadContent(payload);
  return kind === 'text' || kind === 'files';
}

/** Returns what opens the files of a payload, in their order; none for one that isn't shown as files. */
export function sealedFiles(payload: string): readonly SealedAttachment[] {
  if (payloadContent(payload).kind !== 'files') return [];
  return readAttachments(decodeMimiContent(payloadBytes(payload)))?.sealed ?? [];
}

/** Returns whether two payloads are the same text. */
export function saysTheSame(one: string, other: string): boolean {
  const [said, again] = [payloadContent(one), payloadContent(other)];
  return said.kind === 'text' && again.kind === 'text' && said.text === again.text;
}

function mimiContent(bytes: Uint8Array): MessageContent {
  const content = decodeMimiContent(bytes);
  if (!isPlainMessage(content)) return { kind: 'unknown' };
  const { body } = content;
  if (body.kind === 'single') {
    return isShownText(body) ? { kind: 'text', text: readText(body.content) } : { kind: 'unknown' };
  }
  const attachments = readAttachments(content);
  if (attachments === null) return { kind: 'unknown' };
  const { caption, files } = attachments;
  if (caption !== null && !isShownText(caption)) return { kind: 'unknown' };
  return { kind: 'files', text: caption === null ? '' : readText(caption.content), files };
}

function isShownText({ contentType, disposition }: SinglePart): boolean {
  const isShown = disposition === DISPOSITION.render || disposition === DISPOSITION.unspecified;
  return isShown && isTextType(contentType);
}

/** A message that changes another one, or is to disappear, would mean something else if it were shown for good. */
function isPlainMessage({ expires, replaces }: MimiContent): boolean {
  return expires === null && replaces === null;
}

/** Plain text, or Markdown, which is shown as it was written. Without a `charset` both are UTF-8 (draft, 7.1). */
function isTextType(contentType: string): boolean {
  const [essence, ...parameters] = contentType.split(';').map((part) => part.trim().toLowerCase());
  if (essence !== 'text/plain' && essence !== 'text/markdown') return false;
  return parameters.every(
    (parameter) => !parameter.startsWith('charset=') || /^charset="?utf-8"?$/.test(parameter),
  );
}

/** @throws GuardFailure for a text that nobody could have sent */
function readText(content: Uint8Array): string {
  if (content.length === 0 || content.length > limits.text) throw new GuardFailure('text length');
  try {
    return decoder.decode(content);
  } catch {
    throw new GuardFailure('UTF-8');
  }
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
