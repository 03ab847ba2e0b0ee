/**
 * The payload inside an application message (PROTOCOL section 4): a chain header and versioned, typed JSON. Its message id
 * is bound by the authenticated data of the MLS message, so it isn't repeated inside.
 */

import { CryptoError } from '@sinetti/crypto-core';
import { type ChainHeader, splitChainHeader } from '@sinetti/crypto-core/content';
import type { MessageContent } from '../api/cryptoApi.ts';
import { CryptoApiError } from '../api/errors.ts';
import { toBase64Url } from '../codec/base64url.ts';
import { GuardFailure, object, oneOf, string } from '../codec/guards.ts';
import { limits } from '../codec/limits.ts';

const VERSION = 1;

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { fatal: true });
const lenientDecoder = new TextDecoder();

const Envelope = object({ v: (value): number => whole(value), type: string(64) });
const TextPayload = object({
  v: oneOf(VERSION),
  type: oneOf('text'),
  text: string(limits.text),
  sentAt: string(64),
});

/**
 * Encodes a text message. Lone surrogates become U+FFFD, since no UTF-8 exists for them.
 * @throws CryptoApiError `usage` for an empty text, or one beyond 64 KiB of UTF-8 or what fits a message
 */
export function encodeTextPayload(text: string, sentAt: string): string {
  const utf8 = encoder.encode(text);
  if (utf8.length === 0 || utf8.length > limits.text) throw new CryptoApiError('usage', 'text length');
  const payload = JSON.stringify({ v: VERSION, type: 'text', text: lenientDecoder.decode(utf8), sentAt });
  if (encoder.encode(payload).length > limits.payload) throw new CryptoApiError('usage', 'payload length');
  return payload;
}

export function payloadBytes(payload: string): Uint8Array {
  return encoder.encode(payload);
}

/**
 * Splits a decrypted message into its header, null without one, and its payload. What has a header of a later version is
 * kept whole, as a payload of an unknown type.
 * @throws CryptoError `malformed`
 */
export function readPlaintext(plaintext: Uint8Array): { header: ChainHeader | null; payload: string } {
  try {
    const { content, header } = splitChainHeader(plaintext);
    const payload = payloadText(content);
    if (payload === null) throw new CryptoError('malformed', 'payload');
    return { header, payload };
  } catch (error) {
    if (!(error instanceof CryptoError && error.code === 'unsupported')) throw error;
    const bytes = toBase64Url(plaintext);
    const kept = bytes.length < limits.payload ? { bytes } : {};
    return { header: null, payload: JSON.stringify({ v: VERSION + 1, type: 'plaintext', ...kept }) };
  }
}

/** Decodes a decrypted payload; null when it isn't UTF-8. */
export function payloadText(plaintext: Uint8Array): string | null {
  try {
    return decoder.decode(plaintext);
  } catch {
    return null;
  }
}

/**
 * Returns the content to show for a payload. A version or type from the future is `unknown`; a payload that
 * claims to be one of ours and breaks its rules, or that is none at all, is damaged.
 */
export function payloadContent(payload: string): MessageContent {
  try {
    const value: unknown = JSON.parse(payload);
    const { v, type } = Envelope(value);
    if (v !== VERSION || type !== 'text') return { kind: 'unknown' };
    return { kind: 'text', text: TextPayload(value).text };
  } catch (error) {
    if (error instanceof GuardFailure || error instanceof SyntaxError) {
      return { kind: 'undecryptable', reason: 'damaged' };
    }
    throw error;
  }
}

function whole(value: unknown): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value > 0) return value;
  throw new GuardFailure('version');
}
